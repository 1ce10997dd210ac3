import { naturalKey } from "../../directory/index.ts";
import type { GroupId, PersonId, PersonName, PersonRole, SchoolId } from "../../directory/index.ts";
import { fields, join, literal, makeFind, makeFindOne, searched, sql, table } from "../../platform/database/sql.ts";
import type { Part, Sql } from "../../platform/database/sql.ts";
import { isRenamed } from "./holds.ts";
import { g, planned, isActiveAfter, leaves, m, p, plannedGroup, plannedMembership } from "./tables.ts";
import type { ListCounts } from "../state/record.ts";

const personKinds = [
  "NEW",
  "RESTORED",
  "JOINING",
  "CHANGED",
  "RENAMED",
  "CLASSES_CHANGED",
  "GROUPS_CHANGED",
  "WITHOUT_CLASS",
  "LEAVING",
  "KEPT",
] as const;
type PersonKind = (typeof personKinds)[number];

/** A person at the school before or after an import; `groups` are those that are no classes. */
type PersonState = { name: PersonName | null; role: PersonRole; classes: string[]; groups: string[] };

/** `before` is null for people who are not at the school yet, `after` for people who leave it. */
export type PersonOfImport = {
  id: PersonId | null;
  kinds: PersonKind[];
  sourceSystemIdentifier: string | null;
  before: PersonState | null;
  after: PersonState | null;
  losesAccess: boolean;
  sortKey: string;
  key: string;
};

const names = table("person", "names");
type Names = Pick<typeof names, "firstFull" | "firstCall" | "last">;

const listedName = ({ firstFull, firstCall, last }: Names) => sql`CASE WHEN ${firstFull} IS NOT NULL
  THEN json_build_object('firstFull', ${firstFull}, 'firstCall', ${firstCall}, 'last', ${last}) END`;
const stateOf = (
  name: Names,
  role: Sql,
  side: Sql,
) => sql`json_build_object('name', ${listedName(name)}, 'role', ${role},
  'classes', coalesce(${side}.classes, '{}'), 'groups', coalesce(${side}.groups, '{}'))`;

const isThere = sql`(${p.status} = 'ACTIVE')`;
const arrives = sql`(${planned.change} IN ('created', 'restored') OR ${planned.joins})`;
const stays = sql`(${leaves} IS NOT TRUE AND (${isThere} OR ${arrives}))`;
const roleAfter = sql`coalesce(${planned.role}, ${p.role})`;
const wasMoved = (column: Sql) => sql`${stays} AND ${arrives} IS NOT TRUE AND ${column}`;

const isOfKind: Record<PersonKind, Sql> = {
  NEW: sql`${planned.change} = 'created'`,
  RESTORED: sql`${planned.change} = 'restored'`,
  JOINING: sql`${planned.change} IS NULL AND ${planned.joins} AND ${planned.id} IS NOT NULL`,
  CHANGED: sql`${planned.change} = 'changed'`,
  RENAMED: isRenamed,
  CLASSES_CHANGED: wasMoved(sql`moved.class`),
  GROUPS_CHANGED: wasMoved(sql`moved.other`),
  WITHOUT_CLASS: sql`${stays} AND ${roleAfter} = 'STUDENT' AND coalesce(cardinality(will.classes), 0) = 0
    AND (${planned.id} IS NOT NULL AND ${arrives} OR moved.class)`,
  LEAVING: leaves,
  KEPT: planned.isKept,
};

const kinds = sql`array_remove(ARRAY[${join(
  personKinds.map((kind) => sql`CASE WHEN ${isOfKind[kind]} THEN ${literal(kind)} END`),
)}], NULL)`;

/** SQL: the classes and other groups of each person in rows of `person_id`, `type`, `natural_key` and `name`. */
const groupsOf = (rows: Sql) => sql`
  SELECT person_id,
    coalesce(array_agg(name ORDER BY natural_key, name) FILTER (WHERE type = 'KLASSE'), '{}') AS classes,
    coalesce(array_agg(name ORDER BY natural_key, name) FILTER (WHERE type <> 'KLASSE'), '{}') AS groups
  FROM ${rows} GROUP BY person_id`;

/** SQL: CTEs of memberships `before` and `after` the import, and of the people whom it concerns, `listed`. */
const listing = (schoolId: Part) => sql`
  group_after AS MATERIALIZED (
    SELECT coalesce(${plannedGroup.id}, ${g.id}) AS id, coalesce(${plannedGroup.name}, ${g.name}) AS name,
      coalesce(${plannedGroup.type}, ${g.type}) AS type, coalesce(${naturalKey(plannedGroup.sortKey)},
        ${g.naturalKey}) AS natural_key
    FROM ${plannedGroup} FULL JOIN (SELECT * FROM ${g} WHERE ${g.schoolId} = ${schoolId}) AS g
      ON ${g.id} = ${plannedGroup.id}
    WHERE ${isActiveAfter(plannedGroup)}),
  before AS MATERIALIZED (
    SELECT ${m.groupId}, ${m.personId}, ${g.name}, ${g.type}, ${g.naturalKey}
    FROM ${m} JOIN ${g} ON ${g.id} = ${m.groupId} AND ${g.status} = 'ACTIVE'
    JOIN ${p} ON ${p.id} = ${m.personId} AND ${isThere} WHERE ${m.schoolId} = ${schoolId}),
  after AS MATERIALIZED (
    SELECT members.group_id, members.person_id, name, type, natural_key
    FROM (
      SELECT ${m.groupId}, ${m.personId}
      FROM ${m} JOIN ${g} ON ${g.id} = ${m.groupId} AND ${g.status} = 'ACTIVE' LEFT JOIN ${plannedMembership}
        ON ${plannedMembership.groupId} = ${m.groupId}
        AND ${plannedMembership.personId} = ${m.personId} AND ${plannedMembership.change} = 'removed'
      WHERE ${m.schoolId} = ${schoolId} AND ${plannedMembership.groupId} IS NULL
      UNION ALL SELECT ${plannedMembership.groupId}, ${plannedMembership.personId} FROM ${plannedMembership}
        WHERE ${plannedMembership.change} = 'created') AS members
    JOIN group_after ON group_after.id = members.group_id),
  was AS MATERIALIZED (${groupsOf(sql`before`)}),
  will AS MATERIALIZED (${groupsOf(sql`after`)}),
  moved AS MATERIALIZED (
    SELECT person_id, bool_or(type = 'KLASSE') AS class, bool_or(type <> 'KLASSE') AS other
    FROM (SELECT person_id, coalesce(after.type, before.type) AS type
      FROM before FULL JOIN after USING (group_id, person_id)
      WHERE before.type IS NULL OR after.type IS NULL) AS each_group GROUP BY person_id),
  listed AS MATERIALIZED (
    SELECT ${fields<PersonOfImport>({
      id: p.id,
      kinds,
      sourceSystemIdentifier: sql`coalesce(${planned.sourceId}, ${p.sourceSystemIdentifier})`,
      before: sql`CASE WHEN ${p.id} IS NOT NULL AND ${planned.joins} IS NOT TRUE
        THEN ${stateOf(p, p.role, sql`was`)} END`,
      after: sql`CASE WHEN NOT ${stays} THEN NULL WHEN ${planned.isStaged}
        THEN ${stateOf(planned, roleAfter, sql`will`)}
        ELSE ${stateOf(p, p.role, sql`will`)} END`,
      losesAccess: sql`coalesce(${planned.change} = 'removed', false)`,
      sortKey: sql`CASE WHEN ${planned.isStaged} AND ${stays} THEN ${planned.sortKey} ELSE ${p.sortKey} END`,
      key: sql`coalesce(${p.id}::text, ${planned.sourceId})`,
    })},
      concat_ws(' ', ${planned.firstFull}, ${planned.firstCall}, ${planned.last}, ${p.firstFull}, ${p.firstCall},
        ${p.last}, ${planned.sourceId},
        ${p.sourceSystemIdentifier}, array_to_string(was.classes, ' '), array_to_string(will.classes, ' ')) AS text
    FROM ${planned} FULL JOIN moved ON moved.person_id = ${planned.id}
    LEFT JOIN ${p} ON ${p.id} = coalesce(${planned.id}, moved.person_id)
    LEFT JOIN was ON was.person_id = ${p.id}
    LEFT JOIN will ON will.person_id = coalesce(${planned.id}, moved.person_id))`;

type Page = {
  schoolId: SchoolId;
  kind?: PersonKind | undefined;
  /** People who are in this group and will no longer be. */
  leavesGroup?: GroupId | undefined;
  words?: readonly string[] | undefined;
  sortKey?: string | undefined;
  key?: string | undefined;
  limit: number;
};

export const listPeopleOfImport = makeFind<PersonOfImport, Page>()`
  WITH ${({ schoolId }) => listing(schoolId)}
  SELECT id, kinds, "sourceSystemIdentifier", before, after, "losesAccess", "sortKey", key FROM listed
  WHERE cardinality(kinds) > 0 AND (${"kind"}::text IS NULL OR ${"kind"}::text = ANY (kinds))
    AND (${"leavesGroup"}::uuid IS NULL OR EXISTS (
        SELECT FROM before WHERE before.person_id = listed.id AND before.group_id = ${"leavesGroup"}::uuid)
      AND (after IS NULL OR NOT EXISTS (
        SELECT FROM after WHERE after.person_id = listed.id AND after.group_id = ${"leavesGroup"}::uuid)))
    AND (${"words"}::text[] IS NULL OR NOT EXISTS (
      SELECT FROM unnest(${"words"}::text[]) AS word
        WHERE position(${searched(sql`word`)} IN ${searched(sql`text`)}) = 0))
    AND (${"key"}::text IS NULL
      OR ("sortKey" COLLATE "C", key COLLATE "C") > (${"sortKey"}::text COLLATE "C", ${"key"}::text COLLATE "C"))
  ORDER BY "sortKey" COLLATE "C", key COLLATE "C" LIMIT ${"limit"}`;

const countKind = (kind: PersonKind) => sql`(SELECT count(*)::int FROM listed WHERE ${literal(kind)} = ANY (kinds))`;

export const countLists = makeFindOne<ListCounts, { schoolId: SchoolId }>()`
  WITH ${({ schoolId }) => listing(schoolId)}
  SELECT ${fields<ListCounts>({
    renamed: countKind("RENAMED"),
    classesChanged: countKind("CLASSES_CHANGED"),
    groupsChanged: countKind("GROUPS_CHANGED"),
    withoutClass: countKind("WITHOUT_CLASS"),
    losingClasses: sql`(
      SELECT count(DISTINCT before.group_id)::int FROM before LEFT JOIN after USING (group_id, person_id)
      WHERE before.type = 'KLASSE' AND (after.type IS NULL
        OR before.person_id IN (SELECT ${planned.id} FROM ${planned} WHERE ${leaves})))`,
  })}`;
