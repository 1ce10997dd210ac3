import type pg from "pg";
import type { ReadShare } from "../shares.ts";
import { run, sql, statement } from "../sql.ts";
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

const cancelBackend = statement<{ processId: number }>(({ processId }) => sql`SELECT pg_cancel_backend(${processId})`);

async function cancel(canceller: pg.Pool, client: pg.PoolClient): Promise<void> {
  await run(canceller, cancelBackend, { processId: (client as unknown as Server).processID });
}
