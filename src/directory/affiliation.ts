import { recordAudit } from "../events/index.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { run, sql, statement, table, update, type Part, type Sql } from "../platform/database/sql.ts";
import { originOf, type Change } from "./change.ts";
import type { PersonId, SchoolId } from "./ids.ts";
import { lockPerson } from "./person.ts";
import { write } from "./refusals.ts";

type AtSchool = { personId: PersonId; schoolId: SchoolId };

/**
 * Adds a school to those of a person; for a person of none it becomes the home.
 *
 * Errors: not_found person_not_found, school_not_found; conflict person_wrong_status, person_at_school.
 */
export async function joinSchool(change: Change, { personId, schoolId }: AtSchool): Promise<void> {
  await change.touch({ people: [personId], schools: [schoolId] });
  const { homeSchoolId } = await lockPerson(change.tx, personId, "change");
  await addAffiliation(change, { personId, schoolId });
  if (homeSchoolId === null) await changeHome(change, { personId, schoolId });
}

/**
 * Ends a person's affiliation with a school that is not their home, and their memberships there.
 *
 * Errors: not_found person_not_found, affiliation_not_found; conflict person_wrong_status, home_school_left.
 */
export async function leaveSchool(change: Change, { personId, schoolId }: AtSchool): Promise<void> {
  await change.touch({ people: [personId], schools: [schoolId] });
  const { homeSchoolId } = await lockPerson(change.tx, personId, "change");
  if (homeSchoolId === schoolId) {
    const message = "It is the person's home school. Give them another home, or move them.";
    throw new AppError("conflict", "home_school_left", message);
  }
  await endAffiliation(change, { personId, schoolId });
}

/**
 * Makes another of a person's schools their home.
 *
 * Errors: not_found person_not_found, affiliation_not_found; conflict person_wrong_status.
 */
export async function setHomeSchool(change: Change, { personId, schoolId }: AtSchool): Promise<void> {
  await change.touch({ people: [personId], schools: [schoolId] });
  const { homeSchoolId } = await lockPerson(change.tx, personId, "change");
  if (!(await isAtSchool(change, { personId, schoolId }))) throw notAtSchool();
  if (homeSchoolId !== schoolId) await changeHome(change, { personId, schoolId });
}

/**
 * Moves a person to the school `to` from the school `from`, where their memberships end.
 *
 * Shape:  `from` is the home school unless given. Where the home is left, `to` becomes the home.
 * Errors: invalid move_to_same_school; not_found person_not_found, school_not_found, affiliation_not_found; conflict
 *         person_wrong_status.
 */
export async function movePerson(
  change: Change,
  move: { personId: PersonId; to: SchoolId; from?: SchoolId | undefined },
): Promise<void> {
  const { personId, to } = move;
  await change.touch({ people: [personId], schools: [to, ...(move.from === undefined ? [] : [move.from])] });
  const { homeSchoolId } = await lockPerson(change.tx, personId, "change");
  const from = move.from ?? homeSchoolId;
  if (from === to)
    throw new AppError("invalid", "move_to_same_school", "The person would move to the school that they leave.");
  if (from === null || !(await isAtSchool(change, { personId, schoolId: from }))) throw notAtSchool();
  if (!(await isAtSchool(change, { personId, schoolId: to }))) await addAffiliation(change, { personId, schoolId: to });
  if (from === homeSchoolId) await changeHome(change, { personId, schoolId: to });
  await endAffiliation(change, { personId, schoolId: from });
}

const p = table("person", "p");
const other = table("person", "other");

/**
 * SQL: the source system identifier that person `p` keeps when another school becomes their home.
 *
 * Shape: null where only files of the old home name the person by it, as it could be somebody else's at the next home,
 *        and where it is taken there.
 */
export const sourceIdAtNextHome = (nextHome: Part): Sql => sql`CASE WHEN ${p.sourceIdIsShared} AND NOT EXISTS (
    SELECT FROM ${other} WHERE ${other.homeSchoolId} = ${nextHome}
      AND ${other.sourceSystemIdentifier} = ${p.sourceSystemIdentifier}) THEN ${p.sourceSystemIdentifier} END`;

const updateHome = statement<AtSchool & { now: Date }>(({ personId, schoolId, now }) => {
  const sourceSystemIdentifier = sourceIdAtNextHome(sql`${schoolId}::uuid`);
  const values = { homeSchoolId: sql`${schoolId}::uuid`, updatedAt: now, sourceSystemIdentifier };
  return sql`${update("person", "p", values)} WHERE ${p.id} = ${personId}`;
}, "directory.updateHome");

async function changeHome(change: Change, { personId, schoolId }: AtSchool): Promise<void> {
  await write(run(change.tx, updateHome, { personId, schoolId, now: change.now }));
  await recordAudit(change.tx, { ...originOf(change), action: "home_school_changed", personId, schoolId });
}

async function addAffiliation(change: Change, { personId, schoolId }: AtSchool): Promise<void> {
  const { tx, now } = change;
  await write(tx.prisma.affiliation.create({ data: { id: makeUuid(now), personId, schoolId } }));
  await recordAudit(tx, { ...originOf(change), action: "affiliation_added", personId, schoolId });
}

async function endAffiliation(change: Change, { personId, schoolId }: AtSchool): Promise<void> {
  const { count } = await change.tx.prisma.affiliation.deleteMany({ where: { personId, schoolId } });
  if (count === 0) throw notAtSchool();
  await recordAudit(change.tx, { ...originOf(change), action: "affiliation_removed", personId, schoolId });
}

const isAtSchool = async ({ tx }: Change, { personId, schoolId }: AtSchool): Promise<boolean> =>
  (await tx.prisma.affiliation.count({ where: { personId, schoolId } })) === 1;

const notAtSchool = () => new AppError("not_found", "affiliation_not_found", "The person is not at this school.");
