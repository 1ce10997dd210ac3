import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { PrismaClient } from "../../../generated/prisma/client.ts";
import type { Gate } from "../concurrency/gate.ts";
import { inPrismaTransaction, makePrisma, type Records } from "./prisma.ts";
import { prepareSession } from "./session.ts";
import { watchSilence, type SilenceLimits, failUnconfirmedCommits } from "./watch-connections.ts";
import type { Queryable } from "./sql.ts";
import { traceQueries } from "../telemetry/tracing/index.ts";

export type Db = { pool: pg.Pool };

export type OpenDb = PrismaDb & { close(): Promise<void> };

export type PrismaDb = Db & {
  prisma: PrismaClient;
  /** Limits long work, so that short work finds a connection. */
  longWork?: Gate | undefined;
};

export type Store = Queryable & { prisma: Records };

export type Transaction = Store;

export type RecordStore = Pick<Store, "prisma">;

/** Reads outside a transaction, each on any connection of the pool. */
export const storeOf = ({ pool, prisma }: PrismaDb): Store => ({
  prisma,
  query: pool.query.bind(pool) as Queryable["query"],
});

export type DatabaseOptions = {
  url: string;
  poolSize?: number | undefined;
  settings?: string | undefined;
  isReplica?: boolean | undefined;
  silence?: Partial<SilenceLimits> | undefined;
  onConnectionError?: ((error: Error) => void) | undefined;
  /** Makes the client of the pool, where another is used than one of the pool's own. */
  openPrisma?: ((pool: pg.Pool) => OpenPrisma) | undefined;
};

export type OpenPrisma = { prisma: PrismaClient; close(): Promise<void> };

const openOwnPrisma = (pool: pg.Pool): OpenPrisma => {
  const prisma = makePrisma(pool);
  return { prisma, close: () => prisma.$disconnect() };
};

export function openDatabase(options: DatabaseOptions): OpenDb {
  const pool = makePool(options);
  let opened: OpenPrisma | undefined;
  return {
    pool,
    // On first use: few processes need the records of every share, and a client takes 60 ms and 5 MB.
    get prisma() {
      return (opened ??= (options.openPrisma ?? openOwnPrisma)(pool)).prisma;
    },
    async close() {
      await closePool(pool, async () => opened?.close());
    },
  };
}

/** The pools of the running transactions; a second connection of one may deadlock, so tests refuse it. */
export const poolsInTransaction = new AsyncLocalStorage<readonly pg.Pool[]>();

export async function withTransaction<T>(db: Db, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
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

export function withPrismaTransaction<T>(db: PrismaDb, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return inPrismaTransaction(db.prisma, (prisma, client) => {
    const query = client.query.bind(client) as Queryable["query"];
    return poolsInTransaction.run([...(poolsInTransaction.getStore() ?? []), db.pool], () => work({ prisma, query }));
  });
}

/** Whether the server failed (unreachable, shutting down, disk full), rather than the query. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  // A missing file has the same code as a missing socket.
  if (code === "ENOENT") return "syscall" in error && error.syscall === "connect";
  return unavailableCodes.test(code) || unavailableMessages.test(error.message);
}

export function isTimedOut(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === "57014" || error.code === "55P03");
}

/** Whether PostgreSQL refused the value itself: its text, range, length, or the nesting of its JSON. */
export const isUnstorable = (error: unknown): error is pg.DatabaseError =>
  error instanceof pg.DatabaseError && unstorableCodes.has(error.code ?? "");

const unstorableCodes = new Set("22001 22003 22007 22008 22021 22P02 22P05 54000 54001".split(" "));

/** Whether the server refused the statement, so that certainly nothing was written. */
export function isRefused(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !isDatabaseUnavailable(error);
}

// 25006: a primary that became a standby; 40001: a replica dropped what the statement was reading.
const unavailableCodes =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH|ETIMEDOUT|08...|25006|40001|53[0-3]00|57P0[1235])$/;
const unavailableMessages =
  /^(Connection terminated|timeout (expired|exceeded when trying to connect)|Client has encountered a connection error)/;

const idleWaitMs = { pause: 25, most: 2000 };

export async function closePool(pool: pg.Pool, before?: () => Promise<void>): Promise<void> {
  await waitUntilIdle(pool);
  await before?.();
  await pool.end();
}

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
  pool.on("error", options.onConnectionError ?? (() => undefined));
  // Without a listener, a connection lost while in use would end the process; its query reports the error.
  pool.on("connect", (client) => {
    client.on("error", () => undefined);
    failUnconfirmedCommits(client);
  });
  return pool;
}
