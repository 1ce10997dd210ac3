import type pg from "pg";
import type { ReadShare } from "../shares.ts";
import { CallerLeft, type Caller } from "./caller.ts";

/**
 * Reads on one connection for one caller. When they leave, the statement that runs is cancelled at the server.
 *
 * Errors: CallerLeft when they left before or meanwhile; whatever `work` throws.
 */
export async function readFor<T>(
  { pool, canceller }: ReadShare,
  caller: Caller,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  if (caller.hasLeft()) throw new CallerLeft();
  const client = await pool.connect();
  let cancelling: Promise<void> | undefined;
  let broken: Error | undefined;
  const off = caller.onLeave(() => {
    cancelling = cancel(canceller, client).catch((error: unknown) => {
      broken = error as Error;
      // The statement fails with its connection; without this the caller's place would wait for it.
      void client.end();
    });
  });
  try {
    if (caller.hasLeft()) throw new CallerLeft();
    return await work(client);
  } catch (error) {
    // What was open in a transaction ends with its connection.
    if (client.getTransactionStatus() !== "I") broken = error as Error;
    throw caller.hasLeft() ? new CallerLeft() : error;
  } finally {
    off();
    // Before the connection is another caller's: a cancellation that comes late would be for their statement.
    await cancelling;
    client.release(broken);
  }
}

type Server = { processID: number };

async function cancel(canceller: pg.Pool, client: pg.PoolClient): Promise<void> {
  await canceller.query("SELECT pg_cancel_backend($1)", [(client as unknown as Server).processID]);
}
