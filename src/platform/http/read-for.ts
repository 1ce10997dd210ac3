import type pg from "pg";
import type { ReadShare } from "../database/shares.ts";
import { takeReader } from "../database/replica.ts";
import { backendOf, cancelStatement } from "../database/session.ts";
import { CallerLeft, type Caller } from "../concurrency/caller.ts";

/**
 * Reads on one connection for one caller. When they leave, the statement that runs is cancelled at the server.
 *
 * Errors: CallerLeft when they left before or meanwhile; whatever `work` throws.
 */
export async function readFor<T>(
  share: ReadShare,
  caller: Caller,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  if (caller.hasLeft()) throw new CallerLeft();
  const { client, canceller } = await takeReader(share);
  let cancelling: Promise<void> | undefined;
  let broken: Error | undefined;
  const off = caller.onLeave(() => {
    cancelling = cancelStatement(canceller, backendOf(client)!).catch((error: unknown) => {
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
