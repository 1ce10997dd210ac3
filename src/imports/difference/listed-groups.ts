import { naturalKey, type GroupId, type SchoolId } from "../../directory/index.ts";
import { join, literal, makeFind, searched, sql, type Part, type Sql } from "../../platform/database/sql.ts";
import { g, planned, leaves, m, p, plannedGroup, plannedMembership } from "./tables.ts";

export type GroupStep = "CREATED" | "CHANGED" | "CARRIED_OVER" | "RESTORED" | "REMOVED" | "NONE";

const memberCounts = ["new", "movedIn", "movedOut", "left", "changed", "same"] as const;

const sizes = ["before", "after", "pupilsBefore", "pupilsAfter"] as const;

export type GroupChange = {
  groupId: GroupId | null;
  name: string;
  previousName: string | null;
  type: "KLASSE" | "KURS" | "SONSTIG";
  sourceSystemIdentifier: string | null;
  step: GroupStep;
  members: Record<(typeof memberCounts)[number], number>;
  size: Record<(typeof sizes)[number], number>;
  naturalKey: string;
  key: string;
};

/** SQL: the groups of the difference, and groups that only lose members, which files need not name. */
const groups = (schoolId: Part) => sql`
  SELECT ${plannedGroup.id}, ${plannedGroup.sourceId}, ${plannedGroup.name},
    ${naturalKey(plannedGroup.sortKey)} AS natural_key, ${plannedGroup.type}, ${plannedGroup.change}
  FROM ${plannedGroup} LEFT JOIN ${g} ON ${g.id} = ${plannedGroup.id} WHERE ${plannedGroup.change} IS NOT NULL
    OR ${g.status} = 'ACTIVE'
  UNION ALL
  SELECT ${g.id}, ${g.sourceSystemIdentifier}, ${g.name}, ${g.naturalKey}, ${g.type}, NULL FROM ${g}
  WHERE ${g.schoolId} = ${schoolId} AND ${g.status} = 'ACTIVE' AND ${g.id} NOT IN (SELECT ${plannedGroup.id}
    FROM ${plannedGroup})
    AND ${g.id} IN (SELECT ${m.groupId} FROM ${m} JOIN ${planned} ON ${planned.id} = ${m.personId} AND ${leaves}
      UNION SELECT ${plannedMembership.groupId} FROM ${plannedMembership}
        WHERE ${plannedMembership.change} = 'removed')`;

const fate = sql`CASE
  WHEN ${leaves} THEN CASE WHEN members.was AND ${p.status} = 'ACTIVE' THEN 'left' END
  WHEN members.change = 'removed' OR gr.change = 'removed' THEN
    CASE WHEN members.was AND ${p.status} = 'ACTIVE' THEN 'movedOut' END
  WHEN ${planned.change} IN ('created', 'restored') OR ${planned.joins} THEN 'new'
  WHEN ${p.status} <> 'ACTIVE' THEN NULL
  WHEN NOT members.was THEN 'movedIn'
  WHEN ${planned.change} = 'changed' OR members.change = 'changed' THEN 'changed'
  ELSE 'same' END`;

const wasMember = sql`fate IN ('movedOut', 'left', 'changed', 'same')`;
const willBeMember = sql`fate IN ('new', 'movedIn', 'changed', 'same')`;
const isOfSize: Record<(typeof sizes)[number], Sql> = {
  before: wasMember,
  after: willBeMember,
  pupilsBefore: sql`${wasMember} AND role_before = 'STUDENT'`,
  pupilsAfter: sql`${willBeMember} AND role_after = 'STUDENT'`,
};

const countWhere = (name: string, where: Sql) => sql`${literal(name)}, count(*) FILTER (WHERE ${where})`;
const countFates = join(memberCounts.map((name) => countWhere(name, sql`fate = ${literal(name)}`)));
const countSizes = join(sizes.map((name) => countWhere(name, isOfSize[name])));
const none = (names: readonly string[]) =>
  sql`json_build_object(${join(names.map((name) => sql`${literal(name)}, 0`))})`;

type Page = {
  schoolId: SchoolId;
  /** Only classes that lose members. */
  onlyLosing?: boolean | undefined;
  search?: string | undefined;
  naturalKey?: string | undefined;
  key?: string | undefined;
  limit: number;
};
export const listGroupChanges = makeFind<GroupChange, Page>(
  ({ schoolId, onlyLosing, search, naturalKey: afterKey, key, limit }) => sql`
  WITH gr AS MATERIALIZED (${groups(schoolId)}),
  members AS (
    SELECT coalesce(was.group_id, ${plannedMembership.groupId}) AS group_id, coalesce(was.person_id,
      ${plannedMembership.personId}) AS person_id,
      was.group_id IS NOT NULL AS was, was.role AS role_before, coalesce(${plannedMembership.role},
        was.role) AS role_after,
      ${plannedMembership.change}
    FROM (SELECT ${m.groupId}, ${m.personId}, ${m.role} FROM ${m}
      JOIN ${g} ON ${g.id} = ${m.groupId} AND ${g.status} = 'ACTIVE' WHERE ${m.groupId} IN (SELECT id FROM gr)) AS was
    FULL JOIN ${plannedMembership} ON ${plannedMembership.groupId} = was.group_id
      AND ${plannedMembership.personId} = was.person_id),
  fates AS (
    SELECT gr.id, ${fate} AS fate, role_before, role_after FROM gr JOIN members ON members.group_id = gr.id
    LEFT JOIN ${planned} ON ${planned.id} = members.person_id LEFT JOIN ${p} ON ${p.id} = members.person_id),
  counted AS (
    SELECT id, json_build_object(${countFates}) AS members, json_build_object(${countSizes}) AS size,
      bool_or(fate IN ('movedOut', 'left')) AS is_losing
    FROM fates GROUP BY id)
  SELECT CASE WHEN gr.change IS DISTINCT FROM 'created' THEN gr.id END AS "groupId", gr.name,
    CASE WHEN ${g.name} <> gr.name THEN ${g.name} END AS "previousName", gr.type,
    gr.source_id AS "sourceSystemIdentifier", coalesce(upper(gr.change), 'NONE') AS step,
    coalesce(counted.members, ${none(memberCounts)}) AS members, coalesce(counted.size, ${none(sizes)}) AS size,
    gr.natural_key AS "naturalKey", coalesce(gr.source_id, gr.id::text) AS key
  FROM gr LEFT JOIN counted ON counted.id = gr.id LEFT JOIN ${g} ON ${g.id} = gr.id
  WHERE (${onlyLosing} IS NOT TRUE OR gr.type = 'KLASSE' AND counted.is_losing)
    AND (${search}::text IS NULL OR position(${searched(search)}
      IN ${searched(sql`concat_ws(' ', gr.name, ${g.name}, gr.source_id)`)}) > 0)
    AND (${key}::text IS NULL OR (gr.natural_key COLLATE "C", coalesce(gr.source_id, gr.id::text) COLLATE "C")
      > (${afterKey}::text COLLATE "C", ${key}::text COLLATE "C"))
  ORDER BY gr.natural_key COLLATE "C", coalesce(gr.source_id, gr.id::text) COLLATE "C" LIMIT ${limit}`,
);
