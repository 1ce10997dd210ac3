import { columnNames, insert, makeFindOne, run, sql, statement, table } from "../../platform/database/sql.ts";
import type { Part, Queryable, Sql } from "../../platform/database/sql.ts";
import type { SchoolPart } from "../state/record.ts";
import { a, g, isAmong, planned, m, p, plannedGroup, plannedMembership } from "../difference/tables.ts";

type Values = Pick<SchoolPart, "importId" | "schoolId" | "schools"> & { purgeAt: Date };

const affiliations = (person: typeof p, schools: Part) => sql`(
  SELECT coalesce(jsonb_object_agg(${a.schoolId}, ${a.id}), '{}') FROM ${a}
  WHERE ${a.personId} = ${person.id} AND ${isAmong(a.schoolId, schools)})`;
const of = table("group", "of");
// Members of a deleted group see nothing of it, so they are in none.
const memberships = (person: typeof p, schools: Part) => sql`(
  SELECT coalesce(jsonb_object_agg(${m.groupId}, ${m.role}), '{}')
  FROM ${m} JOIN ${of} ON ${of.id} = ${m.groupId} AND ${of.status} = 'ACTIVE'
  WHERE ${m.personId} = ${person.id} AND ${isAmong(m.schoolId, schools)})`;

/**
 * SQL: what imports change of person `p`, as far as it concerns the schools of an import. Somebody who left is LEFT,
 * also after the retention has deleted them; `left` says since when and what they are.
 */
export const imageOfPerson = (schools: Part): Sql => sql`jsonb_build_object(
  'name', jsonb_build_array(${p.firstFull}, ${p.firstCall}, ${p.last}), 'sort_key', ${p.sortKey}, 'role', ${p.role},
  'status', CASE WHEN ${p.leftAt} IS NULL THEN ${p.status}::text ELSE 'LEFT' END,
  'left', CASE WHEN ${p.leftAt} IS NOT NULL THEN jsonb_build_object('at', ${p.leftAt}, 'status', ${p.status}) END,
  'source_id', ${p.sourceSystemIdentifier}, 'groups', ${memberships(p, schools)},
  'schools', jsonb_build_object('home', ${p.homeSchoolId}, 'at', ${affiliations(p, schools)}))`;

export const imageOfGroup = sql`jsonb_build_object('name', ${g.name}, 'sort_key', ${g.sortKey}, 'type', ${g.type},
  'status', ${g.status}, 'source_id', ${g.sourceSystemIdentifier})`;

const changedPeople = sql`(
  SELECT ${planned.id} FROM ${planned} WHERE ${planned.change} IS NOT NULL OR ${planned.joins} OR ${planned.leaves}
  UNION SELECT ${plannedMembership.personId} FROM ${plannedMembership} WHERE ${plannedMembership.change} IS NOT NULL
  UNION SELECT ${m.personId} FROM ${m} JOIN ${plannedGroup} ON ${plannedGroup.id} = ${m.groupId}
    WHERE ${plannedGroup.change} IN ('removed', 'restored'))`;
// A group whose id another one takes over loses it.
const changedGroups = (schoolId: Part) => sql`(
  SELECT ${plannedGroup.id} FROM ${plannedGroup} WHERE ${plannedGroup.change} IS NOT NULL
  UNION SELECT ${g.id} FROM ${g} JOIN ${plannedGroup} ON ${plannedGroup.sourceId} = ${g.sourceSystemIdentifier}
    WHERE ${g.schoolId} = ${schoolId} AND ${plannedGroup.change} = 'carried_over')`;

const record = (column: "before" | "after") => {
  const atConflict =
    column === "before"
      ? sql`ON CONFLICT DO NOTHING`
      : sql`ON CONFLICT (${columnNames("importChange", "importId", "subjectId")}) DO UPDATE SET after = excluded.after`;
  return [
    statement<Values>(({ importId, schoolId, schools, purgeAt: keepUntil }) => {
      const row = {
        importId,
        subjectId: p.id,
        personId: p.id,
        schoolId,
        keepUntil,
        [column]: imageOfPerson(schools),
      };
      return sql`${insert("importChange", row, sql`FROM ${p} WHERE ${p.id} IN ${changedPeople}`)} ${atConflict}`;
    }),
    statement<Values>(({ importId, schoolId, purgeAt: keepUntil }) => {
      const row = { importId, subjectId: g.id, schoolId, keepUntil, [column]: imageOfGroup };
      return sql`${insert("importChange", row, sql`FROM ${g} WHERE ${g.id} IN ${changedGroups(schoolId)}`)} ${atConflict}`;
    }),
  ];
};
const [before, after] = [record("before"), record("after")];

const c = table("importChange", "c");
const countChanges = makeFindOne<{ count: number }, Pick<Values, "importId" | "schoolId">>()`
  SELECT count(*)::int AS count FROM ${c} WHERE ${c.importId} = ${"importId"} AND ${c.schoolId} = ${"schoolId"}`;

/** Records what `write` changes, so that it can be undone. Returns how many people and groups that are. */
export async function recordChanges(tx: Queryable, values: Values, write: () => Promise<void>): Promise<number> {
  for (const statement of before) await run(tx, statement, values);
  await write();
  for (const statement of after) await run(tx, statement, values);
  return (await countChanges(tx, values)).count;
}

const oldest = table("importChange", "oldest");

/** Deletes the records of changes that can no longer be undone; they contain names. */
export const deleteOldChanges = statement<{ before: Date; batch: number }>()`
  DELETE FROM ${c} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ${oldest} WHERE ${oldest.keepUntil} < ${"before"} ORDER BY ${oldest.keepUntil} LIMIT ${"batch"}))`;
