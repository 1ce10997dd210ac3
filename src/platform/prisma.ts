import { AsyncLocalStorage } from "node:async_hooks";
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { PrismaClient, type Prisma } from "../../generated/prisma/client.ts";

/** Prisma Client, or Prisma Client within a transaction. */
export type Records = Prisma.TransactionClient;

type Connected = { client?: pg.PoolClient };

/** The connection that the transaction being started gets. */
const starting = new AsyncLocalStorage<Connected>();

/** Makes a Prisma Client on a pool. A refused statement throws the same `pg.DatabaseError` as named SQL. */
export function makePrisma(pool: pg.Pool): PrismaClient {
  const noting = new Proxy(pool, {
    get(target, key) {
      if (key === "connect") return () => connect(target);
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? (value as (...given: unknown[]) => unknown).bind(target) : value;
    },
  });
  const client = new PrismaClient({
    adapter: new PrismaPg(noting),
    transactionOptions: { maxWait: longMs, timeout: longMs },
  });
  const extended = client.$extends({
    query: {
      async $allOperations({ args, query }) {
        try {
          return (await query(args)) as unknown;
        } catch (error) {
          throw asDatabaseError(error);
        }
      },
    },
  });
  return extended as unknown as PrismaClient;
}

// How long a transaction and its statements may take is the server's to limit.
const longMs = 86_400_000;

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  const client = await pool.connect();
  const slot = starting.getStore();
  if (slot !== undefined) slot.client = client;
  return client;
}

/** Runs `work` in one transaction with Prisma Client and with the connection itself; whatever it throws rolls everything back. */
export async function inPrismaTransaction<T>(
  prisma: PrismaClient,
  work: (records: Records, client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const slot: Connected = {};
  try {
    return await starting.run(slot, () => prisma.$transaction((records) => work(records, slot.client!)));
  } catch (error) {
    throw asDatabaseError(error);
  }
}

type DriverCause = { originalCode?: string; originalMessage?: string; constraint?: { index?: string } };

/** What PostgreSQL said, in place of Prisma's words, which may quote a row. Any other error stays as it is. */
function asDatabaseError(error: unknown): unknown {
  const { meta, cause } = error as { meta?: { driverAdapterError?: { cause?: DriverCause } }; cause?: DriverCause };
  const said =
    meta?.driverAdapterError?.cause ??
    (error instanceof Error && error.name === "DriverAdapterError" ? cause : undefined);
  if (said?.originalMessage === undefined) return error;
  const { originalCode: code, originalMessage: message, constraint } = said;
  return Object.assign(new pg.DatabaseError(message, message.length, "error"), { code, constraint: constraint?.index });
}
