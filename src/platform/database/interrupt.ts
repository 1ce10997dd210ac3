import { setTimeout as sleep } from "node:timers/promises";
import { withPrismaTransaction, type PrismaDb, type Transaction } from "./db.ts";
import type { Queryable } from "./sql.ts";
import { cancelStatement, findBackend, type Backend } from "./session.ts";

export type Interrupt = { signal: AbortSignal; canceller: Queryable };

export type InterruptibleDb = PrismaDb & { interrupt?: Interrupt | undefined };

export async function withInterruptibleTransaction<T>(
  db: PrismaDb,
  interrupt: Interrupt | undefined,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  if (interrupt === undefined) return withPrismaTransaction(db, work);
  const { signal, canceller } = interrupt;
  signal.throwIfAborted();
  return withPrismaTransaction(db, async (tx) => {
    const ended = new AbortController();
    const backend = await findBackend(tx);
    let cancelling: Promise<void> | undefined;
    const abort = () => void (cancelling = cancelUntil(ended.signal, canceller, backend));
    signal.addEventListener("abort", abort, { once: true });
    try {
      signal.throwIfAborted();
      return await work(tx);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener("abort", abort);
      ended.abort();
      // Before the transaction ends: a late cancellation would hit its COMMIT or another statement.
      await cancelling;
    }
  });
}

const againMs = 100;

// Repeated, because between two statements there is nothing to cancel.
async function cancelUntil(ended: AbortSignal, canceller: Queryable, backend: Backend): Promise<void> {
  while (!ended.aborted) {
    await cancelStatement(canceller, backend).catch(() => undefined);
    await sleep(againMs, undefined, { signal: ended }).catch(() => undefined);
  }
}
