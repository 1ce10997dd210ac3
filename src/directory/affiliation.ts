import { recordAudit } from "../events/index.ts";
import type { Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/ids.ts";
import { originOf, type Change } from "./change.ts";
import type { PersonId, SchoolId } from "./ids.ts";
import { insertAffiliation, lockPerson } from "./person.ts";
import { write } from "./refusals.ts";

type AtSchool = { personId: PersonId; schoolId: SchoolId };

/** Makes the person one of the school. */
export async function joinSchool(change: Change, { personId, schoolId }: AtSchool): Promise<void> {
  await change.touch({ people: [personId], schools: [schoolId] });
  await lockPerson(change.tx, personId, "change");
  await write(change.tx, insertAffiliation, [makeUuid(change.now), personId, schoolId]);
  await recordAudit(change.tx, { ...originOf(change), action: "affiliation_added", personId, schoolId });
}

/** Ends the person's time at the school, and with it their memberships there. The home school is left by moving. */
export async function leaveSchool(change: Change, { personId, schoolId }: AtSchool): Promise<void> {
  await change.touch({ people: [personId], schools: [schoolId] });
  const { homeSchoolId } = await lockPerson(change.tx, personId, "change");
  if (homeSchoolId === schoolId) {
    throw new AppError(
      "conflict",
      "home_school_left",
      "It is the person's home school. Give them another home, or move them.",
    );
  }
  await endAffiliation(change, { personId, schoolId });
}

/** Makes another of the person's schools their home. */
export async function setHomeSchool(change: Change, { personId, schoolId }: AtSchool): Promise<void> {
  await change.touch({ people: [personId], schools: [schoolId] });
  const { homeSchoolId } = await lockPerson(change.tx, personId, "change");
  if (!(await isAtSchool(change.tx, { personId, schoolId }))) throw notAtSchool();
  if (homeSchoolId !== schoolId) await changeHome(change, { personId, schoolId });
}

/**
 * A person changes schools: they come to `to` and leave `from`, their home unless said otherwise, with its groups.
 * Where the home is left, `to` becomes the home.
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
  if (!(await isAtSchool(change.tx, { personId, schoolId: from }))) throw notAtSchool();
  if (!(await isAtSchool(change.tx, { personId, schoolId: to }))) {
    await write(change.tx, insertAffiliation, [makeUuid(change.now), personId, to]);
    await recordAudit(change.tx, { ...originOf(change), action: "affiliation_added", personId, schoolId: to });
  }
  if (from === homeSchoolId) await changeHome(change, { personId, schoolId: to });
  await endAffiliation(change, { personId, schoolId: from });
}

/**
 * SQL: the source system identifier that person `p` keeps when the school named by the expression `nextHome` becomes their home. One that
 * only the old home's own files know could be somebody else's at the next home, so it becomes null; so does one that is taken there.
 */
export const sourceIdAtNextHome = (
  nextHome: string,
): string => `CASE WHEN p.source_id_is_shared AND NOT EXISTS (SELECT FROM person other
  WHERE other.home_school_id = ${nextHome} AND other.source_system_identifier = p.source_system_identifier) THEN p.source_system_identifier END`;

async function changeHome(change: Change, { personId, schoolId }: AtSchool): Promise<void> {
  await write(
    change.tx,
    `UPDATE person p SET home_school_id = $2, updated_at = $3, source_system_identifier = ${sourceIdAtNextHome("$2::uuid")} WHERE id = $1`,
    [personId, schoolId, change.now],
  );
  await recordAudit(change.tx, { ...originOf(change), action: "home_school_changed", personId, schoolId });
}

async function endAffiliation(change: Change, { personId, schoolId }: AtSchool): Promise<void> {
  const { rowCount } = await change.tx.query("DELETE FROM affiliation WHERE person_id = $1 AND school_id = $2", [
    personId,
    schoolId,
  ]);
  if (rowCount === 0) throw notAtSchool();
  await recordAudit(change.tx, { ...originOf(change), action: "affiliation_removed", personId, schoolId });
}

async function isAtSchool(tx: Queryable, { personId, schoolId }: AtSchool): Promise<boolean> {
  const { rowCount } = await tx.query("SELECT FROM affiliation WHERE person_id = $1 AND school_id = $2", [
    personId,
    schoolId,
  ]);
  return rowCount === 1;
}

const notAtSchool = () => new AppError("not_found", "affiliation_not_found", "The person is not at this school.");
