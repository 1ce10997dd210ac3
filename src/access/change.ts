import type { Change } from "../directory/index.ts";
import { listWrittenEvents, type Origin, type WrittenEvent } from "../events/index.ts";
import type { PrismaDb, Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { withInterruptibleTransaction, type InterruptibleDb } from "../platform/database/interrupt.ts";
import { makeChangeTracking } from "./change-tracking/index.ts";

/**
 * Runs `work` as one change: its writes and the events for every app commit together. Changes of a school take turns.
 * `work` must have no effect outside its transaction: a change is run again after a deadlock, or when it turns out to
 * affect a whole school and must wait for a slot. `atEnd` runs after the events are written.
 *
 * Errors: unavailable school_busy, or too many large changes.
 */
export async function changeDirectory<T>(
  db: InterruptibleDb,
  origin: Origin,
  work: (change: Change) => Promise<T>,
  atEnd?: AtEnd,
): Promise<T> {
  try {
    return await inSlotIfLong(db, (foundLong) =>
      againAfterDeadlock(() => changeOnce(db, origin, work, { foundLong, atEnd })),
    );
  } catch (error) {
    if (!hasCode(error, lockTimeout)) throw error;
    const message = "Another change of this school is under way. Try again later.";
    throw new AppError("unavailable", "school_busy", message, undefined, { cause: error });
  }
}

const lockTimeout = "55P03";

class RolledBack<T> extends Error {
  readonly result: T;
  constructor(result: T) {
    super("The preview was rolled back.");
    this.result = result;
  }
}

/** Runs `work`, passes its transaction and events to `readChanged`, and rolls it back. */
export async function previewChange<T>(
  db: InterruptibleDb,
  origin: Origin,
  work: (change: Change) => Promise<unknown>,
  readChanged: (tx: Transaction, events: WrittenEvent[]) => Promise<T>,
): Promise<T> {
  try {
    await changeDirectory(db, origin, work, async (tx) => {
      throw new RolledBack(await readChanged(tx, await listWrittenEvents(tx, {})));
    });
    throw new Error("A preview was not rolled back.");
  } catch (error) {
    if (error instanceof RolledBack) return (error as RolledBack<T>).result;
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

async function inSlotIfLong<T>(db: PrismaDb, run: (foundLong: () => void) => Promise<T>): Promise<T> {
  try {
    return await run(() => {
      if (db.longWork !== undefined) throw new NeedsSlot();
    });
  } catch (error) {
    if (!(error instanceof NeedsSlot)) throw error;
    return inSlot(db, () => run(() => undefined));
  }
}

export const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;

export async function againAfterDeadlock<T>(run: () => Promise<T>, attempts = 3): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!hasCode(error, "40P01") || attempt >= attempts) throw error;
    }
  }
}
