import { changeDirectory, previewChange } from "../../access/index.ts";
import { findPeriods, type SchoolId } from "../../directory/index.ts";
import type { Origin, WrittenEvent } from "../../events/index.ts";
import { addDays } from "../../platform/clock.ts";
import { makeUuid } from "../../platform/crypto/ids.ts";
import {
  storeOf,
  withPrismaTransaction,
  type PrismaDb,
  type Store,
  type Transaction,
} from "../../platform/database/db.ts";
import { withInterruptibleTransaction, type InterruptibleDb } from "../../platform/database/interrupt.ts";
import { AppError } from "../../platform/errors.ts";
import { findRows, sql, statement, table } from "../../platform/database/sql.ts";
import { changesNothing } from "../difference/counts.ts";
import { getImport, type Counts, type ImportStatus, type ImportId, type ImportRecord } from "../state/record.ts";
import { longWork } from "../difference/difference.ts";
import { endLease, renewLease, takeLease, type Lease } from "../state/lease.ts";
import { chooseSchool } from "../preview/waiting.ts";
import { checkEvent, getState, sendEvent } from "../state/states.ts";
import { undoPart, type UndoSchool } from "./part.ts";
import { countUndo, listUndoEntries, planUndo, type UndoCounts, type UndoEntry } from "./plan.ts";

const theirs = table("importSchool", "theirs");
const ours = table("importSchool", "ours");

const findLater = statement<{ importId: string }>(
  ({ importId }) => sql`
  SELECT FROM ${ours} JOIN ${theirs} ON ${theirs.schoolId} = ${ours.schoolId} AND ${theirs.importId} <> ${importId}
  WHERE ${ours.importId} = ${importId} AND ${ours.state} = 'APPLIED' AND ${theirs.state} = 'APPLIED'
    AND ${theirs.undoUntil} IS NOT NULL
    AND (${theirs.appliedAt}, ${theirs.importId}) > (${ours.appliedAt}, ${ours.importId}) LIMIT 1`,
);

type Undoable = { schoolId: SchoolId; changed: number; appliedAt: Date };

/**
 * Lists the schools where an import is not undone yet.
 *
 * Errors: conflict import_not_applied, import_undone, import_changed_nothing, import_undo_over, import_followed.
 */
async function listUndoable(db: Store, importId: ImportId, now: Date): Promise<Undoable[]> {
  checkEvent("undo", { state: await getState(db, importId) });
  const schools = await db.prisma.importSchool.findMany({ where: { importId, state: "APPLIED" } });
  // The last school was undone, and the program ended before the import was.
  if (schools.length === 0) return [];
  const changed = schools.filter(({ counts }) => !changesNothing(counts as Counts));
  if (changed.length === 0 && schools.every(({ undoUntil }) => undoUntil === null))
    throw conflict("import_changed_nothing", "The import changed nothing, so there is nothing to undo.");
  if (changed.some(({ undoUntil }) => undoUntil === null || undoUntil <= now))
    throw conflict("import_undo_over", "The time in which the import could be undone is over.");
  if ((await findRows(db, findLater, { importId })).length > 0)
    throw conflict("import_followed", "A later import of the school has been applied. Undo that one first.");
  return schools.map(({ schoolId, changedSubjects, appliedAt }) => ({
    schoolId: schoolId as SchoolId,
    changed: changedSubjects ?? 0,
    appliedAt: appliedAt!,
  }));
}

const conflict = (code: string, message: string) => new AppError("conflict", code, message);

async function makeUndoSchool(
  db: Store,
  { id, schools }: ImportRecord,
  { schoolId, appliedAt }: Undoable,
  { now, ...rules }: Rules,
): Promise<UndoSchool> {
  const purgeAt = addDays(now, (await findPeriods(db, schoolId, rules)).restoreDays);
  return { importId: id, schoolId, schools: schools.map((school) => school.id), now, purgeAt, appliedAt };
}

type Rules = { now: Date; restoreWindowDays: number };

async function findOne(db: PrismaDb, status: ImportStatus, school: SchoolId | undefined, rules: Rules) {
  const chosen = chooseSchool(status, school);
  const undoable = (await listUndoable(storeOf(db), status.id, rules.now)).find(({ schoolId }) => schoolId === chosen);
  if (undoable === undefined) throw conflict("import_undone", "The import has been undone already.");
  return { undoable, part: await makeUndoSchool(storeOf(db), await getImport(db, status.id), undoable, rules) };
}

const plan = <T>(db: InterruptibleDb, part: UndoSchool, read: (tx: Transaction) => Promise<T>): Promise<T> =>
  withInterruptibleTransaction(db, db.interrupt, async (tx) => {
    await tx.query(longWork);
    await planUndo(tx, part);
    return read(tx);
  });

export type UndoPreview = Omit<UndoCounts, "recorded"> & { schoolId: SchoolId; deletedForGood: number };

/** Undoes an import at a school, passes the transaction and the events to `look`, and rolls back. */
export async function previewUndo<T>(
  db: InterruptibleDb,
  status: ImportStatus,
  { schoolId, restoreWindowDays }: { schoolId: SchoolId | undefined; restoreWindowDays: number },
  origin: Origin,
  look: (tx: Transaction, events: WrittenEvent[]) => Promise<T>,
): Promise<{ preview: UndoPreview; looked: T }> {
  const { undoable, part } = await findOne(db, status, schoolId, { now: origin.at, restoreWindowDays });
  let counts: UndoCounts | undefined;
  const undo = async (change: Parameters<typeof undoPart>[0]) => (counts = await undoPart(change, part, origin));
  const looked = await previewChange(db, origin, undo, look);
  const { recorded, ...shown } = counts!;
  const deletedForGood = Math.max(0, undoable.changed - recorded);
  return { preview: { ...shown, schoolId: part.schoolId, deletedForGood }, looked };
}

type Page = { schoolId: SchoolId | undefined; isKept: boolean; after?: [sortKey: string, id: string] | undefined };

/** What undoing an import does to each person and group, or with `isKept` those that stay as they are. */
export async function listUndo(
  db: InterruptibleDb,
  status: ImportStatus,
  { schoolId, isKept, after, limit, now }: Page & { limit: number; now: Date },
): Promise<UndoEntry[]> {
  const { undoable, part } = await findOne(db, status, schoolId, { now, restoreWindowDays: 0 });
  const page = { isKept, appliedAt: undoable.appliedAt, sortKey: after?.[0], after: after?.[1], limit };
  return plan(db, part, (tx) => listUndoEntries(tx, page));
}

export type KeptCounts = ReadonlyMap<SchoolId, number>;

/**
 * Counts what stays as it is at each school. Errors: those of `listUndoable`; conflict undo_not_confirmed if their
 * number is not the one that was confirmed.
 */
export async function confirmUndo(
  db: InterruptibleDb,
  id: ImportId,
  { confirmed, now }: { confirmed: number | undefined; now: Date },
): Promise<KeptCounts> {
  const record = await getImport(db, id);
  const kept = new Map<SchoolId, number>();
  for (const undoable of await listUndoable(storeOf(db), id, now)) {
    const part = await makeUndoSchool(storeOf(db), record, undoable, { now, restoreWindowDays: 0 });
    kept.set(undoable.schoolId, sumKept(await plan(db, part, (tx) => countUndo(tx, {}))));
  }
  const sum = [...kept.values()].reduce((all, count) => all + count, 0);
  if (sum !== (confirmed ?? 0)) throw notConfirmed();
  return kept;
}

const sumKept = ({ kept }: UndoCounts): number => kept.people + kept.groups;

const notConfirmed = () =>
  conflict(
    "undo_not_confirmed",
    "The number of people and groups that cannot be undone is another one. Look at the list of them and confirm it.",
  );

/** One transaction per school; undoing again continues. Errors: as `confirmUndo`; conflict import_running. */
export async function undoImport(
  db: PrismaDb,
  id: ImportId,
  { kept, restoreWindowDays }: { kept: KeptCounts; restoreWindowDays: number },
  origin: Origin,
): Promise<ImportRecord> {
  const lease: Lease = { importId: id, holder: makeUuid(origin.at) };
  await takeLease(db, lease);
  try {
    const record = await getImport(db, id);
    for (const undoable of await listUndoable(storeOf(db), id, origin.at)) {
      const rules = { now: origin.at, restoreWindowDays };
      const part = await makeUndoSchool(storeOf(db), record, undoable, rules);
      await changeDirectory(db, origin, async (change) => {
        await renewLease(change.tx, lease);
        const counts = await undoPart(change, part, origin);
        if (sumKept(counts) > (kept.get(part.schoolId) ?? 0)) throw notConfirmed();
      });
    }
    await withPrismaTransaction(db, async (tx) => {
      await renewLease(tx, lease);
      await sendEvent(tx, id, "undo", { undoneAt: origin.at });
    });
  } finally {
    // Ignored if the database is unavailable: the lease expires, and the original error is thrown.
    await endLease(db.pool, lease).catch(() => undefined);
  }
  return getImport(db, id);
}
