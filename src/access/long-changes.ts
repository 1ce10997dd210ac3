import type { PrismaDb } from "../platform/database/db.ts";

class NeedsSlot extends Error {}

const neverLeaves = { hasLeft: () => false, onLeave: () => () => undefined };

/** Long work waits for one of a few slots, so that connections remain for all other work. Errors: unavailable. */
export async function inSlot<T>({ longWork }: PrismaDb, work: () => Promise<T>): Promise<T> {
  const leave = await longWork?.enter("", neverLeaves);
  try {
    return await work();
  } finally {
    leave?.();
  }
}

export async function inSlotIfLong<T>(db: PrismaDb, run: (foundLong: () => void) => Promise<T>): Promise<T> {
  try {
    return await run(() => {
      if (db.longWork !== undefined) throw new NeedsSlot();
    });
  } catch (error) {
    if (!(error instanceof NeedsSlot)) throw error;
    return inSlot(db, () => run(() => undefined));
  }
}
