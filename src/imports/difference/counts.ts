import { fields, literal, makeFindOne, sql, table, findRows, statement } from "../../platform/database/sql.ts";
import type { Part, Sql, Queryable } from "../../platform/database/sql.ts";
import { i, importGroup, importMembership, g, m, p } from "./tables.ts";
import type { SchoolPart, Counts } from "../state/record.ts";

const countWhere = (where: Sql) => sql`count(*) FILTER (WHERE ${where})`;
const countChanges = <Name extends string>(change: Sql, ...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, countWhere(sql`${change} = ${literal(name)}`)])) as Record<Name, Sql>;

const countObject = <Numbers extends object>(from: Sql, numbers: { readonly [Name in keyof Numbers]-?: Part }): Sql =>
  sql`(SELECT row_to_json(counted) FROM (SELECT ${fields<Numbers>(numbers)} FROM ${from}) AS counted)`;

const [ig, im] = [importGroup.as("ig"), importMembership.as("im")];
const person = table("person");
const group = table("group");

export const countDifference = makeFindOne<Counts, { schoolId: string }>(
  ({ schoolId }) => sql`SELECT
  ${countObject<Counts["people"]>(sql`${i}`, {
    ...countChanges(i.change, "created", "changed", "restored", "removed"),
    joined: countWhere(sql`${i.change} IS NULL AND ${i.joins} AND ${i.id} IS NOT NULL`),
    left: countWhere(sql`${i.leaves} AND ${i.nextHome} IS NULL`),
    leftHome: countWhere(sql`${i.nextHome} IS NOT NULL`),
  })} AS people,
  ${countObject<Counts["groups"]>(sql`${ig}`, {
    ...countChanges(ig.change, "created", "changed", "restored", "removed"),
    carriedOver: countWhere(sql`${ig.change} = 'carried_over'`),
  })} AS groups,
  ${countObject<Counts["memberships"]>(sql`${im}`, countChanges(im.change, "created", "changed", "removed"))}
    AS memberships,
  json_build_object(
    'people', (SELECT count(*) FROM ${person}
      WHERE ${person.homeSchoolId} = ${schoolId} AND ${person.status} = 'ACTIVE' AND ${person.leftAt} IS NULL),
    'groups', (SELECT count(*) FROM ${group}
      WHERE ${group.schoolId} = ${schoolId} AND ${group.status} = 'ACTIVE')) AS before,
  (SELECT count(*)::int FROM ${i} WHERE ${i.isKept}) AS kept`,
);

export const changesNothing = (counts: Counts): boolean =>
  [counts.people, counts.groups, counts.memberships].every((kind) =>
    Object.values(kind).every((number) => number === 0),
  );

const elsewhere = table("affiliation", "elsewhere");

/** SQL: a sum that does not depend on the order of the rows. */
const digest = (rows: Sql) =>
  sql`(SELECT count(*) || '-' || coalesce(sum(hashtextextended(line, 0)::numeric), 0) FROM (${rows}) AS lines (line))`;

/** SQL: another school of the same files may have changed this person by now. */
const isShared = (values: { schoolId: Part; schools: Part }) => sql`(
  cardinality(${values.schools}::uuid[]) > 1 AND (${i.id} IS NULL OR EXISTS (
    SELECT FROM ${elsewhere} WHERE ${elsewhere.personId} = ${i.id} AND ${elsewhere.schoolId} <> ${values.schoolId}
      AND ${elsewhere.schoolId} = ANY (${values.schools}::uuid[]))))`;

// Ids of new people and groups are made anew each time. Who applies may protect more people than who previewed.
const describe = statement<Pick<SchoolPart, "schoolId" | "schools">>(
  (values) => sql`
  SELECT concat_ws(' ',
    ${digest(sql`SELECT jsonb_build_array(${i.sourceId}, CASE WHEN ${i.change} IS DISTINCT FROM 'created' THEN ${i.id} END,
        CASE WHEN ${i.isKept} THEN 'removed' ELSE ${i.change} END, ${i.joins}, ${i.leaves}, ${i.nextHome}, ${i.role},
        ${i.firstFull}, ${i.firstCall}, ${i.last}, ${p.role}, ${p.firstFull}, ${p.firstCall}, ${p.last}, ${p.status},
        ${p.homeSchoolId})::text
      FROM ${i} LEFT JOIN ${p} ON ${p.id} = ${i.id}
      WHERE (${i.change} IS NOT NULL OR ${i.joins} OR ${i.leaves} OR ${i.isKept}) AND NOT ${isShared(values)}`)},
    ${digest(sql`SELECT jsonb_build_array(${ig.sourceId}, CASE WHEN ${ig.change} <> 'created' THEN ${ig.id} END,
        ${ig.change}, ${ig.name}, ${ig.type}, ${g.name}, ${g.type}, CASE WHEN ${ig.change} = 'removed' THEN (
          SELECT count(*) FROM ${m} WHERE ${m.groupId} = ${ig.id}) END)::text
      FROM ${ig} LEFT JOIN ${g} ON ${g.id} = ${ig.id} WHERE ${ig.change} IS NOT NULL`)},
    ${digest(sql`SELECT jsonb_build_array(${im.change}, ${im.role},
        CASE WHEN ${ig.change} = 'created' THEN ${ig.sourceId} ELSE ${im.groupId}::text END,
        CASE WHEN ${i.change} = 'created' THEN ${i.sourceId} ELSE ${im.personId}::text END)::text
      FROM ${im} LEFT JOIN ${ig} ON ${ig.id} = ${im.groupId} LEFT JOIN ${i} ON ${i.id} = ${im.personId}
      WHERE ${im.change} IS NOT NULL AND NOT ${isShared(values)}`)}) AS text`,
);

/** Tells a difference from another one: what changes and what it was before. The same in every transaction. */
export async function describeDifference(
  tx: Queryable,
  { schoolId, schools }: Pick<SchoolPart, "schoolId" | "schools">,
): Promise<string> {
  const [found] = await findRows<
    { text: string },
    { schoolId: SchoolPart["schoolId"]; schools: SchoolPart["schools"] }
  >(tx, describe, { schoolId, schools });
  return found!.text;
}
