import type { PrismaDb } from "../platform/database/db.ts";

/** The change has turned out to take long, and has no place for that. */
class TakesLong extends Error {
  constructor() {
    super("The change takes long and needs a place for that.");
    this.name = "TakesLong";
  }
}

const nobodyLeaves = { hasLeft: () => false, onLeave: () => () => undefined };

/**
 * Does work that may take long. It waits for one of the places that `db` has for such, which leave a connection to all
 * other work.
 *
 * Errors: unavailable where none is free in time.
 */
export async function inLongPlace<T>({ longWork }: PrismaDb, work: () => Promise<T>): Promise<T> {
  const leave = await longWork?.enter("", nobodyLeaves);
  try {
    return await work();
  } finally {
    leave?.();
  }
}

/**
 * Runs a transaction that only finds out on its way whether it takes long. Where it does, it is taken back, waits
 * without a connection and runs again from its start.
 *
 * Shape:  `run` calls `foundLong` before it does what takes long.
 * Errors: as `inLongPlace`.
 */
export async function inLongPlaceWhereNeeded<T>(db: PrismaDb, run: (foundLong: () => void) => Promise<T>): Promise<T> {
  try {
    return await run(() => {
      if (db.longWork !== undefined) throw new TakesLong();
    });
  } catch (error) {
    if (!(error instanceof TakesLong)) throw error;
    return inLongPlace(db, () => run(() => undefined));
  }
}
