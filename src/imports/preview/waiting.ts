import { setGroupSourceId, type SchoolId, type GroupId } from "../../directory/index.ts";
import { withPrismaTransaction, type Transaction, type PrismaDb } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { withInterruptibleTransaction, type InterruptibleDb } from "../../platform/database/interrupt.ts";
import { findDifference } from "../difference/difference.ts";
import { getImport, makePart, type ImportStatus } from "../state/record.ts";
import { checkEvent, getState, sendEvent } from "../state/states.ts";
import { holdImport } from "../state/lease.ts";
import { compareAgain, compareImport, nameSchools, setMoves } from "./compare.ts";
import { carryOversUnknown } from "./read-import.ts";
import { changeDirectory } from "../../access/index.ts";
import { recordDifference, recordAudit, type Origin } from "../../events/index.ts";
import { listLookAlikes } from "../difference/look-alikes.ts";
import { makeRun, sql, table, update } from "../../platform/database/sql.ts";

/** Errors: conflict unless the import waits; not_found school_not_found; invalid school_missing. */
export async function withDifference<T>(
  db: InterruptibleDb,
  status: ImportStatus,
  { schoolId, now }: { schoolId?: SchoolId | undefined; now: Date },
  work: (tx: Transaction, schoolId: SchoolId) => Promise<T>,
): Promise<T> {
  const school = chooseSchool(status, schoolId);
  checkEvent("compare", status);
  const record = await getImport(db, status.id);
  return withInterruptibleTransaction(db, db.interrupt, async (tx) => {
    await findDifference(tx, { ...makePart(record, school, now), isShown: true });
    return work(tx, school);
  });
}

export function chooseSchool({ namedSchoolIds }: ImportStatus, schoolId: SchoolId | undefined): SchoolId {
  const [only, ...others] = namedSchoolIds;
  if (schoolId === undefined && only !== undefined && others.length === 0) return only;
  if (schoolId === undefined)
    throw new AppError("invalid", "school_missing", "The import is not of one school: name the one that is meant.");
  if (!namedSchoolIds.includes(schoolId))
    throw new AppError("not_found", "school_not_found", "The school does not exist.");
  return schoolId;
}

type Request = { schoolId: SchoolId | undefined; holdShare: number };

/** Does some work at a school of a waiting import, and makes its numbers anew. Errors: those of `withDifference`. */
async function changeWaiting(
  db: PrismaDb,
  status: ImportStatus,
  { schoolId: requested, holdShare, now }: Request & { now: Date },
  work: (schoolId: SchoolId) => Promise<void>,
): Promise<void> {
  const schoolId = chooseSchool(status, requested);
  checkEvent("compare", status);
  await work(schoolId);
  await compareAgain(db, status.id, { schoolId, holdShare, now });
}

/** Makes the numbers of a waiting import anew. Errors: conflict import_running; those of `withDifference`. */
export const refreshImport = (db: PrismaDb, status: ImportStatus, request: Request, now: Date): Promise<void> =>
  changeWaiting(db, status, { ...request, now }, () => withPrismaTransaction(db, (tx) => holdImport(tx, status.id)));

/** Errors: conflict not_look_alike, import_running; those of `withDifference`. */
export const joinGroups = (
  db: PrismaDb,
  status: ImportStatus,
  { groupId, sourceSystemIdentifier, ...request }: Request & { groupId: GroupId; sourceSystemIdentifier: string },
  origin: Origin & { requestId: string },
): Promise<void> =>
  changeWaiting(db, status, { ...request, now: origin.at }, (schoolId) =>
    changeDirectory(db, origin, async (change) => {
      const { tx } = change;
      await change.touch({ groups: [groupId] });
      await holdImport(tx, status.id);
      const record = await getImport(tx, status.id);
      checkEvent("compare", record);
      await findDifference(tx, makePart(record, schoolId, origin.at));
      const pair = (await listLookAlikes(tx, schoolId)).find(
        ({ inRoster, existing }) =>
          existing.groupId === groupId && inRoster.sourceSystemIdentifier === sourceSystemIdentifier,
      );
      if (pair === undefined)
        throw new AppError(
          "conflict",
          "not_look_alike",
          "These two are not among the look-alikes of the import. Look at the list again.",
        );
      await setGroupSourceId(change, { groupId, sourceSystemIdentifier });
      const before = { sourceSystemIdentifier: pair.existing.sourceSystemIdentifier };
      await recordDifference(tx, origin, { before, after: { sourceSystemIdentifier } });
    }),
  );

const stagedGroup = table("stagedGroup", "s");
const clearMoves = makeRun<{ importId: string; schoolId: string }>()`
  ${update("stagedGroup", "s", { previousSourceId: sql`NULL` })}
  WHERE ${stagedGroup.importId} = ${"importId"} AND ${stagedGroup.schoolId} = ${"schoolId"}`;

/** `moves` are source ids of the current group and of the roster's group. */
type MoveRequest = Request & { schoolYear: string; moves: readonly { from: string; to: string }[] };

/** Errors: invalid carried_over_twice, carry_over_unknown; conflict import_running; those of `withDifference`. */
export const setGroupMoves = (
  db: PrismaDb,
  status: ImportStatus,
  { schoolYear, moves, ...request }: MoveRequest,
  origin: Origin,
): Promise<void> =>
  changeWaiting(db, status, { ...request, now: origin.at }, async (schoolId) => {
    const [from, to] = [moves.map((move) => move.from), moves.map((move) => move.to)];
    if (new Set(from).size < from.length || new Set(to).size < to.length)
      throw new AppError("invalid", "carried_over_twice", "A group goes on as one group, and from one group.");
    const importId = status.id;
    await withPrismaTransaction(db, async (tx) => {
      await holdImport(tx, importId);
      checkEvent("compare", { state: await getState(tx, importId) });
      await clearMoves(tx, { importId, schoolId });
      const moved = await setMoves(tx, { importId, schoolId, from, to });
      if (moved < moves.length) throw carryOversUnknown(moves.length - moved);
      await tx.prisma.import.update({ where: { id: importId }, data: { schoolYear } });
      const detail = { importId, moves: moves.length };
      await recordAudit(tx, { ...origin, action: "import_group_moves_set", schoolId, detail });
    });
  });

/** Goes on without the faulty rows. Their people do not leave. Errors: conflict faults_remain, import_running. */
export async function leaveOutFaultyRows(
  db: PrismaDb,
  { id, namedSchoolIds }: ImportStatus,
  holdShare: number,
  origin: Origin,
): Promise<void> {
  await withPrismaTransaction(db, async (tx) => {
    await holdImport(tx, id);
    await sendEvent(tx, id, "leaveOutRows");
    const { rows, mode } = await getImport(tx, id);
    await nameSchools(tx, id, mode, namedSchoolIds);
    const detail = { importId: id, rows: rows!.faulty };
    await recordAudit(tx, { ...origin, action: "import_rows_left_out", schoolId: namedSchoolIds[0], detail });
  });
  await compareImport(db, { id, schools: namedSchoolIds, holdShare, now: origin.at });
}
