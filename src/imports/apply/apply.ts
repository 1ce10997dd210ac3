import type { SchoolId, PersonId } from "../../directory/index.ts";
import { recordAudit, type Origin } from "../../events/index.ts";
import { withPrismaTransaction, type PrismaDb, type Transaction } from "../../platform/database/db.ts";
import { analyze, analyzeSparse } from "../../platform/database/statistics.ts";
import { AppError } from "../../platform/errors.ts";
import { applyPart, type ApplyRules } from "./part.ts";
import { sumHolds } from "../difference/holds.ts";
import { getImport, makePart, type HoldCount, type ImportId, type ImportRecord } from "../state/record.ts";
import { renewLease, withLease, type Lease } from "../state/lease.ts";
import { compareAgain } from "../preview/compare.ts";
import type { OnProgress } from "../state/progress.ts";
import { directoryTables, p } from "../difference/tables.ts";
import { removeStaged } from "../formats/staging.ts";
import { checkEvent, getState, sendEvent, sendSchoolEvent } from "../state/states.ts";
import { makeFind, table, type Queryable } from "../../platform/database/sql.ts";

/** One transaction per school; applying again continues. Errors: conflict import_*. */
export async function applyImport(db: PrismaDb, id: ImportId, rules: Rules, origin: Origin): Promise<ImportRecord> {
  checkEvent("apply", { state: await getState(db, id) });
  await withLease(db, { id, event: "apply" }, origin, async (lease) => {
    const record = await getImport(db, id);
    checkEvent("apply", record);
    const waiting = record.schools.filter((school) => school.state !== "APPLIED").map((school) => school.id);
    const unfinished = await applyEach(db, { record, lease, schools: waiting }, rules, origin);
    // All homes exist after the first pass, so a second pass can finish these schools.
    const again = [...unfinished.keys()].filter((school) => waiting.includes(school));
    await applyEach(db, { record, lease, schools: again }, rules, origin);
    await nameEach(db, { record, lease }, rules, origin);
  });
  await removeStaged(db, id);
  return getImport(db, id);
}

/**
 * Confirms the reasons for which an import is held. A new reason holds it again.
 *
 * Shape:  `expected` are the numbers that somebody typed; without them all are confirmed.
 * Errors: not_found; conflict import_not_held, holds_not_confirmed.
 */
export async function confirmImport(db: PrismaDb, id: ImportId, origin: Origin, expected?: readonly HoldCount[]) {
  await withPrismaTransaction(db, async (tx) => {
    await sendEvent(tx, id, "confirm");
    const { schools } = await getImport(tx, id);
    if (expected !== undefined && !isSame(sumHolds(schools), expected)) throw otherNumbers();
    for (const { id: schoolId, state, counts, holds } of schools) {
      if (state !== "HELD") continue;
      const confirmed = Object.fromEntries(holds.map(({ reason, count }) => [reason, count]));
      await sendSchoolEvent(tx, { importId: id, schoolId }, "confirm", { confirmed });
      const removed = { people: counts.people.removed + counts.people.leftHome, groups: counts.groups.removed };
      const detail = { importId: id, removed, holds: holds.map(({ reason, count }) => ({ reason, count })) };
      await recordAudit(tx, { ...origin, action: "import_confirmed", schoolId, detail });
    }
  });
}

const isSame = (holds: readonly HoldCount[], typed: readonly HoldCount[]): boolean =>
  holds.length === typed.length &&
  holds.every(({ reason, count }) => typed.some((one) => one.reason === reason && one.count === count));

const otherNumbers = () =>
  new AppError(
    "conflict",
    "holds_not_confirmed",
    "The numbers of what is unusual are others. Look at the preview and type the numbers that it shows.",
  );

type Rules = ApplyRules & { onProgress?: OnProgress | undefined; giveUserNames: GiveUserNames };
type Application = { record: ImportRecord; lease: Lease; schools: readonly SchoolId[] };

async function applyEach(db: PrismaDb, { record, lease, schools }: Application, rules: Rules, origin: Origin) {
  const unfinished = new Map<SchoolId, number>();
  await analyzeSparse(db, directoryTables);
  for (const [index, schoolId] of schools.entries()) {
    rules.onProgress?.({ phase: "applying", done: index, total: schools.length });
    const movedAway = unfinished.get(schoolId) ?? 0;
    const part = { ...makePart(record, schoolId, origin.at), appliedBy: origin.actorId, movedAway, lease };
    const result = await applyPart(db, part, rules, origin).catch(async (error: unknown) => {
      // The school has changed since the preview, so the preview is made again to be looked at.
      if (error instanceof AppError && (error.code === "import_held" || error.code === "import_changed"))
        await compareAgain(db, record.id, { schoolId, holdShare: rules.holdShare, now: origin.at });
      throw error;
    });
    for (const { id: school, movedAway: moved } of result.unfinished)
      unfinished.set(school, (unfinished.get(school) ?? 0) + moved);
    if (isPowerOfTwo(index + 1)) await analyze(db.pool, directoryTables);
  }
  return unfinished;
}

/** Runs after all schools are applied, so that no school stays locked for user names. */
async function nameEach(
  db: PrismaDb,
  { record: { id: importId, schools }, lease }: Omit<Application, "schools">,
  { giveUserNames }: Rules,
  origin: Origin,
): Promise<void> {
  for (const { id: schoolId } of schools) {
    await withPrismaTransaction(db, (tx) => renewLease(tx, lease));
    const school = { schoolId, findRosterNames: (tx: Transaction) => findRosterNames(tx, { importId, schoolId }) };
    await giveUserNames(db, school, origin);
  }
}

// Autovacuum notices table growth only every minute; until then plans scan whole tables for every school.
const isPowerOfTwo = (number: number): boolean => (number & (number - 1)) === 0;

/** Gives user names to people of a school who have none; `findRosterNames` reads those of the files. */
export type GiveUserNames = (
  db: PrismaDb,
  school: { schoolId: SchoolId; findRosterNames: (tx: Transaction) => Promise<ReadonlyMap<PersonId, string>> },
  origin: Origin,
) => Promise<unknown>;

type SchoolImport = { importId: string; schoolId: SchoolId };

const s = table("stagedPerson", "s");

const selectNames = makeFind<{ personId: PersonId; username: string }, SchoolImport>()`
  SELECT ${p.id} AS "personId", ${s.username} AS username
  FROM ${s} JOIN ${p} ON ${p.homeSchoolId} = ${s.schoolId} AND ${p.sourceSystemIdentifier} = ${s.sourceId}
  WHERE ${s.importId} = ${"importId"} AND ${s.schoolId} = ${"schoolId"} AND ${s.username} <> '' AND NOT ${s.isDeleted}`;

async function findRosterNames(tx: Queryable, school: SchoolImport): Promise<Map<PersonId, string>> {
  return new Map((await selectNames(tx, school)).map(({ personId, username }) => [personId, username]));
}
