import type { Change } from "../directory/index.ts";
import { listWrittenEvents, type Origin, type WrittenEvent } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { withInterruptibleTransaction, type InterruptibleDb } from "../platform/database/interrupt.ts";
import { makeChangeTracking } from "./change-tracking/index.ts";
import { againAfterDeadlock, hasCode } from "./deadlock.ts";
import { inLongPlaceWhereNeeded } from "./long-changes.ts";

/**
 * Runs `work` as one change: its writes commit together with the events for every app, or not at all.
 *
 * Shape:  changes of one school take turns. A change that met another in a deadlock, or that is about a whole school
 *         and has no place for that yet, is run again from the start, so `work` does nothing outside its transaction.
 *         `atEnd` runs after the events were written, before the commit.
 * Errors: unavailable while another change of the school takes too long, or too many changes of whole schools are
 *         under way.
 */
export async function changeDirectory<T>(
  db: InterruptibleDb,
  origin: Origin,
  work: (change: Change) => Promise<T>,
  atEnd?: AtEnd,
): Promise<T> {
  try {
    return await inLongPlaceWhereNeeded(db, (foundLong) =>
      againAfterDeadlock(() => changeOnce(db, origin, work, { foundLong, atEnd })),
    );
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

/** Carries what a change led to out of the transaction that is taken back. */
class TakenBack<T> extends Error {
  readonly found: T;
  constructor(found: T) {
    super("The change was only looked at.");
    this.found = found;
  }
}

/**
 * Runs `work` as one change, looks at what it led to, and takes all of it back.
 *
 * Shape:  `look` gets the transaction and what apps would be told.
 * Errors: those of the change.
 */
export async function previewChange<T>(
  db: InterruptibleDb,
  origin: Origin,
  work: (change: Change) => Promise<unknown>,
  look: (tx: Transaction, events: WrittenEvent[]) => Promise<T>,
): Promise<T> {
  try {
    await changeDirectory(db, origin, work, async (tx) => {
      throw new TakenBack(await look(tx, await listWrittenEvents(tx)));
    });
    throw new Error("A change that is only looked at was not taken back.");
  } catch (error) {
    if (error instanceof TakenBack) return (error as TakenBack<T>).found;
    throw error;
  }
}

type AtEnd = (tx: Transaction) => Promise<never>;

function changeOnce<T>(
  db: InterruptibleDb,
  origin: Origin,
  work: (change: Change) => Promise<T>,
  { foundLong, atEnd }: { foundLong: () => void; atEnd: AtEnd | undefined },
): Promise<T> {
  return withInterruptibleTransaction(db, db.interrupt, async (tx) => {
    const { touch, touchSchool: touchWhole, finish } = makeChangeTracking(tx);
    const { at: now, actorId, actorRole, requestId } = origin;
    const touchSchool: Change["touchSchool"] = async (schoolId, clientId) => {
      foundLong();
      await touchWhole(schoolId, clientId);
    };
    const result = await work({ tx, now, actorId, actorRole, requestId, touch, touchSchool });
    await finish(now);
    await atEnd?.(tx);
    return result;
  });
}
