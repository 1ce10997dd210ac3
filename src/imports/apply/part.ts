import { changeDirectory, previewChange } from "../../access/index.ts";
import { findPeriods, type Change, type PersonId, type SchoolId } from "../../directory/index.ts";
import { recordAudit, type Origin, type WrittenEvent } from "../../events/index.ts";
import type { PrismaDb, Transaction } from "../../platform/database/db.ts";
import { addDays } from "../../platform/clock.ts";
import { AppError } from "../../platform/errors.ts";
import { findRows, run, statement } from "../../platform/database/sql.ts";
import { recordCarryOvers, shareSourceIds, writeDifference } from "./steps.ts";
import { recordChanges } from "./change-record.ts";
import { changesNothing, countDifference, describeDifference } from "../difference/counts.ts";
import { getImport, makePart, type Counts, type SchoolPart, type ImportStatus } from "../state/record.ts";
import { findDifference } from "../difference/difference.ts";
import { findHolds, notConfirmed, type Confirmed } from "../difference/holds.ts";
import { renewLease, type Lease } from "../state/lease.ts";
import { recordPersonImports } from "./of-person.ts";
import { sendSchoolEvent, checkEvent } from "../state/states.ts";
import { a, planned } from "../difference/tables.ts";
import type { InterruptibleDb } from "../../platform/database/interrupt.ts";
import { chooseSchool } from "../preview/waiting.ts";

/** Units: holdShare from 0 to 1; days and months are those of schools without periods of their own. */
export type ApplyRules = {
  holdShare: number;
  restoreWindowDays: number;
  leftMonths?: number;
  /** Last in the transaction of each school; what it throws rolls the school back. */
  beforeCommit?: (tx: Transaction) => Promise<void>;
};

/** A school to apply again: a person's home was missing, people moved away, or a guest's home has moved. */
type Unfinished = { id: SchoolId; movedAway: number };

/**
 * People moved away by other parts still count for the hold.
 *
 * Errors: conflict import_held, import_changed, import_running.
 */
export async function applyPart(
  db: PrismaDb,
  part: SchoolPart & { movedAway: number; lease: Lease },
  rules: ApplyRules,
  origin: Origin,
): Promise<{ counts: Counts; unfinished: Unfinished[] }> {
  return changeDirectory(db, origin, async (change) => {
    await renewLease(change.tx, part.lease);
    const result = await changePart(change, part, rules, origin);
    await rules.beforeCommit?.(change.tx);
    return result;
  });
}

async function changePart(
  change: Change,
  part: SchoolPart & { movedAway: number },
  rules: ApplyRules,
  origin: Origin,
): Promise<{ counts: Counts; unfinished: Unfinished[] }> {
  const { tx } = change;
  await change.touchSchool(part.schoolId);
  await findDifference(tx, part);
  if (await touchOthers(change, part.schoolId)) await findDifference(tx, part);
  const counts = await countDifference(tx, part);
  counts.before.people += part.movedAway;
  const holds = await findHolds(tx, part, counts, rules.holdShare);
  const { importId, schoolId } = part;
  const school = await tx.prisma.importSchool.findUnique({ where: { importId_schoolId: { importId, schoolId } } });
  if (notConfirmed(holds, (school?.confirmed ?? {}) as Confirmed).length > 0) throw held();
  // The second pass over a school continues what the first one began.
  const isFirstPass = school?.state !== "APPLIED";
  const compared = isFirstPass && part.isShown !== true ? (school?.difference ?? null) : null;
  if (compared !== null && compared !== (await describeDifference(tx, part))) throw outdated();
  const unfinished = await findRows<Unfinished, { schoolId: SchoolId }>(tx, findUnfinished, part);
  const isUnchanged = changesNothing(counts);
  const { restoreDays, leftMonths } = await findPeriods(tx, part.schoolId, rules);
  const values = { ...part, purgeAt: addDays(part.now, restoreDays), keepsLeavers: leftMonths > 0 };
  if (!isUnchanged) await run(tx, recordPersonImports, part);
  const write = () => writeDifference(tx, values, counts);
  const changed = isUnchanged ? 0 : await recordChanges(tx, values, write);
  await run(tx, recordCarryOvers, part);
  if (part.schools.length > 1) await run(tx, shareSourceIds, part);
  await sendSchoolEvent(tx, part, "apply", {
    appliedAt: part.now,
    ...(isFirstPass && { counts }),
    ...(changed > 0 && { changedSubjects: changed, undoUntil: values.purgeAt }),
  });
  if (!isUnchanged)
    await recordAudit(tx, { ...origin, action: "import_applied", schoolId, detail: { importId, ...counts } });
  return { counts, unfinished };
}

const outdated = () =>
  new AppError(
    "conflict",
    "import_changed",
    "The school has changed since the preview, so the import would do something else. Look at its new preview.",
  );

const held = () =>
  new AppError(
    "conflict",
    "import_held",
    "The import would change something unusual at a school. Look at its preview and confirm it.",
  );

const findOthers = statement<{ schoolId: SchoolId }>()`
  SELECT ${planned.id} FROM ${planned} WHERE ${planned.id} IS NOT NULL AND ${planned.change} IS DISTINCT FROM 'created'
    AND (${planned.joins} OR ${planned.leftHome} IS NOT NULL OR ${planned.change} IS NOT NULL AND NOT EXISTS (
      SELECT FROM ${a} WHERE ${a.personId} = ${planned.id} AND ${a.schoolId} = ${"schoolId"}))`;

/** Touches people whom apps know through other schools. Returns whether there are any. */
async function touchOthers(change: Change, schoolId: SchoolId): Promise<boolean> {
  const people = await findRows<{ id: PersonId }, { schoolId: SchoolId }>(change.tx, findOthers, { schoolId });
  if (people.length > 0) await change.touch({ people: people.map(({ id }) => id) });
  return people.length > 0;
}

const findUnfinished = statement<{ schoolId: SchoolId }>()`
  SELECT ${planned.leftHome} AS id, (count(*) FILTER (WHERE ${planned.change} = 'changed'))::int AS "movedAway"
  FROM ${planned} WHERE ${planned.leftHome} IS NOT NULL GROUP BY ${planned.leftHome}
  UNION ALL SELECT DISTINCT ${a.schoolId}, 0 FROM ${planned} JOIN ${a} ON ${a.personId} = ${planned.id}
    WHERE ${planned.leftHome} IS NOT NULL AND ${a.schoolId} NOT IN (${"schoolId"}, ${planned.leftHome})
  UNION ALL SELECT ${"schoolId"}::uuid, 0 WHERE EXISTS (SELECT FROM ${planned} WHERE ${planned.joins}
    AND ${planned.id} IS NULL)`;

/** Applies an import, also a held one, to a school, passes transaction and events to `readChanged`, and rolls back. */
export async function lookAhead<T>(
  db: InterruptibleDb,
  status: ImportStatus,
  { schoolId: requested, ...periods }: Omit<ApplyRules, "holdShare"> & { schoolId: SchoolId | undefined },
  origin: Origin,
  readChanged: (tx: Transaction, events: WrittenEvent[]) => Promise<T>,
): Promise<T> {
  const schoolId = chooseSchool(status, requested);
  checkEvent("compare", status);
  const part = { ...makePart(await getImport(db, status.id), schoolId, origin.at), movedAway: 0, isShown: true };
  const rules = { holdShare: Infinity, ...periods };
  return previewChange(db, origin, (change) => changePart(change, part, rules, origin), readChanged);
}
