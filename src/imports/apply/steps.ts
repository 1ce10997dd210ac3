import { groupStatusAfter, personStatusAfter, sourceIdAtNextHome, type SchoolId } from "../../directory/index.ts";
import { analyzeFilled } from "../../platform/database/statistics.ts";
import { insert, run, sql, statement, table, update, newId } from "../../platform/database/sql.ts";
import type { Queryable, Part, Statement } from "../../platform/database/sql.ts";
import type { Counts } from "../state/record.ts";
import { a, g, i, importGroup, importMembership, m, p } from "../difference/tables.ts";

const ig = importGroup.as("i");
const im = importMembership.as("i");
const nothing = sql`NULL`;
const personFields = { role: i.role, firstFull: i.firstFull, firstCall: i.firstCall, last: i.last, sortKey: i.sortKey };
const groupFields = { name: ig.name, sortKey: ig.sortKey, type: ig.type, sourceSystemIdentifier: ig.sourceId };

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
/** SQL: the person who leaves is kept for a time. */
const isKept = ({ now, keepsLeavers }: { now: Part; keepsLeavers: Part }) => sql`(${keepsLeavers} OR EXISTS (
  SELECT FROM ${exemption} WHERE ${exemption.personId} = ${p.id} AND ${exemption.until} > ${now}))`;

const hasLeft = sql`${i.id} = ${p.id} AND ${i.change} = 'removed' AND ${p.leftAt} IS NOT NULL`;

type PeopleSteps = "create" | "join" | "change" | "keep" | "endClasses" | "endOthers" | "noteSchool" | "remove";

const people: Record<PeopleSteps | "leave" | "changeHome" | "leaveHome", Write> = {
  create: statement(({ schoolId, schools, now }) =>
    insert(
      "person",
      {
        id: i.id,
        homeSchoolId: schoolId,
        ...personFields,
        sourceSystemIdentifier: i.sourceId,
        createdAt: now,
        updatedAt: now,
        sourceIdIsShared: sql`cardinality(${schools}::uuid[]) > 1`,
      },
      sql`FROM ${i} WHERE ${i.change} = 'created'`,
    ),
  ),
  join: statement(({ schoolId, now }) =>
    insert(
      "affiliation",
      { id: newId(now), personId: i.id, schoolId },
      sql`FROM ${i} WHERE ${i.joins} AND ${i.id} IS NOT NULL`,
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
      retentionFrom: sql`CASE WHEN ${i.change} = 'restored' OR ${p.homeSchoolId} <> ${schoolId} THEN ${now}
        ELSE ${p.retentionFrom} END`,
      updatedAt: now,
    })}
    FROM ${i} WHERE ${i.id} = ${p.id} AND ${i.change} IN ('changed', 'restored')`,
  ),
  keep: statement(
    (values) => sql`
    ${update("person", "p", { leftAt: values.now, updatedAt: values.now })}
    FROM ${i} WHERE ${i.id} = ${p.id} AND ${i.change} = 'removed' AND ${isKept(values)}`,
  ),
  endClasses: statement(() => sql`DELETE FROM ${m} USING ${i}, ${p} WHERE ${hasLeft} AND ${m.personId} = ${i.id}`),
  endOthers: statement(
    ({ schoolId }) => sql`
    DELETE FROM ${a} USING ${i}, ${p} WHERE ${hasLeft} AND ${a.personId} = ${i.id} AND ${a.schoolId} <> ${schoolId}`,
  ),
  noteSchool: statement(
    ({ schoolId, now }) => sql`
    ${insert(
      "retentionCheck",
      { schoolId, checkAt: now },
      sql`WHERE EXISTS (SELECT FROM ${i} JOIN ${p} ON ${hasLeft})`,
    )} ON CONFLICT DO NOTHING`,
  ),
  remove: statement(
    ({ now, purgeAt }) => sql`
    ${update("person", "p", { status: personStatusAfter("softDelete"), softDeletedAt: now, purgeAt, updatedAt: now })}
    FROM ${i} WHERE ${i.id} = ${p.id} AND ${i.change} = 'removed' AND ${p.leftAt} IS NULL`,
  ),
  leave: statement(
    ({ schoolId }) => sql`
    DELETE FROM ${a} USING ${i}
    WHERE ${i.leaves} AND ${i.nextHome} IS NULL AND ${a.personId} = ${i.id} AND ${a.schoolId} = ${schoolId}`,
  ),
  changeHome: statement(
    ({ now }) => sql`
    ${update("person", "p", {
      homeSchoolId: i.nextHome,
      updatedAt: now,
      leftAt: nothing,
      retentionFrom: now,
      sourceSystemIdentifier: sourceIdAtNextHome(i.nextHome),
    })}
    FROM ${i} WHERE ${i.nextHome} IS NOT NULL AND ${i.id} = ${p.id}`,
  ),
  leaveHome: statement(
    ({ schools }) => sql`
    DELETE FROM ${a} USING ${i}
    WHERE ${i.nextHome} IS NOT NULL AND ${a.personId} = ${i.id} AND ${a.schoolId} = ANY (${schools})`,
  ),
};

const groups: Record<"freeIds" | "create" | "forgetMembers" | "change" | "remove", Write> = {
  // Frees moving ids first. A group that loses its id to another one is no longer managed by imports.
  freeIds: statement(
    ({ schoolId }) => sql`
    ${update("group", "g", { sourceSystemIdentifier: nothing })} FROM ${ig}
    WHERE ${g.schoolId} = ${schoolId} AND ${ig.change} = 'carried_over'
      AND (${g.id} = ${ig.id} OR ${g.sourceSystemIdentifier} = ${ig.sourceId})`,
  ),
  create: statement(({ schoolId, now }) =>
    insert(
      "group",
      { id: ig.id, schoolId, ...groupFields, createdAt: now, updatedAt: now },
      sql`FROM ${ig} WHERE ${ig.change} = 'created'`,
    ),
  ),
  // A group that comes back has the members whom the files name, not those of before.
  forgetMembers: statement(
    () => sql`DELETE FROM ${m} USING ${ig}, ${g} WHERE ${ig.change} IN ('restored', 'carried_over')
      AND ${g.id} = ${ig.id} AND ${g.status} <> 'ACTIVE' AND ${m.groupId} = ${g.id}`,
  ),
  change: statement(
    ({ now }) => sql`
    ${update("group", "g", {
      ...groupFields,
      status: groupStatusAfter("restore"),
      deletedAt: nothing,
      updatedAt: now,
    })}
    FROM ${ig} WHERE ${ig.id} = ${g.id} AND ${ig.change} IN ('changed', 'restored', 'carried_over')`,
  ),
  remove: statement(
    ({ now }) => sql`
    ${update("group", "g", { status: groupStatusAfter("delete"), deletedAt: now, updatedAt: now })}
    FROM ${ig} WHERE ${ig.id} = ${g.id} AND ${ig.change} = 'removed'`,
  ),
};

const isSame = sql`${m.groupId} = ${im.groupId} AND ${m.personId} = ${im.personId}`;

const memberships: Record<"remove" | "change" | "create", Write> = {
  remove: statement(() => sql`DELETE FROM ${m} USING ${im} WHERE ${im.change} = 'removed' AND ${isSame}`),
  change: statement(
    () => sql`${update("membership", "m", { role: im.role })} FROM ${im} WHERE ${im.change} = 'changed' AND ${isSame}`,
  ),
  create: statement(({ schoolId }) =>
    insert(
      "membership",
      { groupId: im.groupId, personId: im.personId, schoolId, role: im.role },
      sql`FROM ${im} WHERE ${im.change} = 'created'`,
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
export const shareSourceIds = statement<{ schoolId: SchoolId }>(
  ({ schoolId }) => sql`
  ${update("person", "p", { sourceIdIsShared: sql`true` })} FROM ${i}
  WHERE ${i.isStaged} AND NOT ${i.isGone} AND ${i.id} = ${p.id} AND ${p.homeSchoolId} = ${schoolId}
    AND ${p.sourceSystemIdentifier} = ${i.sourceId} AND NOT ${p.sourceIdIsShared}`,
);
