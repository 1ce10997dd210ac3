import type { Change } from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import { withPrismaTransaction, type PrismaDb } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeChangeTracking } from "./change-tracking/index.ts";
import { againAfterDeadlock, hasCode } from "./deadlock.ts";

/**
 * Runs `work` as one change: its writes commit together with the events for every app, or not at all.
 *
 * Shape:  changes of one school take turns. A change that met another in a deadlock is run again from the start, so
 *         `work` does nothing outside its transaction.
 * Errors: unavailable while another change of the school takes too long.
 */
export async function changeDirectory<T>(
  db: PrismaDb,
  origin: Origin,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  try {
    return await againAfterDeadlock(() => changeOnce(db, origin, work));
  } catch (error) {
    if (!hasCode(error, lockTimeout)) throw error;
    throw new AppError(
      "unavailable",
      "school_busy",
      "Another change of this school is under way. Try again later.",
      undefined,
      { cause: error },
    );
  }
}

const lockTimeout = "55P03";

function changeOnce<T>(db: PrismaDb, origin: Origin, work: (change: Change) => Promise<T>): Promise<T> {
  return withPrismaTransaction(db, async (tx) => {
    const { touch, touchSchool, finish } = makeChangeTracking(tx);
    const { at: now, actorId, requestId } = origin;
    const result = await work({ tx, now, actorId, requestId, touch, touchSchool });
    await finish(now);
    return result;
  });
}
