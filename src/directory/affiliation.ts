import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { makeRun, sql, table, update, type Part, type Sql } from "../platform/database/sql.ts";
import { auditChange, write, type Change } from "./change.ts";
import type { PersonId, SchoolId } from "./ids.ts";
import { lockPerson } from "./person.ts";

type AtSchool = { personId: PersonId; schoolId: SchoolId };

export async function joinSchool(change: Change, { personId, schoolId }: AtSchool): Promise<void> {
  const { homeSchoolId, leftAt } = await lockAt(change, { personId, schoolId });
  await addAffiliation(change, { personId, schoolId });
  if (homeSchoolId === null || leftAt !== null) await changeHome(change, { personId, schoolId });
  // A person who left a school and joins another one has moved.
  if (homeSchoolId !== null && leftAt !== null) await endAffiliation(change, { personId, schoolId: homeSchoolId });
}

async function lockAt(change: Change, { personId, schoolId }: AtSchool) {
  await change.touch({ people: [personId], schools: [schoolId] });
  return lockPerson(change.tx, personId, "change");
}

/** Ends the memberships there too. Errors: conflict home_school_left. */
export async function leaveSchool(change: Change, { personId, schoolId }: AtSchool): Promise<void> {
  const { homeSchoolId } = await lockAt(change, { personId, schoolId });
  if (homeSchoolId === schoolId) {
    const message = "It is the person's home school. Give them another home, or move them.";
    throw new AppError("conflict", "home_school_left", message);
  }
  await endAffiliation(change, { personId, schoolId });
}

export async function setHomeSchool(change: Change, { personId, schoolId }: AtSchool): Promise<void> {
  const { homeSchoolId } = await lockAt(change, { personId, schoolId });
  if (!(await isAtSchool(change, { personId, schoolId }))) throw notAtSchool();
  if (homeSchoolId !== schoolId) await changeHome(change, { personId, schoolId });
}

export async function movePerson(
  change: Change,
  move: { personId: PersonId; to: SchoolId; from?: SchoolId | undefined },
): Promise<void> {
  const { personId, to } = move;
  await change.touch({ people: [personId], schools: [to, ...(move.from === undefined ? [] : [move.from])] });
  const { homeSchoolId } = await lockPerson(change.tx, personId, "change");
  const from = move.from ?? homeSchoolId;
  if (from === to) throw moveToSameSchool();
  if (from === null || !(await isAtSchool(change, { personId, schoolId: from }))) throw notAtSchool();
  if (!(await isAtSchool(change, { personId, schoolId: to }))) await addAffiliation(change, { personId, schoolId: to });
  if (from === homeSchoolId) await changeHome(change, { personId, schoolId: to });
  await endAffiliation(change, { personId, schoolId: from });
}

const p = table("person", "p");
const other = table("person", "other");

/**
 * SQL: the source system identifier that person `p` keeps at the next home; null if only the old school's files use it,
 * because it may name somebody else there, or if it is taken.
 */
export const sourceIdAtNextHome = (nextHome: Part): Sql => sql`CASE WHEN ${p.sourceIdIsShared} AND NOT EXISTS (
    SELECT FROM ${other} WHERE ${other.homeSchoolId} = ${nextHome}
      AND ${other.sourceSystemIdentifier} = ${p.sourceSystemIdentifier}) THEN ${p.sourceSystemIdentifier} END`;

const updateHome = makeRun<AtSchool & { now: Date }>(({ personId, schoolId, now }) => {
  const sourceSystemIdentifier = sourceIdAtNextHome(sql`${schoolId}::uuid`);
  const times = { updatedAt: now, leftAt: sql`NULL`, retentionFrom: now };
  const values = { homeSchoolId: sql`${schoolId}::uuid`, ...times, sourceSystemIdentifier };
  return sql`${update("person", "p", values)} WHERE ${p.id} = ${personId}`;
}, "directory.updateHome");

async function changeHome(change: Change, { personId, schoolId }: AtSchool): Promise<void> {
  await write(updateHome(change.tx, { personId, schoolId, now: change.now }));
  await auditChange(change, { action: "home_school_changed", personId, schoolId });
}

async function addAffiliation(change: Change, { personId, schoolId }: AtSchool): Promise<void> {
  const { tx, now } = change;
  await write(tx.prisma.affiliation.create({ data: { id: makeUuid(now), personId, schoolId } }));
  await auditChange(change, { action: "affiliation_added", personId, schoolId });
}

async function endAffiliation(change: Change, { personId, schoolId }: AtSchool): Promise<void> {
  const { count } = await change.tx.prisma.affiliation.deleteMany({ where: { personId, schoolId } });
  if (count === 0) throw notAtSchool();
  await auditChange(change, { action: "affiliation_removed", personId, schoolId });
}

const isAtSchool = async ({ tx }: Change, { personId, schoolId }: AtSchool): Promise<boolean> =>
  (await tx.prisma.affiliation.count({ where: { personId, schoolId } })) === 1;

export const moveToSameSchool = () =>
  new AppError("invalid", "move_to_same_school", "The person would move to the school that they leave.");

const notAtSchool = () => new AppError("not_found", "affiliation_not_found", "The person is not at this school.");
