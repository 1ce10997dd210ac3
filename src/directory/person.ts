import { recordAudit } from "../events/index.ts";
import type { Origin } from "../events/index.ts";
import type { Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/ids.ts";
import type { PersonId, SchoolId } from "./ids.ts";
import { addAffiliation } from "./membership.ts";
import { makePersonSortKey } from "./sort-key.ts";
import { checkText } from "./text.ts";

export type PersonRole = "STUDENT" | "TEACHER" | "OTHER";
export type PersonName = { firstFull: string; firstCall: string; last: string };

export type NewPerson = {
  id?: PersonId | undefined;
  /** The first one is the home school. */
  schools: readonly [SchoolId, ...SchoolId[]];
  role: PersonRole;
  /** Null where the school keeps none. */
  name: PersonName | null;
  sourceSystemIdentifier?: string | null | undefined;
};

const insertPerson = `
  INSERT INTO person (id, home_school_id, role, first_full, first_call, last, sort_key, source_system_identifier,
    created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`;

export async function createPerson(tx: Queryable, person: NewPerson, origin: Origin): Promise<PersonId> {
  const id = person.id ?? (makeUuid(origin.at) as PersonId);
  const name = person.name && checkName(person.name);
  const home = person.schools[0];
  await tx.query(insertPerson, [
    id,
    home,
    person.role,
    name?.firstFull,
    name?.firstCall,
    name?.last,
    makePersonSortKey(name),
    person.sourceSystemIdentifier,
    origin.at,
  ]);
  for (const schoolId of person.schools) await addAffiliation(tx, { personId: id, schoolId }, origin);
  await recordAudit(tx, { ...origin, action: "person_created", personId: id, schoolId: home });
  return id;
}

function checkName(name: PersonName): PersonName {
  return {
    firstFull: checkText("firstFull", name.firstFull),
    firstCall: checkText("firstCall", name.firstCall),
    last: checkText("last", name.last),
  };
}

/**
 * ACTIVE → SOFT_DELETED: the person signs in nowhere and comes back unchanged until the purge.
 *
 * Units: restoreWindowDays in days of 24 hours.
 */
export async function softDeletePerson(
  tx: Queryable,
  { personId, restoreWindowDays }: { personId: PersonId; restoreWindowDays: number },
  origin: Origin,
): Promise<void> {
  const purgeAt = new Date(origin.at.getTime() + restoreWindowDays * 86_400_000);
  const { rowCount } = await tx.query(
    `UPDATE person SET status = 'SOFT_DELETED', soft_deleted_at = $2, purge_at = $3, updated_at = $2
     WHERE id = $1 AND status = 'ACTIVE'`,
    [personId, origin.at, purgeAt],
  );
  if (rowCount === 0) throw await wrongState(tx, personId, "The person is already deleted.");
  await recordAudit(tx, { ...origin, action: "person_soft_deleted", personId });
}

/** SOFT_DELETED → ACTIVE. */
export async function restorePerson(tx: Queryable, personId: PersonId, origin: Origin): Promise<void> {
  const { rowCount } = await tx.query(
    `UPDATE person SET status = 'ACTIVE', soft_deleted_at = NULL, purge_at = NULL, updated_at = $2
     WHERE id = $1 AND status = 'SOFT_DELETED'`,
    [personId, origin.at],
  );
  if (rowCount === 0) throw await wrongState(tx, personId, "The person is not deleted.");
  await recordAudit(tx, { ...origin, action: "person_restored", personId });
}

/** SOFT_DELETED → gone, with affiliations, memberships, sign-in data and whatever else hangs on the person. */
export async function deletePerson(tx: Queryable, personId: PersonId, origin: Origin): Promise<void> {
  const { rowCount } = await tx.query("DELETE FROM person WHERE id = $1 AND status = 'SOFT_DELETED'", [personId]);
  if (rowCount === 0) throw await wrongState(tx, personId, "Only a soft-deleted person can be deleted for good.");
  await recordAudit(tx, { ...origin, action: "person_deleted", personId });
}

async function wrongState(tx: Queryable, personId: PersonId, message: string): Promise<AppError> {
  const { rowCount } = await tx.query("SELECT FROM person WHERE id = $1", [personId]);
  return rowCount === 0
    ? new AppError("not_found", "person_not_found", "The person does not exist.")
    : new AppError("conflict", "person_wrong_status", message);
}
