import { versionOfSchool } from "../../access/index.ts";
import type { SchoolId } from "../../directory/index.ts";
import type { PrismaDb, Transaction } from "../../platform/database/db.ts";
import { withInterruptibleTransaction } from "../../platform/database/interrupt.ts";
import { analyzeSparse } from "../../platform/database/statistics.ts";
import {
  insert,
  literal,
  makeFindOne,
  run,
  sql,
  statement,
  table,
  update,
  makeRun,
} from "../../platform/database/sql.ts";
import type { Queryable } from "../../platform/database/sql.ts";
import { countDifference, describeDifference } from "../difference/counts.ts";
import { findDifference } from "../difference/difference.ts";
import type { ImportMode } from "../formats/format.ts";
import { findHolds } from "../difference/holds.ts";
import { countLists } from "../difference/listed-people.ts";
import { getImport, makePart, type ImportId, type SchoolPart } from "../state/record.ts";
import { schoolTransitions, sendSchoolEvent, tryEvent } from "../state/states.ts";
import { directoryTables } from "../difference/tables.ts";
import { listGroupMoves, type GroupMove } from "../difference/look-alikes.ts";
import type { NewImport } from "./begin.ts";

type Comparison = { id: ImportId; schools: readonly SchoolId[]; holdShare: number; now: Date; isAgain?: boolean };

const findVersion = makeFindOne<{ version: string }, { schoolId: SchoolId }>()`
  SELECT ${({ schoolId }) => versionOfSchool(schoolId)}::text AS version`;

export async function compareImport(
  db: PrismaDb,
  { id, schools, holdShare, now, isAgain = false }: Comparison,
  { onProgress, interrupt }: Pick<NewImport, "onProgress" | "interrupt"> = {},
): Promise<void> {
  const record = await getImport(db, id);
  await analyzeSparse(db, directoryTables);
  for (const [index, schoolId] of schools.entries()) {
    onProgress?.({ phase: "comparing", done: index, total: schools.length });
    const part = makePart(record, schoolId, now);
    await withInterruptibleTransaction(db, interrupt, async (tx) => {
      // Before the difference, so that a change in between counts as a later one.
      const { version } = await findVersion(tx, { schoolId });
      await findDifference(tx, part);
      if (!isAgain && (await moveClassesUp(tx, part))) await findDifference(tx, part);
      const counts = { ...(await countDifference(tx, { schoolId })), lists: await countLists(tx, part) };
      const holds = await findHolds(tx, part, counts, holdShare);
      const difference = await describeDifference(tx, part);
      const data = { counts, holds, difference, comparedAt: now, directoryVersion: BigInt(version) };
      await sendSchoolEvent(tx, part, holds.length > 0 ? "hold" : "release", data);
    });
  }
  await tryEvent(db, id, "hold");
}

/** Makes the numbers of a school anew; classes are carried over as before. */
export async function compareAgain(
  db: PrismaDb,
  id: ImportId,
  { schoolId, ...rest }: { schoolId: SchoolId; holdShare: number; now: Date },
): Promise<void> {
  await compareImport(db, { id, schools: [schoolId], isAgain: true, ...rest });
  await tryEvent(db, id, "release");
}

/** A bulk file is about all its schools; a delta about the current and new schools of the people in it. */
export async function nameSchools(tx: Transaction, importId: ImportId, mode: ImportMode, named: readonly SchoolId[]) {
  await run(tx, insertSchools, { importId, whole: mode === "BULK" ? named : [], named });
}

const stagedGroup = table("stagedGroup", "g");
const s = table("stagedPerson", "s");
const m = table("stagedMembership", "m");
const p = table("person", "p");
const a = table("affiliation", "a");

const insertSchools = statement<{ importId: string; whole: readonly SchoolId[]; named: readonly SchoolId[] }>(
  ({ importId, whole, named }) =>
    insert(
      "importSchool",
      { importId, schoolId: sql`id`, state: literal(schoolTransitions.name.to), counts: sql`'{}'::jsonb` },
      sql`FROM (
       SELECT unnest(${whole}::uuid[]) AS id
       UNION SELECT ${s.schoolId} FROM ${s} WHERE ${s.importId} = ${importId}
       UNION SELECT ${stagedGroup.schoolId} FROM ${stagedGroup} WHERE ${stagedGroup.importId} = ${importId}
       UNION SELECT ${m.schoolId} FROM ${m} WHERE ${m.importId} = ${importId}
       UNION SELECT ${a.schoolId} FROM ${s}
         JOIN ${p} ON ${p.sourceSystemIdentifier} = ${s.sourceId} AND ${p.sourceIdIsShared}
           AND ${p.homeSchoolId} = ANY (${named}::uuid[])
         JOIN ${a} ON ${a.personId} = ${p.id} AND ${a.schoolId} = ANY (${named}::uuid[])
         WHERE ${s.importId} = ${importId} AND cardinality(${named}::uuid[]) > 1) AS school
     WHERE id IS NOT NULL`,
    ),
);
export const setMoves = makeRun<{
  importId: string;
  schoolId: string;
  from: readonly string[];
  to: readonly string[];
}>()`
  ${update("stagedGroup", "g", { previousSourceId: sql`move.previous` })}
  FROM unnest(${"from"}::text[], ${"to"}::text[]) AS move (previous, next)
  WHERE ${stagedGroup.importId} = ${"importId"} AND ${stagedGroup.schoolId} = ${"schoolId"}
    AND ${stagedGroup.sourceId} = move.next
    AND NOT ${stagedGroup.isDeleted}`;

const countCarriedOver = makeRun<{ importId: string }>()`
  SELECT FROM ${stagedGroup} WHERE ${stagedGroup.importId} = ${"importId"}
    AND ${stagedGroup.previousSourceId} IS NOT NULL LIMIT 1`;

/** If several classes become one, the class of most pupils continues. No class replaces one that stays. */
function chooseMoves(moves: readonly GroupMove[]): GroupMove[] {
  const possible = moves.filter(({ from, isIntoStaying }) => from.sourceSystemIdentifier !== null && !isIntoStaying);
  const byTarget = Map.groupBy(possible, ({ to }) => to.sourceSystemIdentifier);
  return [...byTarget.values()].map((several) => several.toSorted((a, b) => b.moving - a.moving)[0]!);
}

/** Carries over the classes that move up in a whole roster of a school year, unless the upload says which do. */
async function moveClassesUp(tx: Queryable, part: SchoolPart): Promise<boolean> {
  const { importId, schoolId, mode, schoolYear } = part;
  if (mode !== "BULK" || schoolYear === "") return false;
  if ((await countCarriedOver(tx, { importId })) > 0) return false;
  const chosen = chooseMoves(await listGroupMoves(tx, { schoolId }));
  const from = chosen.map((move) => move.from.sourceSystemIdentifier!);
  const to = chosen.map((move) => move.to.sourceSystemIdentifier);
  return (await setMoves(tx, { importId, schoolId, from, to })) > 0;
}
