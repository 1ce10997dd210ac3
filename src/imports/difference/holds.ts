import { makeFindOne, sql, table, type Queryable, type Sql } from "../../platform/database/sql.ts";
import { holdReasons } from "../state/record.ts";
import type { Counts, SchoolPart, Hold, HoldCount, HoldReason } from "../state/record.ts";
import { g, planned, leaves, m, p, plannedGroup, plannedMembership } from "./tables.ts";

/** Below these numbers nothing is unusual: a class of three may empty, four people may be renamed, or all be gone. */
const few = { people: 5, pupils: 5 };
const shareOfNames = 0.1;

const school = table("school", "school");
const s = table("stagedPerson", "s");
const record = table("import", "record");

/** SQL: a part of a sort key; letters without accents and case. Words are separated by signs such as `#0`. */
const letters = (key: Sql, place: 1 | 4) => sql`split_part(${key}, ' ', ${place}::int)`;
const words = (key: Sql) => sql`array_remove(string_to_array(
  regexp_replace(${letters(key, 1)} || '#0' || ${letters(key, 4)}, '#.', '#', 'g'), '#'), '')`;
// A letter of another script takes seven characters.
const beginning = (part: Sql) => sql`left(${part}, CASE WHEN ${part} LIKE '{%' THEN 21 ELSE 3 END)`;
const beginsAlike = (place: 1 | 4) =>
  sql`${beginning(letters(planned.sortKey, place))} = ${beginning(letters(p.sortKey, place))}`;

/** SQL: a person whose name becomes another one: it shares no word, and neither part begins alike. */
export const isRenamed = sql`(${planned.change} IN ('changed', 'restored') AND ${p.firstFull} IS NOT NULL
  AND NOT ${words(planned.sortKey)} && ${words(p.sortKey)} AND NOT ${beginsAlike(1)} AND NOT ${beginsAlike(4)})`;

type HoldFacts = {
  renamed: number;
  matched: number;
  classes: number;
  left: string[];
  ended: string[];
  otherSchool: string | null;
  inFile: number;
  wholeRole: boolean;
};

const isTogether = sql`coalesce(most.moving, 0) * 2 > sizes.pupils`;
const namesWhere = (where: Sql) =>
  sql`(SELECT coalesce(array_agg(name ORDER BY natural_key, name), '{}') FROM losing WHERE ${where})`;

/** Pupils stay in a class that is carried over; those who move together into one other class move up. */
const findUnusual = makeFindOne<HoldFacts, Pick<SchoolPart, "importId" | "schoolId">>()`
  WITH pupils AS (
    SELECT ${m.groupId}, ${m.personId}, ${plannedMembership.change} IS DISTINCT FROM 'removed'
      AND ${plannedGroup.change} IS DISTINCT FROM 'removed'
      AND ${leaves} IS NOT TRUE AS stays
    FROM ${m} JOIN ${g} ON ${g.id} = ${m.groupId} JOIN ${p} ON ${p.id} = ${m.personId}
    LEFT JOIN ${plannedGroup} ON ${plannedGroup.id} = ${m.groupId} LEFT JOIN ${planned} ON ${planned.id} = ${m.personId}
    LEFT JOIN ${plannedMembership} ON ${plannedMembership.groupId} = ${m.groupId}
      AND ${plannedMembership.personId} = ${m.personId}
    WHERE ${g.schoolId} = ${"schoolId"} AND ${g.type} = 'KLASSE' AND ${g.status} = 'ACTIVE' AND ${p.status} = 'ACTIVE'
      AND ${p.leftAt} IS NULL AND ${m.role} = 'STUDENT'),
  sizes AS (
    SELECT group_id, count(*) AS pupils, count(*) FILTER (WHERE stays) AS stay FROM pupils GROUP BY 1
    HAVING count(*) >= ${few.pupils}::int),
  moves AS (
    SELECT pupils.group_id, count(*) AS moving
    FROM pupils JOIN ${plannedMembership} ON ${plannedMembership.personId} = pupils.person_id
      AND ${plannedMembership.change} IS DISTINCT FROM 'removed'
      AND ${plannedMembership.groupId} <> pupils.group_id
    JOIN ${plannedGroup} ON ${plannedGroup.id} = ${plannedMembership.groupId} AND ${plannedGroup.type} = 'KLASSE'
      AND NOT ${plannedGroup.isGone}
    GROUP BY pupils.group_id, ${plannedMembership.groupId}),
  most AS (SELECT group_id, max(moving) AS moving FROM moves GROUP BY 1),
  losing AS (
    SELECT ${g.name}, ${g.naturalKey}, sizes.stay = 0 AND NOT EXISTS (
      SELECT FROM ${plannedMembership} WHERE ${plannedMembership.groupId} = sizes.group_id
        AND ${plannedMembership.change} = 'created' AND ${plannedMembership.role} = 'STUDENT')
      AS is_empty
    FROM sizes JOIN ${g} ON ${g.id} = sizes.group_id LEFT JOIN most ON most.group_id = sizes.group_id
    WHERE sizes.stay * 2 < sizes.pupils AND NOT ${isTogether}),
  people AS (
    SELECT count(*)::int AS matched, (count(*) FILTER (WHERE ${isRenamed}))::int AS renamed
    FROM ${planned} JOIN ${p} ON ${p.id} = ${planned.id} WHERE ${planned.isStaged} AND NOT ${planned.isGone}),
  other AS (
    SELECT coalesce(${school.name}, ${record.otherSchool}) AS name
    FROM ${record} LEFT JOIN ${school} ON ${school.id} = ${record.otherSchoolId} AND ${school.id} <> ${"schoolId"}
    WHERE ${record.id} = ${"importId"} AND coalesce(${school.id}::text, ${record.otherSchool}) IS NOT NULL),
  roles AS (
    SELECT ${p.role} FROM ${p} LEFT JOIN ${planned} ON ${planned.id} = ${p.id}
    WHERE ${p.homeSchoolId} = ${"schoolId"} AND ${p.sourceSystemIdentifier} IS NOT NULL AND ${p.status} = 'ACTIVE'
      AND ${p.leftAt} IS NULL
    GROUP BY ${p.role} HAVING count(*) >= ${few.people}::int AND bool_and(${leaves} IS TRUE))
  SELECT EXISTS (SELECT FROM roles) AS "wholeRole", people.matched, people.renamed,
    (SELECT count(*)::int FROM sizes) AS classes,
    ${namesWhere(sql`NOT is_empty`)} AS left, ${namesWhere(sql`is_empty`)} AS ended,
    (SELECT name FROM other) AS "otherSchool",
    CASE WHEN EXISTS (SELECT FROM other) THEN (
      SELECT count(*)::int FROM ${s} WHERE ${s.importId} = ${"importId"} AND ${s.schoolId} = ${"schoolId"})
        ELSE 0 END AS "inFile"
  FROM people`;

/** What is unusual about the difference. Nothing is for a share of 1 or more. Units: share from 0 to 1. */
export async function findHolds(
  tx: Queryable,
  part: Pick<SchoolPart, "importId" | "schoolId">,
  { people, groups, before }: Counts,
  share: number,
): Promise<Hold[]> {
  if (share >= 1) return [];
  const { renamed, matched, classes, left, ended, otherSchool, inFile, wholeRole } = await findUnusual(tx, part);
  const leaving = people.removed + people.leftHome;
  const isRenaming = renamed >= few.people && renamed > matched * Math.min(share, shareOfNames);
  const names = otherSchool === null ? [] : [otherSchool];
  const all: [HoldReason, isUnusual: boolean, count: number, of: number, names?: string[]][] = [
    ["LEAVERS", leaving > before.people * share || wholeRole, leaving + people.left, before.people],
    ["GROUPS_ENDED", groups.removed > before.groups * share, groups.removed, before.groups],
    ["NAMES_CHANGED", isRenaming, renamed, matched],
    ["CLASSES_LEFT", left.length > 0, left.length, classes, left],
    ["CLASSES_ENDED", ended.length > 0, ended.length, classes, ended],
    ["OTHER_SCHOOL", otherSchool !== null, inFile, inFile, names],
  ];
  return all.flatMap(([reason, isUnusual, count, of, named = []]) =>
    isUnusual ? [{ reason, count, of, names: named }] : [],
  );
}

export type Confirmed = Partial<Record<HoldReason, number>>;

/** What exceeds what was confirmed. */
export const notConfirmed = (holds: readonly Hold[], confirmed: Confirmed): Hold[] =>
  holds.filter(({ reason, count }) => count > (confirmed[reason] ?? 0));

export function sumHolds(schools: readonly { state: string; holds: readonly Hold[] }[]): HoldCount[] {
  const holds = schools.flatMap((one) => (one.state === "HELD" ? one.holds : []));
  return holdReasons
    .map((reason) => holds.filter((hold) => hold.reason === reason))
    .filter((same) => same.length > 0)
    .map((same) => ({ reason: same[0]!.reason, count: same.reduce((sum, { count }) => sum + count, 0) }));
}
