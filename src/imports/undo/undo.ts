import { changeDirectory, previewChange } from "../../access/index.ts";
import type { SchoolId } from "../../directory/index.ts";
import type { Origin, WrittenEvent } from "../../events/index.ts";
import { storeOf, type PrismaDb, type Store, type Transaction } from "../../platform/database/db.ts";
import { withInterruptibleTransaction, type InterruptibleDb } from "../../platform/database/interrupt.ts";
import { AppError } from "../../platform/errors.ts";
import { makeRun, table } from "../../platform/database/sql.ts";
import { changesNothing } from "../difference/counts.ts";
import { longWork } from "../difference/difference.ts";
import { chooseSchool } from "../preview/waiting.ts";
import { renewLease, withLease } from "../state/lease.ts";
import { getImport, type Counts, type ImportId, type ImportRecord, type ImportStatus } from "../state/record.ts";
import { checkEvent } from "../state/states.ts";
import { undoPart, type UndoSchool } from "./part.ts";
import { countUndo, listUndoEntries, planUndo, type UndoCounts, type UndoEntry } from "./plan.ts";

const theirs = table("importSchool", "theirs");
const ours = table("importSchool", "ours");

const countLater = makeRun<{ importId: string }>()`
  SELECT FROM ${ours} JOIN ${theirs} ON ${theirs.schoolId} = ${ours.schoolId} AND ${theirs.importId} <> ${"importId"}
  WHERE ${ours.importId} = ${"importId"} AND ${ours.state} = 'APPLIED' AND ${theirs.state} = 'APPLIED'
    AND ${theirs.undoUntil} IS NOT NULL
    AND (${theirs.appliedAt}, ${theirs.importId}) > (${ours.appliedAt}, ${ours.importId}) LIMIT 1`;

type Undoable = UndoSchool & { changedSubjects: number };

/**
 * Lists the schools where an import is not undone yet.
 *
 * Errors: conflict import_not_applied, import_undone, import_changed_nothing, import_undo_over, import_followed.
 */
async function listUndoable(db: Store, importId: ImportId, now: Date): Promise<Undoable[]> {
  const record = await getImport(db, importId);
  checkEvent("undo", record);
  const applied = await db.prisma.importSchool.findMany({ where: { importId, state: "APPLIED" } });
  // The last school was undone, and the program ended before the import was.
  if (applied.length === 0) return [];
  const changed = applied.filter(({ counts }) => !changesNothing(counts as Counts));
  if (changed.length === 0 && applied.every(({ undoUntil }) => undoUntil === null))
    throw conflict("import_changed_nothing", "The import changed nothing, so there is nothing to undo.");
  if (changed.some(({ undoUntil }) => undoUntil === null || undoUntil <= now))
    throw conflict("import_undo_over", "The time in which the import could be undone is over.");
  if ((await countLater(db, { importId })) > 0)
    throw conflict("import_followed", "A later import of the school has been applied. Undo that one first.");
  const schools = record.schools.map(({ id }) => id);
  return applied.map(({ schoolId, changedSubjects, appliedAt }) => ({
    importId,
    schoolId: schoolId as SchoolId,
    schools,
    changedSubjects: changedSubjects ?? 0,
    appliedAt: appliedAt!,
    now,
  }));
}

const conflict = (code: string, message: string) => new AppError("conflict", code, message);

async function findUndoable(db: PrismaDb, status: ImportStatus, school: SchoolId | undefined, now: Date) {
  const chosen = chooseSchool(status, school);
  const undoable = (await listUndoable(storeOf(db), status.id, now)).find(({ schoolId }) => schoolId === chosen);
  if (undoable === undefined) throw conflict("import_undone", "The import has been undone already.");
  return undoable;
}

const withPlan = <T>(db: InterruptibleDb, school: UndoSchool, read: (tx: Transaction) => Promise<T>): Promise<T> =>
  withInterruptibleTransaction(db, db.interrupt, async (tx) => {
    await tx.query(longWork);
    await planUndo(tx, school);
    return read(tx);
  });

type UndoPreview = Omit<UndoCounts, "recorded"> & { schoolId: SchoolId; deletedForGood: number };

/** Undoes an import at a school, passes the transaction and the events to `readChanged`, and rolls back. */
export async function previewUndo<T>(
  db: InterruptibleDb,
  status: ImportStatus,
  { schoolId, restoreWindowDays }: { schoolId: SchoolId | undefined; restoreWindowDays: number },
  origin: Origin,
  readChanged: (tx: Transaction, events: WrittenEvent[]) => Promise<T>,
): Promise<{ preview: UndoPreview; looked: T }> {
  const school = await findUndoable(db, status, schoolId, origin.at);
  let counts: UndoCounts | undefined;
  const looked = await previewChange(
    db,
    origin,
    async (change) => (counts = await undoPart(change, school, { restoreWindowDays }, origin)),
    readChanged,
  );
  const { recorded, ...counted } = counts!;
  const deletedForGood = Math.max(0, school.changedSubjects - recorded);
  return { preview: { ...counted, schoolId: school.schoolId, deletedForGood }, looked };
}

type Page = { schoolId: SchoolId | undefined; isKept: boolean; after?: [sortKey: string, id: string] | undefined };

/** Lists what undoing an import does to each person and group; with `isKept`, the people and groups that it leaves. */
export async function listUndo(
  db: InterruptibleDb,
  status: ImportStatus,
  { schoolId, isKept, after, limit, now }: Page & { limit: number; now: Date },
): Promise<UndoEntry[]> {
  const school = await findUndoable(db, status, schoolId, now);
  const page = { isKept, appliedAt: school.appliedAt, sortKey: after?.[0], after: after?.[1], limit };
  return withPlan(db, school, (tx) => listUndoEntries(tx, page));
}

export type KeptCounts = ReadonlyMap<SchoolId, number>;

/**
 * Counts at each school the people and groups that undoing leaves as they are.
 *
 * Errors: those of `listUndoable`; conflict undo_not_confirmed if `confirmed` is another number.
 */
export async function confirmUndo(
  db: InterruptibleDb,
  id: ImportId,
  { confirmed, now }: { confirmed: number | undefined; now: Date },
): Promise<KeptCounts> {
  const keptCounts = new Map<SchoolId, number>();
  for (const school of await listUndoable(storeOf(db), id, now))
    keptCounts.set(school.schoolId, sumKept(await withPlan(db, school, (tx) => countUndo(tx, {}))));
  const sum = [...keptCounts.values()].reduce((all, count) => all + count, 0);
  if (sum !== (confirmed ?? 0)) throw notConfirmed();
  return keptCounts;
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
  { kept, ...rules }: { kept: KeptCounts; restoreWindowDays: number },
  origin: Origin,
): Promise<ImportRecord> {
  await withLease(db, { id, event: "undo" }, origin, async (lease) => {
    for (const school of await listUndoable(storeOf(db), id, origin.at))
      await changeDirectory(db, origin, async (change) => {
        await renewLease(change.tx, lease);
        const counts = await undoPart(change, school, rules, origin);
        if (sumKept(counts) > (kept.get(school.schoolId) ?? 0)) throw notConfirmed();
      });
  });
  return getImport(db, id);
}
