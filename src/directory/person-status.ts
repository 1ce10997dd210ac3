import { forgetInAudit, recordAudit } from "../events/index.ts";
import type { Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { originOf, type Change } from "./change.ts";
import type { PersonId } from "./ids.ts";
import { lockPerson } from "./person.ts";

/**
 * ACTIVE → SOFT_DELETED: the person signs in nowhere and comes back unchanged until the purge.
 *
 * Units: restoreWindowDays in days of 24 hours; answers when the person will be deleted for good.
 */
export async function softDeletePerson(
  change: Change,
  { personId, restoreWindowDays }: { personId: PersonId; restoreWindowDays: number },
): Promise<Date> {
  await change.touch({ people: [personId] });
  const { homeSchoolId } = await lockPerson(change.tx, personId, "softDelete");
  const purgeAt = new Date(change.now.getTime() + restoreWindowDays * 86_400_000);
  await change.tx.query(
    "UPDATE person SET status = 'SOFT_DELETED', soft_deleted_at = $2, purge_at = $3, updated_at = $2 WHERE id = $1",
    [personId, change.now, purgeAt],
  );
  await recordAudit(change.tx, {
    ...originOf(change),
    action: "person_soft_deleted",
    personId,
    schoolId: homeSchoolId,
  });
  return purgeAt;
}

/** SOFT_DELETED → ACTIVE, as long as the restore window is open, also when the purge is late. */
export async function restorePerson(change: Change, { personId }: { personId: PersonId }): Promise<void> {
  await change.touch({ people: [personId] });
  const { homeSchoolId, purgeAt } = await lockPerson(change.tx, personId, "restore");
  if (purgeAt !== null && purgeAt <= change.now) {
    throw new AppError("conflict", "restore_window_over", "The time in which the person could be restored is over.");
  }
  await change.tx.query(
    "UPDATE person SET status = 'ACTIVE', soft_deleted_at = NULL, purge_at = NULL, updated_at = $2 WHERE id = $1",
    [personId, change.now],
  );
  await recordAudit(change.tx, { ...originOf(change), action: "person_restored", personId, schoolId: homeSchoolId });
}

/** Removes what rooms that the directory does not know keep of a person, in the same transaction. */
export type ForgetPerson = (tx: Queryable, personId: PersonId) => Promise<void>;

/**
 * SOFT_DELETED → gone, with affiliations, memberships, sign-in data and whatever else hangs on the person.
 * What stays is a tombstone, which is the id and the time, and audit lines without the id.
 */
export async function deletePerson(
  change: Change,
  { personId, forget }: { personId: PersonId; forget: ForgetPerson },
): Promise<void> {
  await change.touch({ people: [personId] });
  const { homeSchoolId } = await lockPerson(change.tx, personId, "delete");
  await forget(change.tx, personId);
  await forgetInAudit(change.tx, personId);
  await change.tx.query("DELETE FROM person WHERE id = $1", [personId]);
  await change.tx.query("INSERT INTO tombstone (person_id, deleted_at) VALUES ($1, $2)", [personId, change.now]);
  await recordAudit(change.tx, { ...originOf(change), action: "person_deleted", schoolId: homeSchoolId });
}

/** Deletes the person for good if their restore window is over; false where they are gone already or were restored. */
export async function purgePerson(
  change: Change,
  { personId, forget }: { personId: PersonId; forget: ForgetPerson },
): Promise<boolean> {
  await change.touch({ people: [personId] });
  const { rowCount } = await change.tx.query("SELECT FROM person WHERE id = $1 AND purge_at <= $2 FOR NO KEY UPDATE", [
    personId,
    change.now,
  ]);
  if (rowCount === 1) await deletePerson(change, { personId, forget });
  return rowCount === 1;
}

/** Soft-deleted people whose time is over, the longest due first. */
export async function listPurgeable(
  db: Queryable,
  due: { at: Date; limit: number; except?: readonly PersonId[] },
): Promise<PersonId[]> {
  const { rows } = await db.query<{ id: PersonId }>({
    name: "directory.listPurgeable",
    text: `SELECT id FROM person WHERE status = 'SOFT_DELETED' AND purge_at <= $1 AND id <> ALL ($3::uuid[])
           ORDER BY purge_at, id LIMIT $2`,
    values: [due.at, due.limit, due.except ?? []],
  });
  return rows.map(({ id }) => id);
}
