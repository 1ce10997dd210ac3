import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { PrismaClient } from "../../../generated/prisma/client.ts";
import type { Gate } from "../concurrency/gate.ts";
import { inPrismaTransaction, makePrisma, type Records } from "./prisma.ts";
import { prepareSession } from "./session.ts";
import { watchSilence, type SilenceLimits } from "./silent-connections.ts";
import { traceQueries } from "../telemetry/tracing/index.ts";
import { failUnconfirmedCommits } from "./unconfirmed-commits.ts";

/** What a module needs to work with the database: connections that it may take. */
export type Db = { pool: pg.Pool };

/** A database with what only its owner needs. Prisma and named SQL share the pool, so one limit holds for both. */
export type OpenDb = PrismaDb & { close(): Promise<void> };

/** A database whose records Prisma Client writes. */
export type PrismaDb = Db & {
  prisma: PrismaClient;
  /** Where others need a connection of the pool meanwhile: the places of work that takes long. */
  longWork?: Gate | undefined;
};

/** Prisma Client for what is persisted, and named SQL beside it: of one transaction, or of a pool. */
export type Store = Queryable & { prisma: Records };

/** One transaction: Prisma Client and named SQL on the same connection. */
export type Transaction = Store;

/** Where records are read and written: a database, or a transaction of it. */
export type RecordStore = Pick<Store, "prisma">;

/** Reads outside a transaction, each on any connection of the pool. */
export const storeOf = ({ pool, prisma }: PrismaDb): Store => ({
  prisma,
  query: pool.query.bind(pool) as Queryable["query"],
});

/** A pool, or the client of a running transaction. */
export type Queryable = Pick<pg.ClientBase, "query">;

export type DatabaseOptions = {
  url: string;
  poolSize?: number | undefined;
  /** SQL that every new connection runs first. */
  settings?: string | undefined;
  /** The server is a replica, and behind one address there may be several. */
  isReplica?: boolean | undefined;
  silence?: Partial<SilenceLimits> | undefined;
  /** Called with the error of a connection that broke while nobody used it; the pool replaces it by itself. */
  onConnectionError?: ((error: Error) => void) | undefined;
};

/**
 * Opens one pool, for commands and tests; the service opens shares. The first connection is made by the first query.
 *
 * Units:  poolSize in connections, 10 if not set.
 */
export function openDatabase(options: DatabaseOptions): OpenDb {
  const pool = makePool(options);
  const prisma = makePrisma(pool);
  return {
    pool,
    prisma,
    async close() {
      await closePool(pool, () => prisma.$disconnect());
    },
  };
}

/**
 * The pools of which the work under way has a transaction. Whoever asks one of them for a second connection may wait
 * for themselves; tests refuse it.
 */
export const poolsInTransaction = new AsyncLocalStorage<readonly pg.Pool[]>();

/** Runs `work` on one client between BEGIN and COMMIT; whatever it throws rolls everything back. */
export async function withTransaction<T>(db: Pick<Db, "pool">, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await db.pool.connect();
  let broken: Error | undefined;
  try {
    await client.query("BEGIN");
    const result = await poolsInTransaction.run([...(poolsInTransaction.getStore() ?? []), db.pool], () =>
      work(client),
    );
    await client.query("COMMIT");
    return result;
  } catch (error) {
    if (isDatabaseUnavailable(error)) broken = error as Error;
    else await client.query("ROLLBACK").catch((cause: unknown) => (broken = cause as Error));
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Runs `work` in one transaction of Prisma Client and named SQL; whatever it throws rolls everything back. */
export function withPrismaTransaction<T>(db: PrismaDb, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return inPrismaTransaction(db.prisma, (prisma, client) => {
    const query = client.query.bind(client) as Queryable["query"];
    return poolsInTransaction.run([...(poolsInTransaction.getStore() ?? []), db.pool], () => work({ prisma, query }));
  });
}

/** Whether a query failed because of the server (not reached, going away, disk full), not because of the query. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  // A file that is missing has the code of a socket that is missing.
  if (code === "ENOENT") return "syscall" in error && error.syscall === "connect";
  return unavailableCodes.test(code) || unavailableMessages.test(error.message);
}

/**
 * Whether the server ended a statement before it was done: its time or its wait for a lock was over, or somebody who
 * runs the server cancelled it. Nothing of it was written.
 */
export function isTimedOut(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === "57014" || error.code === "55P03");
}

/** Whether the server refused the statement, so that for certain nothing of it was written. */
export function isRefused(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !isDatabaseUnavailable(error);
}

// 25006: a primary that became a standby; 40001: a replica dropped what the statement was reading.
const unavailableCodes =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH|ETIMEDOUT|08...|25006|40001|53[0-3]00|57P0[1235])$/;
const unavailableMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

const idleWaitMs = { pause: 25, most: 2000 };

/** Closes a pool once nobody uses it any more, `before` the connections end. */
export async function closePool(pool: pg.Pool, before?: () => Promise<void>): Promise<void> {
  await waitUntilIdle(pool);
  await before?.();
  await pool.end();
}

// A request whose caller has left still asks its last questions; nobody waits for it elsewhere.
async function waitUntilIdle(pool: pg.Pool): Promise<void> {
  const isIdle = () => pool.idleCount === pool.totalCount && pool.waitingCount === 0;
  const end = performance.now() + idleWaitMs.most;
  for (let idle = 0; idle < 2 && performance.now() < end; idle = isIdle() ? idle + 1 : 0) await sleep(idleWaitMs.pause);
}

export function makePool(options: DatabaseOptions): pg.Pool {
  const watch = watchSilence(options);
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize ?? 10,
    application_name: "schultor",
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
    // eslint-disable-next-line @typescript-eslint/no-misused-promises -- the pool awaits it; its types do not know
    onConnect: async (client) => {
      watch(client);
      await prepareSession(client, options);
    },
  });
  traceQueries(pool);
  const report = options.onConnectionError ?? (() => undefined);
  pool.on("error", report);
  // A client in use reports a lost connection through its query as well; without a listener of its
  // own the same loss would end the process.
  pool.on("connect", (client) => {
    client.on("error", () => undefined);
    failUnconfirmedCommits(client);
  });
  return pool;
}
