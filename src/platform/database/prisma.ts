import { AsyncLocalStorage } from "node:async_hooks";
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { PrismaClient, type Prisma } from "../../../generated/prisma/client.ts";

export type Records = Prisma.TransactionClient;

type Connected = { client?: pg.PoolClient };

const starting = new AsyncLocalStorage<Connected>();

export function makePrisma(pool: pg.Pool): PrismaClient {
  const noting = new Proxy(pool, {
    get(target, key) {
      if (key === "connect") return () => connect(target);
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
  const client = new PrismaClient({
    adapter: new PrismaPg(noting),
    transactionOptions: { maxWait: longMs, timeout: longMs },
  });
  const extended = client.$extends({
    query: {
      async $allOperations({ model, operation, args, query }) {
        try {
          return await readOnce({ model, operation, args }, async () => (await query(args)) as unknown);
        } catch (error) {
          throw asDatabaseError(error);
        }
      },
    },
  });
  return extended as unknown as PrismaClient;
}

// The server limits the time of transactions and statements.
const longMs = 86_400_000;

async function connect(pool: pg.Pool): Promise<Connection> {
  const client = await pool.connect();
  const slot = starting.getStore();
  if (slot !== undefined) slot.client = client;
  return removingBroken(client);
}

type Connection = Pick<pg.PoolClient, "on" | "removeListener" | "release"> & {
  query(config: pg.QueryConfig): Promise<pg.QueryResult>;
};

const standbyCode = "25006";

function removingBroken(client: pg.PoolClient): Connection {
  let broken: Error | undefined;
  return {
    on: client.on.bind(client) as pg.PoolClient["on"],
    removeListener: client.removeListener.bind(client),
    release: (error) => client.release(error ?? broken),
    async query(config) {
      try {
        return await client.query(config);
      } catch (error) {
        const isOver = error instanceof pg.DatabaseError && (error.severity === "FATAL" || error.code === standbyCode);
        if (!(error instanceof pg.DatabaseError) || isOver) broken = error as Error;
        throw error;
      }
    },
  };
}

export async function inPrismaTransaction<T>(
  prisma: PrismaClient,
  work: (records: Records, client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const slot: Connected = {};
  try {
    return await sharedReads.run(null, () =>
      starting.run(slot, () => prisma.$transaction((records) => work(records, slot.client!))),
    );
  } catch (error) {
    throw asDatabaseError(error);
  }
}

type DriverCause = {
  kind?: string;
  originalCode?: string;
  originalMessage?: string;
  constraint?: { index?: string };
};

const systemCodes: Readonly<Record<string, string>> = {
  DatabaseNotReachable: "ECONNREFUSED",
  ConnectionClosed: "ECONNRESET",
  SocketTimeout: "ETIMEDOUT",
};

/** Restores the error of PostgreSQL or the connection: Prisma's message may quote a row. */
function asDatabaseError(error: unknown): unknown {
  const { meta, cause } = error as { meta?: { driverAdapterError?: { cause?: DriverCause } }; cause?: DriverCause };
  const said =
    meta?.driverAdapterError?.cause ??
    (error instanceof Error && error.name === "DriverAdapterError" ? cause : undefined);
  if (said === undefined) return error;
  const { kind = "", originalCode: code, originalMessage: message, constraint } = said;
  const systemCode = systemCodes[kind];
  if (systemCode !== undefined) return Object.assign(new Error(`database connection: ${kind}`), { code: systemCode });
  if (message === undefined) return error;
  return Object.assign(new pg.DatabaseError(message, message.length, "error"), { code, constraint: constraint?.index });
}

export type SharedReads = Map<string, Promise<unknown>>;

/** The reads of the page being rendered; null in transactions. */
export const sharedReads = new AsyncLocalStorage<SharedReads | null>();

type PrismaCall = { model?: string | undefined; operation: string; args: unknown };

const isRead = /^(find|count|aggregate|groupBy)/;

function readOnce(params: PrismaCall, run: () => Promise<unknown>): Promise<unknown> {
  const shared = sharedReads.getStore();
  if (!shared || !isRead.test(params.operation)) return run();
  const key = JSON.stringify(params, (_name, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
  const read = shared.get(key) ?? run();
  shared.set(key, read);
  return read;
}
