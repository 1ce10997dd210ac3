import { allowsGroupStep } from "../../directory/index.ts";
import { run, sql, statement, table, newId } from "../../platform/database/sql.ts";
import type { Parameters, Part, Sql, Queryable } from "../../platform/database/sql.ts";
import { firstOf, isListed, ofDirectory as personOfDirectory } from "./people.ts";
import { isMembershipOfFaultyRow, isNamedInFaultyRow } from "../rows/faulty-rows.ts";
import { roleOf } from "../formats/format.ts";
import type { SchoolPart } from "../state/record.ts";
import {
  a,
  analyzeGroups,
  analyzeMemberships,
  g,
  planned,
  importGroup,
  importMembership,
  importPerson,
  m,
  p,
  plannedGroup,
  plannedMembership,
} from "./tables.ts";

const s = table("stagedGroup", "s");
const c = table("groupCarryOver", "c");

type OfSchool = Pick<SchoolPart, "importId" | "schoolId">;
type Speaking = OfSchool & Pick<SchoolPart, "speaksOf">;

const isSpokenOf = (speaksOf: Part) => sql`${g.type}::text = ANY (${speaksOf}::text[])`;

// A group may be carried over to a new id once per school year.
const insertStaged = statement<OfSchool & Pick<SchoolPart, "schoolYear" | "now">>(
  ({ importId, schoolId, schoolYear, now }) => sql`
  WITH goes_on AS (
    SELECT ${s.row}, ${g.id}, ${g.sourceSystemIdentifier} FROM ${s}
    JOIN ${g} ON ${g.schoolId} = ${schoolId} AND ${g.sourceSystemIdentifier} = ${s.previousSourceId}
    WHERE ${s.importId} = ${importId} AND ${s.schoolId} = ${schoolId} AND NOT ${s.isDeleted}
      AND ${s.previousSourceId} <> ${s.sourceId}
      AND NOT EXISTS (SELECT FROM ${c} WHERE ${c.schoolId} = ${schoolId} AND ${c.schoolYear} = ${schoolYear}
        AND ${c.previousSourceId} = ${s.previousSourceId} AND ${c.sourceId} = ${s.sourceId}))
  ${importGroup.insert(
    {
      id: sql`coalesce(o.id, ${g.id}, ${newId(now)})`,
      sourceId: s.sourceId,
      name: s.name,
      sortKey: s.sortKey,
      type: sql`${s.type}::group_type`,
      change: sql`CASE WHEN ${s.isDeleted} THEN CASE WHEN ${allowsGroupStep(g.status, "delete")} THEN 'removed' END
        WHEN o.id IS NOT NULL THEN 'carried_over'
        WHEN ${g.id} IS NULL THEN 'created'
        WHEN ${allowsGroupStep(g.status, "restore")} THEN 'restored'
        WHEN ${allowsGroupStep(g.status, "change")}
          AND (${g.name}, ${g.type}::text) IS DISTINCT FROM (${s.name}, ${s.type}) THEN 'changed' END`,
      previousSourceId: sql`o.source_system_identifier`,
      isGone: s.isDeleted,
    },
    sql`FROM ${s} LEFT JOIN goes_on o ON o.row = ${s.row}
      LEFT JOIN ${g} ON ${g.schoolId} = ${schoolId} AND ${g.sourceSystemIdentifier} = ${s.sourceId}
        AND ${g.id} NOT IN (SELECT id FROM goes_on)
      WHERE ${s.importId} = ${importId} AND ${s.schoolId} = ${schoolId} AND NOT (${s.isDeleted} AND ${g.id} IS NULL)`,
  )}`,
);

const ofDirectory = { id: g.id, sourceId: g.sourceSystemIdentifier, name: g.name, sortKey: g.sortKey, type: g.type };

/** SQL: a member of the group has no groups in the files at all. */
const hasSilent = sql`EXISTS (SELECT FROM ${m} JOIN ${planned} ON ${planned.id} = ${m.personId}
  WHERE ${m.groupId} = ${g.id} AND ${planned.isSilent} AND NOT ${planned.isGone})`;

const hasMember = (where: Sql) => sql`EXISTS (SELECT FROM ${m} JOIN ${p} ON ${p.id} = ${m.personId}
  WHERE ${m.groupId} = ${g.id} AND ${where} AND ${p.status} = 'ACTIVE' AND ${p.leftAt} IS NULL)`;
const hasUnlisted = (role: Part) => hasMember(sql`NOT ${isListed(p, role)}`);

/** `listsEmpty`: the files can name groups that nobody is in. */
type Ending = Speaking & { isWhole: boolean; listsEmpty: boolean; role: string | null };
/** SQL: the files end the group if they do not name it. */
const endsUnnamed = ({
  importId,
  speaksOf,
  isWhole,
  listsEmpty,
  role,
}: Parameters<Ending>) => sql`(${isWhole} AND ${isSpokenOf(speaksOf)} AND (${listsEmpty} OR ${hasMember(sql`true`)})
  AND NOT ${hasSilent} AND NOT ${hasUnlisted(role)} AND NOT ${isNamedInFaultyRow(importId, g.sourceSystemIdentifier)})`;
const taker = importGroup.as("taker");

// A group whose id is taken over ends, in a delta too.
const insertEnding = statement<Ending>((values) =>
  importGroup.insert(
    { ...ofDirectory, change: sql`'removed'`, isGone: sql`true` },
    sql`FROM ${g}
     WHERE ${g.schoolId} = ${values.schoolId} AND ${allowsGroupStep(g.status, "delete")}
       AND ${g.sourceSystemIdentifier} IS NOT NULL
       AND (${endsUnnamed(values)} OR ${g.sourceSystemIdentifier} IN (
         SELECT ${plannedGroup.sourceId} FROM ${plannedGroup} WHERE ${plannedGroup.change} = 'carried_over'))
       AND ${g.id} NOT IN (SELECT ${plannedGroup.id} FROM ${plannedGroup})`,
  ),
);

const markCarriedOver = statement<Ending>()`
  UPDATE ${plannedGroup} SET ends_otherwise = true FROM ${g}
  WHERE ${plannedGroup.change} = 'carried_over' AND ${g.id} = ${plannedGroup.id} AND (
    EXISTS (SELECT FROM ${taker} WHERE ${taker.change} = 'carried_over' AND ${taker.id} <> ${plannedGroup.id}
      AND ${taker.sourceId} = ${g.sourceSystemIdentifier})
    OR ${endsUnnamed} AND NOT EXISTS (SELECT FROM ${s} WHERE ${s.importId} = ${"importId"}
      AND ${s.schoolId} = ${"schoolId"} AND ${s.sourceId} = ${g.sourceSystemIdentifier} AND NOT ${s.isDeleted}))`;

/** The files list all groups of the types that they speak of, at least those of the people whom they list. */
const listsGroups = ({ mode, speaksOf }: SchoolPart) => mode === "BULK" && speaksOf.includes("GROUP");
/** The files list everything that they speak of, so whom and what they refer to is in them. */
export const isWhole = (part: SchoolPart): boolean => listsGroups(part) && part.people === "ALL";

export async function findGroups(tx: Queryable, part: SchoolPart): Promise<void> {
  await run(tx, insertStaged, part);
  await tx.query(analyzeGroups);
  const ending = {
    ...part,
    isWhole: listsGroups(part),
    listsEmpty: part.format === "ONEROSTER",
    role: roleOf(part.people),
  };
  await run(tx, insertEnding, ending);
  await run(tx, markCarriedOver, ending);
}

/** SQL: a membership of a delta may refer to this person: by the school's own id or a shared one, not a guest's id. */
export const isNamedAt = (person: typeof p, schoolId: Part): Sql =>
  sql`(${person.homeSchoolId} = ${schoolId} OR ${person.sourceIdIsShared})`;

const sm = table("stagedMembership", "s");
const named = (column: Sql, { importId, schoolId }: { importId: Part; schoolId: Part }) =>
  sql`(SELECT DISTINCT ${column} AS source_id FROM ${sm}
    WHERE ${sm.importId} = ${importId} AND ${sm.schoolId} = ${schoolId})`;

const insertNamedPeople = statement<OfSchool>((values) =>
  importPerson.insert(
    { ...personOfDirectory, id: firstOf(p.sourceSystemIdentifier, p.id) },
    sql`FROM ${named(sm.personSourceId, values)} AS n
     JOIN ${p} ON ${p.sourceSystemIdentifier} = n.source_id AND ${isNamedAt(p, values.schoolId)}
     JOIN ${a} ON ${a.personId} = ${p.id} AND ${a.schoolId} = ${values.schoolId}
     WHERE NOT EXISTS (SELECT FROM ${planned} WHERE ${planned.sourceId} = n.source_id)
     ORDER BY ${p.sourceSystemIdentifier}, ${p.homeSchoolId} <> ${values.schoolId}, ${p.id}`,
  ),
);

const insertNamedGroups = statement<OfSchool>((values) =>
  importGroup.insert(
    ofDirectory,
    sql`FROM ${named(sm.groupSourceId, values)} AS n
     JOIN ${g} ON ${g.schoolId} = ${values.schoolId} AND ${g.sourceSystemIdentifier} = n.source_id
       AND ${g.status} = 'ACTIVE'
     WHERE NOT EXISTS (SELECT FROM ${plannedGroup} WHERE ${plannedGroup.id} = ${g.id})`,
  ),
);

export async function addNamed(tx: Queryable, part: SchoolPart): Promise<void> {
  await run(tx, insertNamedPeople, part);
  await run(tx, insertNamedGroups, part);
}

/** Several rows of one membership count once, with the highest of TEACHER, STUDENT, OTHER. */
const staged = ({ importId, schoolId }: { importId: Part; schoolId: Part }, isDeleted: boolean) => {
  const [group, person] = [importGroup.as("g"), importPerson.as("p")];
  return sql`
    SELECT ${group.id} AS group_id, ${person.id} AS person_id, max(${sm.role})::person_role AS role,
      max(${person.role}) AS own_role, max(coalesce(${person.formerRole}, ${person.role})) AS former_role
    FROM ${sm}
    JOIN ${group} ON ${group.sourceId} = ${sm.groupSourceId} AND NOT ${group.isGone}
    JOIN ${person} ON ${person.sourceId} = ${sm.personSourceId} AND NOT ${person.isGone} AND ${person.id} IS NOT NULL
    WHERE ${sm.importId} = ${importId} AND ${sm.schoolId} = ${schoolId}
      AND ${isDeleted ? sm.isDeleted : sql`NOT ${sm.isDeleted}`}
    GROUP BY 1, 2`;
};
// Members of a deleted group see nothing of it, so they are in none.
const present = sql`(${m} JOIN ${g} ON ${g.id} = ${m.groupId} AND ${g.status} = 'ACTIVE')
  ON ${m.groupId} = w.group_id AND ${m.personId} = w.person_id`;

// Without a role in the group it is the person's, or another that the group has given them.
const wantedRole = sql`CASE WHEN w.role IS NOT NULL THEN w.role
  WHEN ${m.role} <> w.former_role THEN ${m.role} ELSE w.own_role END`;

const insertWanted = statement<OfSchool>((values) =>
  importMembership.insert(
    {
      groupId: sql`w.group_id`,
      personId: sql`w.person_id`,
      role: wantedRole,
      change: sql`CASE WHEN ${m.groupId} IS NULL THEN 'created' WHEN ${m.role} <> ${wantedRole} THEN 'changed' END`,
    },
    sql`FROM (${staged(values, false)}) AS w LEFT JOIN ${present}`,
  ),
);

const isKept = sql`EXISTS (SELECT FROM ${plannedMembership} WHERE ${plannedMembership.groupId} = ${m.groupId}
  AND ${plannedMembership.personId} = ${m.personId})`;
const removed = { groupId: m.groupId, personId: m.personId, role: m.role, change: sql`'removed'` };

const insertDeleted = statement<OfSchool>((values) =>
  importMembership.insert(removed, sql`FROM (${staged(values, true)}) AS w JOIN ${present} WHERE NOT ${isKept}`),
);

// Files list all groups that they speak of, of the people in them. Groups made here are not in files. Ended groups keep
// the members they had, whom nobody sees, until files bring the group back with others.
const insertLeft = (isOfImport: Sql) => {
  const person = importPerson.as("p");
  return statement<Speaking>(({ importId, schoolId, speaksOf }) =>
    importMembership.insert(
      removed,
      sql`FROM ${person}
       JOIN ${m} ON ${m.personId} = ${person.id} AND ${m.schoolId} = ${schoolId} JOIN ${g} ON ${g.id} = ${m.groupId}
         AND ${g.status} = 'ACTIVE'
       WHERE ${person.isStaged} AND NOT ${person.isGone} AND NOT ${person.isSilent} AND ${isOfImport}
         AND ${isSpokenOf(speaksOf)} AND NOT ${isKept}
         AND NOT ${isMembershipOfFaultyRow(importId, { person: person.sourceId, group: g.sourceSystemIdentifier })}`,
    ),
  );
};
// IS TRUE prevents a join: PostgreSQL expects one row from the anti-join and would scan all groups per membership.
const insertLeftOf = {
  BULK: insertLeft(
    sql`(${g.id} IN (SELECT ${plannedGroup.id} FROM ${plannedGroup} WHERE NOT ${plannedGroup.isGone})) IS TRUE`,
  ),
  DELTA: insertLeft(
    sql`${g.sourceSystemIdentifier} IS NOT NULL AND ${g.id} NOT IN (SELECT ${plannedGroup.id} FROM ${plannedGroup}
      WHERE ${plannedGroup.isGone})`,
  ),
};

export async function findMemberships(tx: Queryable, part: SchoolPart): Promise<void> {
  await run(tx, insertWanted, part);
  await tx.query(analyzeMemberships);
  if (part.mode === "DELTA" && part.format === "ONEROSTER") await run(tx, insertDeleted, part);
  else if (part.speaksOf.includes("MEMBERSHIP")) await run(tx, insertLeftOf[isWhole(part) ? "BULK" : "DELTA"], part);
}
