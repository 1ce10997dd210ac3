import { groupStatusAfter, personStatusAfter, sourceIdAtNextHome, type SchoolId } from "../../directory/index.ts";
import { analyzeFilled } from "../../platform/database/statistics.ts";
import { insert, run, sql, statement, table, update, newId } from "../../platform/database/sql.ts";
import type { Queryable, Part, Statement } from "../../platform/database/sql.ts";
import type { Counts } from "../state/record.ts";
import { a, g, isAmong, planned, m, p, plannedGroup, plannedMembership } from "../difference/tables.ts";

const nothing = sql`NULL`;
const personFields = {
  role: planned.role,
  firstFull: planned.firstFull,
  firstCall: planned.firstCall,
  last: planned.last,
  sortKey: planned.sortKey,
};
const groupFields = {
  name: plannedGroup.name,
  sortKey: plannedGroup.sortKey,
  type: plannedGroup.type,
  sourceSystemIdentifier: plannedGroup.sourceId,
};

/** `keepsLeavers`: the school keeps people who left for a time before they are soft-deleted. */
type Values = {
  schoolId: SchoolId;
  schools: readonly SchoolId[];
  now: Date;
  purgeAt: Date;
  keepsLeavers: boolean;
};
type Write = Statement<Values>;

const exemption = table("retentionExemption", "exemption");
const isKept = ({ now, keepsLeavers }: { now: Part; keepsLeavers: Part }) => sql`(${keepsLeavers} OR EXISTS (
  SELECT FROM ${exemption} WHERE ${exemption.personId} = ${p.id} AND ${exemption.until} > ${now}))`;

const hasLeft = sql`${planned.id} = ${p.id} AND ${planned.change} = 'removed' AND ${p.leftAt} IS NOT NULL`;

type PeopleSteps = "create" | "join" | "change" | "keep" | "endClasses" | "endOthers" | "noteSchool" | "remove";

const people: Record<PeopleSteps | "leave" | "changeHome" | "leaveHome", Write> = {
  create: statement(({ schoolId, schools, now }) =>
    insert(
      "person",
      {
        id: planned.id,
        homeSchoolId: schoolId,
        ...personFields,
        sourceSystemIdentifier: planned.sourceId,
        createdAt: now,
        updatedAt: now,
        sourceIdIsShared: sql`cardinality(${schools}::uuid[]) > 1`,
      },
      sql`FROM ${planned} WHERE ${planned.change} = 'created'`,
    ),
  ),
  join: statement(({ schoolId, now }) =>
    insert(
      "affiliation",
      { id: newId(now), personId: planned.id, schoolId },
      sql`FROM ${planned} WHERE ${planned.joins} AND ${planned.id} IS NOT NULL`,
    ),
  ),
  change: statement(
    ({ schoolId, now }) => sql`
    ${update("person", "p", {
      homeSchoolId: schoolId,
      ...personFields,
      status: personStatusAfter("restore"),
      softDeletedAt: nothing,
      purgeAt: nothing,
      leftAt: nothing,
      retentionFrom: sql`CASE WHEN ${planned.change} = 'restored' OR ${p.homeSchoolId} <> ${schoolId} THEN ${now}
        ELSE ${p.retentionFrom} END`,
      updatedAt: now,
    })}
    FROM ${planned} WHERE ${planned.id} = ${p.id} AND ${planned.change} IN ('changed', 'restored')`,
  ),
  keep: statement(
    (values) => sql`
    ${update("person", "p", { leftAt: values.now, updatedAt: values.now })}
    FROM ${planned} WHERE ${planned.id} = ${p.id} AND ${planned.change} = 'removed' AND ${isKept(values)}`,
  ),
  endClasses: statement()`DELETE FROM ${m} USING ${planned}, ${p} WHERE ${hasLeft} AND ${m.personId} = ${planned.id}`,
  endOthers: statement(
    ({ schoolId }) => sql`
    DELETE FROM ${a} USING ${planned}, ${p} WHERE ${hasLeft} AND ${a.personId} = ${planned.id}
      AND ${a.schoolId} <> ${schoolId}`,
  ),
  noteSchool: statement(
    ({ schoolId, now }) => sql`
    ${insert(
      "retentionCheck",
      { schoolId, checkAt: now },
      sql`WHERE EXISTS (SELECT FROM ${planned} JOIN ${p} ON ${hasLeft})`,
    )} ON CONFLICT DO NOTHING`,
  ),
  remove: statement(
    ({ now, purgeAt }) => sql`
    ${update("person", "p", { status: personStatusAfter("softDelete"), softDeletedAt: now, purgeAt, updatedAt: now })}
    FROM ${planned} WHERE ${planned.id} = ${p.id} AND ${planned.change} = 'removed' AND ${p.leftAt} IS NULL`,
  ),
  leave: statement(
    ({ schoolId }) => sql`
    DELETE FROM ${a} USING ${planned}
    WHERE ${planned.leaves} AND ${planned.nextHome} IS NULL AND ${a.personId} = ${planned.id}
      AND ${a.schoolId} = ${schoolId}`,
  ),
  changeHome: statement(
    ({ now }) => sql`
    ${update("person", "p", {
      homeSchoolId: planned.nextHome,
      updatedAt: now,
      leftAt: nothing,
      retentionFrom: now,
      sourceSystemIdentifier: sourceIdAtNextHome(planned.nextHome),
    })}
    FROM ${planned} WHERE ${planned.nextHome} IS NOT NULL AND ${planned.id} = ${p.id}`,
  ),
  leaveHome: statement(
    ({ schools }) => sql`
    DELETE FROM ${a} USING ${planned}
    WHERE ${planned.nextHome} IS NOT NULL AND ${a.personId} = ${planned.id} AND ${isAmong(a.schoolId, schools)}`,
  ),
};

const groups: Record<"freeIds" | "create" | "forgetMembers" | "change" | "remove", Write> = {
  // Frees moving ids first. A group that loses its id to another one is no longer managed by imports.
  freeIds: statement(
    ({ schoolId }) => sql`
    ${update("group", "g", { sourceSystemIdentifier: nothing })} FROM ${plannedGroup}
    WHERE ${g.schoolId} = ${schoolId} AND ${plannedGroup.change} = 'carried_over'
      AND (${g.id} = ${plannedGroup.id} OR ${g.sourceSystemIdentifier} = ${plannedGroup.sourceId})`,
  ),
  create: statement(({ schoolId, now }) =>
    insert(
      "group",
      { id: plannedGroup.id, schoolId, ...groupFields, createdAt: now, updatedAt: now },
      sql`FROM ${plannedGroup} WHERE ${plannedGroup.change} = 'created'`,
    ),
  ),
  // A group that comes back has only the members that the files name.
  forgetMembers: statement()`
    DELETE FROM ${m} USING ${plannedGroup}, ${g} WHERE ${plannedGroup.change} IN ('restored', 'carried_over')
      AND ${g.id} = ${plannedGroup.id} AND ${g.status} <> 'ACTIVE' AND ${m.groupId} = ${g.id}`,
  change: statement(
    ({ now }) => sql`
    ${update("group", "g", {
      ...groupFields,
      status: groupStatusAfter("restore"),
      deletedAt: nothing,
      updatedAt: now,
    })}
    FROM ${plannedGroup} WHERE ${plannedGroup.id} = ${g.id} AND ${plannedGroup.change} IN ('changed', 'restored',
      'carried_over')`,
  ),
  remove: statement(
    ({ now }) => sql`
    ${update("group", "g", { status: groupStatusAfter("delete"), deletedAt: now, updatedAt: now })}
    FROM ${plannedGroup} WHERE ${plannedGroup.id} = ${g.id} AND ${plannedGroup.change} = 'removed'`,
  ),
};

const isSame = sql`${m.groupId} = ${plannedMembership.groupId} AND ${m.personId} = ${plannedMembership.personId}`;

const memberships: Record<"remove" | "change" | "create", Write> = {
  remove: statement()`
    DELETE FROM ${m} USING ${plannedMembership} WHERE ${plannedMembership.change} = 'removed' AND ${isSame}`,
  change: statement()`${update("membership", "m", { role: plannedMembership.role })} FROM ${plannedMembership}
      WHERE ${plannedMembership.change} = 'changed' AND ${isSame}`,
  create: statement(({ schoolId }) =>
    insert(
      "membership",
      {
        groupId: plannedMembership.groupId,
        personId: plannedMembership.personId,
        schoolId,
        role: plannedMembership.role,
      },
      sql`FROM ${plannedMembership} WHERE ${plannedMembership.change} = 'created'`,
    ),
  ),
};

function listSteps({ people: of, groups: ofGroups, memberships: ofMemberships }: Counts): [number, Write][] {
  return [
    [of.created, people.create],
    [of.created + of.changed + of.restored + of.joined, people.join],
    [of.changed + of.restored, people.change],
    [of.removed, people.keep],
    [of.removed, people.endClasses],
    [of.removed, people.endOthers],
    [of.removed, people.noteSchool],
    [of.removed, people.remove],
    [of.left, people.leave],
    [of.leftHome, people.changeHome],
    [of.leftHome, people.leaveHome],
    [ofGroups.carriedOver, groups.freeIds],
    [ofGroups.created, groups.create],
    [ofGroups.restored + ofGroups.carriedOver, groups.forgetMembers],
    [ofGroups.changed + ofGroups.restored + ofGroups.carriedOver, groups.change],
    [ofGroups.removed, groups.remove],
    [ofMemberships.removed, memberships.remove],
    [ofMemberships.changed, memberships.change],
    [ofMemberships.created, memberships.create],
  ];
}

export async function writeDifference(tx: Queryable, values: Values, counts: Counts): Promise<void> {
  for (const [rows, write] of listSteps(counts)) {
    if (rows === 0) continue;
    await run(tx, write, values);
    await analyzeFilled(tx);
  }
}

const s = table("stagedGroup", "s");

/** Recorded even without a previous group, so that a group made by this file is not carried over the next time. */
export const recordCarryOvers = statement<{ importId: string; schoolId: SchoolId; schoolYear: string; now: Date }>(
  ({ importId, schoolId, schoolYear, now }) => sql`
  ${insert(
    "groupCarryOver",
    { schoolId, schoolYear, previousSourceId: s.previousSourceId, sourceId: s.sourceId, at: now },
    sql`FROM ${s} WHERE ${s.importId} = ${importId} AND ${s.schoolId} = ${schoolId} AND NOT ${s.isDeleted}
      AND ${s.previousSourceId} <> ${s.sourceId}`,
  )}
  ON CONFLICT DO NOTHING`,
);

/** Marks people whose id comes from files of several schools. Apps do not see this, so it is no change. */
export const shareSourceIds = statement<{ schoolId: SchoolId }>()`
  ${update("person", "p", { sourceIdIsShared: sql`true` })} FROM ${planned}
  WHERE ${planned.isStaged} AND NOT ${planned.isGone} AND ${planned.id} = ${p.id} AND ${p.homeSchoolId} = ${"schoolId"}
    AND ${p.sourceSystemIdentifier} = ${planned.sourceId} AND NOT ${p.sourceIdIsShared}`;
