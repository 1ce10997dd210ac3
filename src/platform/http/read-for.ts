import type pg from "pg";
import type { ReadShare } from "../database/shares.ts";
import { takeReader } from "../database/replica.ts";
import { backendOf, cancelStatement } from "../database/session.ts";
import { CallerLeft, type Caller } from "../concurrency/caller.ts";

/** Reads on one connection; cancels the running statement at the server when the caller leaves (CallerLeft). */
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
      // Ends the statement, for which the caller's place would otherwise wait.
      void client.end();
    });
  });
  try {
    if (caller.hasLeft()) throw new CallerLeft();
    return await work(client);
  } catch (error) {
    // A connection inside a transaction cannot be reused.
    if (client.getTransactionStatus() !== "I") broken = error as Error;
    throw caller.hasLeft() ? new CallerLeft() : error;
  } finally {
    off();
    // Before the connection is reused: a late cancellation would hit another caller's statement.
    await cancelling;
    client.release(broken);
  }
}
