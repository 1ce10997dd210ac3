import { fields, literal, makeFindOne, sql, table } from "../../platform/database/sql.ts";
import type { Part, Sql, Queryable } from "../../platform/database/sql.ts";
import { isAmong, planned, g, m, p, plannedGroup, plannedMembership } from "./tables.ts";
import type { SchoolPart, Counts } from "../state/record.ts";

const countWhere = (where: Sql) => sql`count(*) FILTER (WHERE ${where})`;
const countChanges = <Name extends string>(change: Sql, ...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, countWhere(sql`${change} = ${literal(name)}`)])) as Record<Name, Sql>;

const countObject = <Numbers extends object>(from: Sql, numbers: { readonly [Name in keyof Numbers]-?: Part }): Sql =>
  sql`(SELECT row_to_json(counted) FROM (SELECT ${fields<Numbers>(numbers)} FROM ${from}) AS counted)`;

const person = table("person");
const group = table("group");

export const countDifference = makeFindOne<Counts, { schoolId: string }>()`SELECT
  ${countObject<Counts["people"]>(sql`${planned}`, {
    ...countChanges(planned.change, "created", "changed", "restored", "removed"),
    joined: countWhere(sql`${planned.change} IS NULL AND ${planned.joins} AND ${planned.id} IS NOT NULL`),
    left: countWhere(sql`${planned.leaves} AND ${planned.nextHome} IS NULL`),
    leftHome: countWhere(sql`${planned.nextHome} IS NOT NULL`),
  })} AS people,
  ${countObject<Counts["groups"]>(sql`${plannedGroup}`, {
    ...countChanges(plannedGroup.change, "created", "changed", "restored", "removed"),
    carriedOver: countWhere(sql`${plannedGroup.change} = 'carried_over'`),
  })} AS groups,
  ${countObject<Counts["memberships"]>(sql`${plannedMembership}`, countChanges(plannedMembership.change, "created", "changed", "removed"))}
    AS memberships,
  json_build_object(
    'people', (SELECT count(*) FROM ${person}
      WHERE ${person.homeSchoolId} = ${"schoolId"} AND ${person.status} = 'ACTIVE' AND ${person.leftAt} IS NULL),
    'groups', (SELECT count(*) FROM ${group}
      WHERE ${group.schoolId} = ${"schoolId"} AND ${group.status} = 'ACTIVE')) AS before,
  (SELECT count(*)::int FROM ${planned} WHERE ${planned.isKept}) AS kept`;

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
  cardinality(${values.schools}::uuid[]) > 1 AND (${planned.id} IS NULL OR EXISTS (
    SELECT FROM ${elsewhere} WHERE ${elsewhere.personId} = ${planned.id} AND ${elsewhere.schoolId} <> ${values.schoolId}
      AND ${isAmong(elsewhere.schoolId, values.schools)})))`;

// Ids of new people and groups are made anew each time. Who applies may protect more people than who previewed.
const describe = makeFindOne<{ text: string }, Pick<SchoolPart, "schoolId" | "schools">>(
  (values) => sql`
  SELECT concat_ws(' ',
    ${digest(sql`SELECT jsonb_build_array(${planned.sourceId}, CASE WHEN ${planned.change} IS DISTINCT FROM 'created' THEN ${planned.id} END,
        CASE WHEN ${planned.isKept} THEN 'removed' ELSE ${planned.change} END, ${planned.joins}, ${planned.leaves},
          ${planned.nextHome}, ${planned.role},
        ${planned.firstFull}, ${planned.firstCall}, ${planned.last}, ${p.role}, ${p.firstFull}, ${p.firstCall},
          ${p.last}, ${p.status},
        ${p.homeSchoolId})::text
      FROM ${planned} LEFT JOIN ${p} ON ${p.id} = ${planned.id}
      WHERE (${planned.change} IS NOT NULL OR ${planned.joins} OR ${planned.leaves} OR ${planned.isKept})
        AND NOT ${isShared(values)}`)},
    ${digest(sql`SELECT jsonb_build_array(${plannedGroup.sourceId}, CASE WHEN ${plannedGroup.change} <> 'created' THEN ${plannedGroup.id} END,
        ${plannedGroup.change}, ${plannedGroup.name}, ${plannedGroup.type}, ${g.name}, ${g.type}, CASE
          WHEN ${plannedGroup.change} = 'removed' THEN (
          SELECT count(*) FROM ${m} WHERE ${m.groupId} = ${plannedGroup.id}) END)::text
      FROM ${plannedGroup} LEFT JOIN ${g} ON ${g.id} = ${plannedGroup.id} WHERE ${plannedGroup.change} IS NOT NULL`)},
    ${digest(sql`SELECT jsonb_build_array(${plannedMembership.change}, ${plannedMembership.role},
        CASE WHEN ${plannedGroup.change} = 'created' THEN ${plannedGroup.sourceId}
          ELSE ${plannedMembership.groupId}::text END,
        CASE WHEN ${planned.change} = 'created' THEN ${planned.sourceId}
          ELSE ${plannedMembership.personId}::text END)::text
      FROM ${plannedMembership} LEFT JOIN ${plannedGroup} ON ${plannedGroup.id} = ${plannedMembership.groupId}
        LEFT JOIN ${planned} ON ${planned.id} = ${plannedMembership.personId}
      WHERE ${plannedMembership.change} IS NOT NULL AND NOT ${isShared(values)}`)}) AS text`,
);

/** Tells a difference from another one: what changes and what it was before. The same in every transaction. */
export const describeDifference = async (tx: Queryable, part: Parameters<typeof describe>[1]): Promise<string> =>
  (await describe(tx, part)).text;
