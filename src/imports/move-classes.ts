import { findRows, run, sql, statement, table, update, type Queryable } from "../platform/database/sql.ts";
import { listGroupMoves, type GroupMove } from "./look-alikes.ts";
import type { SchoolPart } from "./record.ts";

const s = table("stagedGroup", "s");

export const setMoves = statement<{
  importId: string;
  schoolId: string;
  from: readonly string[];
  to: readonly string[];
}>(
  ({ importId, schoolId, from, to }) => sql`
  ${update("stagedGroup", "s", { previousSourceId: sql`move.previous` })}
  FROM unnest(${from}::text[], ${to}::text[]) AS move (previous, next)
  WHERE ${s.importId} = ${importId} AND ${s.schoolId} = ${schoolId} AND ${s.sourceId} = move.next
    AND NOT ${s.isDeleted}`,
);

const findCarriedOver = statement<{ importId: string }>(
  ({ importId }) => sql`
  SELECT FROM ${s} WHERE ${s.importId} = ${importId} AND ${s.previousSourceId} IS NOT NULL LIMIT 1`,
);

/** Of several classes that become one, that of most pupils goes on; none takes the place of a class that stays. */
function chooseMoves(moves: readonly GroupMove[]): GroupMove[] {
  const possible = moves.filter(({ from, isIntoStaying }) => from.sourceSystemIdentifier !== null && !isIntoStaying);
  const byTarget = Map.groupBy(possible, ({ to }) => to.sourceSystemIdentifier);
  return [...byTarget.values()].map((several) => several.toSorted((a, b) => b.moving - a.moving)[0]!);
}

/** Carries over the classes that move up in a whole roster of a school year, unless the upload says which do. */
export async function moveClassesUp(tx: Queryable, part: SchoolPart): Promise<boolean> {
  const { importId, schoolId, mode, schoolYear } = part;
  if (mode !== "BULK" || schoolYear === "") return false;
  if ((await findRows(tx, findCarriedOver, { importId })).length > 0) return false;
  const chosen = chooseMoves(await listGroupMoves(tx, { schoolId }));
  const from = chosen.map((move) => move.from.sourceSystemIdentifier!);
  const to = chosen.map((move) => move.to.sourceSystemIdentifier);
  return (await run(tx, setMoves, { importId, schoolId, from, to })) > 0;
}
