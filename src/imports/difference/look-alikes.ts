import { naturalKey, type GroupId, type SchoolId } from "../../directory/index.ts";
import { foldText } from "../../platform/text/likeness.ts";
import { fields, makeFind, sql, table, type Queryable } from "../../platform/database/sql.ts";
import { g, importGroup, m, p, plannedGroup, plannedMembership } from "./tables.ts";

type GroupType = "KLASSE" | "KURS" | "SONSTIG";
export type ExistingGroup = { groupId: GroupId; name: string; sourceSystemIdentifier: string | null; members: number };
export type RosterGroup = { name: string; sourceSystemIdentifier: string; members: number };

type LookAlike = { type: GroupType; inRoster: RosterGroup; existing: ExistingGroup };

const ending = importGroup.as("ending");
const membersOfRoster = sql`coalesce(roster.members, 0)`;
// One aggregation, because temporary tables have no indexes.
const joinRoster = sql`LEFT JOIN (
    SELECT ${plannedMembership.groupId} AS group_id, count(*)::int AS members FROM ${plannedMembership}
    WHERE ${plannedMembership.change} IS DISTINCT FROM 'removed' GROUP BY 1) AS roster
      ON roster.group_id = ${plannedGroup.id}`;
const members = sql`(SELECT count(*)::int FROM ${m} JOIN ${p} ON ${p.id} = ${m.personId}
  WHERE ${m.groupId} = ${g.id} AND ${p.status} = 'ACTIVE')`;

const selectNew = makeFind<RosterGroup & Typed>()`
  SELECT ${plannedGroup.name}, ${plannedGroup.type}, ${plannedGroup.sourceId} AS "sourceSystemIdentifier",
    ${membersOfRoster} AS members
  FROM ${plannedGroup} ${joinRoster}
    WHERE ${plannedGroup.change} = 'created' ORDER BY ${naturalKey(plannedGroup.sortKey)} COLLATE "C",
      ${plannedGroup.sourceId} COLLATE "C"`;

// A group that the files know by its own id is a different one.
const selectExisting = makeFind<ExistingGroup & Typed, { schoolId: SchoolId }>()`
  SELECT ${g.id} AS "groupId", ${g.name}, ${g.type}, ${g.sourceSystemIdentifier} AS "sourceSystemIdentifier",
    ${members} AS members
  FROM ${g} LEFT JOIN ${plannedGroup} ON ${plannedGroup.id} = ${g.id}
  WHERE ${g.schoolId} = ${"schoolId"} AND ${g.status} = 'ACTIVE' AND (${plannedGroup.id} IS NULL
    OR ${plannedGroup.change} = 'removed')
  ORDER BY ${g.naturalKey}, ${g.id}`;

export const foldGroupName = (name: string): string =>
  foldText(name)
    .replace(/^klasse(?=[^\p{L}])/u, "")
    .replace(/[^\p{L}\p{N}]/gu, "")
    .replace(/(?<!\d)0+(?=\d)/g, "");

type Typed = { type: GroupType };

export async function listLookAlikes(tx: Queryable, schoolId: SchoolId): Promise<LookAlike[]> {
  const made = await selectNew(tx, {});
  const there = await selectExisting(tx, { schoolId });
  const keyOf = ({ name, type }: Typed & { name: string }) => `${type} ${foldGroupName(name)}`;
  const byName = Map.groupBy(there, keyOf);
  return made.flatMap(({ type, ...inRoster }) =>
    (byName.get(keyOf({ type, ...inRoster })) ?? []).map(({ type: _, ...existing }) => ({ type, inRoster, existing })),
  );
}

export type GroupMove = {
  from: ExistingGroup;
  to: RosterGroup;
  moving: number;
  isCarriedOver: boolean;
  /** The other class is there already, and most of its pupils stay in it. */
  isIntoStaying: boolean;
  /** Whether the class ends if it is not carried over; null of an import that is applied. */
  endsOtherwise: boolean | null;
};

export const listGroupMoves = makeFind<GroupMove, { schoolId: SchoolId }>()`
  WITH pupils AS (
    SELECT ${m.groupId} AS from_id, ${m.personId} AS person_id
    FROM ${m} JOIN ${g} ON ${g.id} = ${m.groupId} JOIN ${p} ON ${p.id} = ${m.personId}
    WHERE ${g.schoolId} = ${"schoolId"} AND ${g.type} = 'KLASSE' AND ${g.status} = 'ACTIVE' AND ${p.status} = 'ACTIVE'
      AND ${m.role} = 'STUDENT'),
  moves AS (
    SELECT pupils.from_id, ${plannedMembership.groupId} AS to_id, count(*)::int AS moving
    FROM pupils JOIN ${plannedMembership} ON ${plannedMembership.personId} = pupils.person_id
      AND ${plannedMembership.change} IS DISTINCT FROM 'removed'
    JOIN ${plannedGroup} ON ${plannedGroup.id} = ${plannedMembership.groupId}
      AND ${plannedGroup.type} = 'KLASSE' GROUP BY 1, 2),
  most AS (
    SELECT DISTINCT ON (from_id) from_id, to_id, moving FROM moves ORDER BY from_id, moving DESC, to_id),
  sizes AS (SELECT from_id, count(*)::int AS pupils FROM pupils GROUP BY 1)
  SELECT ${fields<GroupMove>({
    from: sql`json_build_object('groupId', ${g.id}, 'name', ${g.name},
      'sourceSystemIdentifier', ${g.sourceSystemIdentifier}, 'members', ${members})`,
    to: sql`json_build_object('name', ${plannedGroup.name}, 'sourceSystemIdentifier', ${plannedGroup.sourceId},
      'members', ${membersOfRoster})`,
    moving: sql`most.moving`,
    isCarriedOver: sql`coalesce(${plannedGroup.change} = 'carried_over' AND ${plannedGroup.id} = ${g.id}, false)`,
    isIntoStaying: sql`EXISTS (SELECT FROM most AS own JOIN sizes AS size ON size.from_id = own.from_id
      WHERE own.from_id = ${plannedGroup.id} AND own.to_id = own.from_id AND own.moving * 2 > size.pupils)`,
    endsOtherwise: sql`EXISTS (SELECT FROM ${ending} WHERE ${ending.id} = ${g.id}
      AND (${ending.change} = 'removed' OR ${ending.endsOtherwise}))`,
  })}
  FROM most JOIN sizes ON sizes.from_id = most.from_id AND most.moving * 2 > sizes.pupils
  JOIN ${g} ON ${g.id} = most.from_id JOIN ${plannedGroup} ON ${plannedGroup.id} = most.to_id ${joinRoster}
  WHERE ${plannedGroup.id} <> ${g.id} OR ${plannedGroup.change} = 'carried_over'
  ORDER BY ${g.naturalKey}, ${g.id}`;
const o = table("groupCarryOver", "o");
const part = table("importSchool", "part");
const c = table("importChange", "c");

// The recorded change has the name of before; it is gone when the import can no longer be undone.
/** The groups that an applied import carried over. */
export const listCarriedOver = makeFind<GroupMove, { importId: string; schoolId: SchoolId }>()`
  SELECT ${fields<GroupMove>({
    from: sql`json_build_object('groupId', ${g.id}, 'name', coalesce(${c.before} ->> 'name', ${o.previousSourceId}),
      'sourceSystemIdentifier', ${o.previousSourceId}, 'members', ${members})`,
    to: sql`json_build_object('name', ${g.name}, 'sourceSystemIdentifier', ${o.sourceId}, 'members', ${members})`,
    moving: members,
    isCarriedOver: sql`true`,
    isIntoStaying: sql`false`,
    endsOtherwise: sql`NULL::boolean`,
  })}
  FROM ${part} JOIN ${o} ON ${o.schoolId} = ${part.schoolId} AND ${o.at} = ${part.appliedAt}
  JOIN ${g} ON ${g.schoolId} = ${o.schoolId} AND ${g.sourceSystemIdentifier} = ${o.sourceId}
  LEFT JOIN ${c} ON ${c.importId} = ${"importId"} AND ${c.subjectId} = ${g.id}
  WHERE ${part.importId} = ${"importId"} AND ${part.schoolId} = ${"schoolId"}
  ORDER BY ${g.naturalKey}, ${g.id}`;
