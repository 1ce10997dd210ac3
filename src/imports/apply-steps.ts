import { groupStatusAfter, personStatusAfter, sourceIdAtNextHome, type SchoolId } from "../directory/index.ts";
import type { Queryable } from "../platform/database/db.ts";
import { insert, run, sql, statement, table, update, type Statement } from "../platform/database/sql.ts";
import type { Counts } from "./counts.ts";
import { newId } from "./difference-people.ts";
import { a, g, i, importGroup, importMembership, m, p } from "./tables.ts";

const ig = importGroup.as("i");
const im = importMembership.as("i");
const nothing = sql`NULL`;

/** What the statements are given. `schools` are all that the import names. */
type Given = { schoolId: SchoolId; schools: readonly SchoolId[]; now: Date; purgeAt: Date };
type Write = Statement<Given>;

const people: Record<"create" | "join" | "change" | "remove" | "leave" | "changeHome" | "leaveHome", Write> = {
  create: statement(({ schoolId, schools, now }) =>
    insert(
      "person",
      {
        id: i.id,
        homeSchoolId: schoolId,
        role: i.role,
        firstFull: i.firstFull,
        firstCall: i.firstCall,
        last: i.last,
        sortKey: i.sortKey,
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
      role: i.role,
      firstFull: i.firstFull,
      firstCall: i.firstCall,
      last: i.last,
      sortKey: i.sortKey,
      status: personStatusAfter("restore"),
      softDeletedAt: nothing,
      purgeAt: nothing,
      updatedAt: now,
    })}
    FROM ${i} WHERE ${i.id} = ${p.id} AND ${i.change} IN ('changed', 'restored')`,
  ),
  remove: statement(
    ({ now, purgeAt }) => sql`
    ${update("person", "p", { status: personStatusAfter("softDelete"), softDeletedAt: now, purgeAt, updatedAt: now })}
    FROM ${i} WHERE ${i.id} = ${p.id} AND ${i.change} = 'removed'`,
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

const groups: Record<"freeIds" | "create" | "change" | "remove", Write> = {
  // Ids that go from group to group are freed first; a group that lost its id to another one is not the import's then.
  freeIds: statement(
    ({ schoolId }) => sql`
    ${update("group", "g", { sourceSystemIdentifier: nothing })} FROM ${ig}
    WHERE ${g.schoolId} = ${schoolId} AND ${ig.change} = 'carried_over'
      AND (${g.id} = ${ig.id} OR ${g.sourceSystemIdentifier} = ${ig.sourceId})`,
  ),
  create: statement(({ schoolId, now }) =>
    insert(
      "group",
      {
        id: ig.id,
        schoolId,
        name: ig.name,
        sortKey: ig.sortKey,
        type: ig.type,
        sourceSystemIdentifier: ig.sourceId,
        createdAt: now,
        updatedAt: now,
      },
      sql`FROM ${ig} WHERE ${ig.change} = 'created'`,
    ),
  ),
  change: statement(
    ({ now }) => sql`
    ${update("group", "g", {
      name: ig.name,
      sortKey: ig.sortKey,
      type: ig.type,
      sourceSystemIdentifier: ig.sourceId,
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

/** The statements in their order, each with the number of rows that it is for. */
function listSteps({ people: of, groups: ofGroups, memberships: ofMemberships }: Counts): [number, Write][] {
  return [
    [of.created, people.create],
    // Whoever is changed or restored may come from another school.
    [of.created + of.changed + of.restored + of.joined, people.join],
    [of.changed + of.restored, people.change],
    [of.removed, people.remove],
    [of.left, people.leave],
    [of.leftHome, people.changeHome],
    [of.leftHome, people.leaveHome],
    [ofGroups.carriedOver, groups.freeIds],
    [ofGroups.created, groups.create],
    [ofGroups.changed + ofGroups.restored + ofGroups.carriedOver, groups.change],
    [ofGroups.removed, groups.remove],
    [ofMemberships.removed, memberships.remove],
    [ofMemberships.changed, memberships.change],
    [ofMemberships.created, memberships.create],
  ];
}

const manyRows = 10_000;
/** Lets PostgreSQL count the directory's rows, unless another session does so at that moment. */
export const countRows = 'ANALYZE (SKIP_LOCKED) person, affiliation, "group", membership';

/** Brings the directory to what the tables of the difference say; statements for no rows are left out. */
export async function writeDifference(tx: Queryable, given: Given, counts: Counts): Promise<void> {
  for (const [rows, write] of listSteps(counts)) if (rows > 0) await run(tx, write, given);
  // PostgreSQL plans the next statements by its statistics, which know of uncommitted rows only from an ANALYZE here.
  if (counts.people.created + counts.memberships.created > manyRows) await tx.query(countRows);
}

type OfImport = { importId: string; schoolId: SchoolId; schoolYear: string; now: Date };
const s = table("stagedGroup", "s");

/** Also where there was no group to go on from: one that the same file made must not go on the next time. */
export const recordCarryOvers = statement<OfImport>(
  ({ importId, schoolId, schoolYear, now }) => sql`
  ${insert(
    "groupCarryOver",
    { schoolId, schoolYear, previousSourceId: s.previousSourceId, sourceId: s.sourceId, at: now },
    sql`FROM ${s} WHERE ${s.importId} = ${importId} AND ${s.schoolId} = ${schoolId} AND NOT ${s.isDeleted}
      AND ${s.previousSourceId} <> ${s.sourceId}`,
  )}
  ON CONFLICT DO NOTHING`,
);

/** Files of several schools gave these people, who were there, their ids. Apps do not see this: it is no change. */
export const shareSourceIds = statement<{ schoolId: SchoolId }>(
  ({ schoolId }) => sql`
  ${update("person", "p", { sourceIdIsShared: sql`true` })} FROM ${i}
  WHERE ${i.isStaged} AND NOT ${i.isGone} AND ${i.id} = ${p.id} AND ${p.homeSchoolId} = ${schoolId}
    AND ${p.sourceSystemIdentifier} = ${i.sourceId} AND NOT ${p.sourceIdIsShared}`,
);
