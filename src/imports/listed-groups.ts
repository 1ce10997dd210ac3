import { naturalKey, type GroupId, type SchoolId } from "../directory/index.ts";
import { findRows, join, literal, sql, statement, type Part, type Queryable } from "../platform/database/sql.ts";
import { g, i, importGroup, importMembership, leaves, m, p } from "./tables.ts";

export type GroupStep = "CREATED" | "CHANGED" | "CARRIED_OVER" | "RESTORED" | "REMOVED" | "NONE";

const memberCounts = ["new", "movedIn", "movedOut", "left", "changed", "same"] as const;

export type GroupChange = {
  groupId: GroupId | null;
  name: string;
  previousName: string | null;
  type: "KLASSE" | "KURS" | "SONSTIG";
  sourceSystemIdentifier: string | null;
  step: GroupStep;
  members: Record<(typeof memberCounts)[number], number>;
  naturalKey: string;
  key: string;
};

const [ig, im] = [importGroup.as("ig"), importMembership.as("im")];

/** SQL: the groups of the difference, and groups that only lose people who leave the school. */
const groups = (schoolId: Part) => sql`
  SELECT ${ig.id}, ${ig.sourceId}, ${ig.name}, ${naturalKey(ig.sortKey)} AS natural_key, ${ig.type}, ${ig.change} FROM ${ig}
  UNION ALL
  SELECT ${g.id}, ${g.sourceSystemIdentifier}, ${g.name}, ${g.naturalKey}, ${g.type}, NULL FROM ${g}
  WHERE ${g.schoolId} = ${schoolId} AND ${g.status} = 'ACTIVE' AND ${g.id} NOT IN (SELECT ${ig.id} FROM ${ig})
    AND EXISTS (SELECT FROM ${m} JOIN ${i} ON ${i.id} = ${m.personId} WHERE ${m.groupId} = ${g.id} AND ${leaves})`;

const fate = sql`CASE
  WHEN ${leaves} THEN CASE WHEN members.was AND ${p.status} = 'ACTIVE' THEN 'left' END
  WHEN members.change = 'removed' OR gr.change = 'removed' THEN CASE WHEN ${p.status} = 'ACTIVE' THEN 'movedOut' END
  WHEN ${i.change} IN ('created', 'restored') OR ${i.joins} THEN 'new'
  WHEN members.change = 'created' THEN 'movedIn'
  WHEN ${p.status} <> 'ACTIVE' THEN NULL
  WHEN ${i.change} = 'changed' OR members.change = 'changed' THEN 'changed'
  ELSE 'same' END`;

const countFates = join(
  memberCounts.map((name) => sql`${literal(name)}, count(*) FILTER (WHERE fate = ${literal(name)})`),
);
const noMembers = join(memberCounts.map((name) => sql`${literal(name)}, 0`));

type Page = { schoolId: SchoolId; naturalKey?: string | undefined; key?: string | undefined; limit: number };
const selectChanges = statement<Page>(
  ({ schoolId, naturalKey: afterKey, key, limit }) => sql`
  WITH gr AS MATERIALIZED (${groups(schoolId)}),
  members AS (
    SELECT coalesce(was.group_id, ${im.groupId}) AS group_id, coalesce(was.person_id, ${im.personId}) AS person_id,
      was.group_id IS NOT NULL AS was, ${im.change}
    FROM (SELECT ${m.groupId}, ${m.personId} FROM ${m} WHERE ${m.groupId} IN (SELECT id FROM gr)) AS was
    FULL JOIN ${im} ON ${im.groupId} = was.group_id AND ${im.personId} = was.person_id),
  fates AS (
    SELECT gr.id, ${fate} AS fate FROM gr JOIN members ON members.group_id = gr.id
    LEFT JOIN ${i} ON ${i.id} = members.person_id LEFT JOIN ${p} ON ${p.id} = members.person_id),
  counted AS (SELECT id, json_build_object(${countFates}) AS members FROM fates GROUP BY id)
  SELECT CASE WHEN gr.change IS DISTINCT FROM 'created' THEN gr.id END AS "groupId", gr.name,
    CASE WHEN ${g.name} <> gr.name THEN ${g.name} END AS "previousName", gr.type,
    gr.source_id AS "sourceSystemIdentifier", coalesce(upper(gr.change), 'NONE') AS step,
    coalesce(counted.members, json_build_object(${noMembers})) AS members,
    gr.natural_key AS "naturalKey", coalesce(gr.source_id, gr.id::text) AS key
  FROM gr LEFT JOIN counted ON counted.id = gr.id LEFT JOIN ${g} ON ${g.id} = gr.id
  WHERE ${key}::text IS NULL OR (gr.natural_key COLLATE "C", coalesce(gr.source_id, gr.id::text) COLLATE "C")
    > (${afterKey}::text COLLATE "C", ${key}::text COLLATE "C")
  ORDER BY gr.natural_key COLLATE "C", coalesce(gr.source_id, gr.id::text) COLLATE "C" LIMIT ${limit}`,
);

type PageRequest = { schoolId: SchoolId; after?: { naturalKey: string; key: string } | undefined; limit: number };

export const listGroupChanges = (tx: Queryable, { after, ...page }: PageRequest): Promise<GroupChange[]> =>
  findRows<GroupChange, Page>(tx, selectChanges, { ...page, ...after });
