import { forgetInAudit } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { addDays } from "../platform/clock.ts";
import { AppError } from "../platform/errors.ts";
import { makeFind, makeRun, table, type Queryable } from "../platform/database/sql.ts";
import { auditChange, type Change } from "./change.ts";
import type { PersonId } from "./ids.ts";
import { lockPerson } from "./person.ts";
import { findPeriods } from "./retention-policy.ts";

type SoftDeletion = {
  personId: PersonId;
  /** Applies to schools without a period of their own. */
  restoreWindowDays: number;
  /** What the retention goes by; without it the person is deleted by hand. */
  retention?: "LEFT" | "INACTIVE";
};

export async function softDeletePerson(change: Change, { personId, restoreWindowDays, retention }: SoftDeletion) {
  const { tx, now } = change;
  await change.touch({ people: [personId] });
  const { homeSchoolId: schoolId } = await lockPerson(tx, personId, "softDelete");
  const { restoreDays } = await findPeriods(tx, schoolId, { restoreWindowDays });
  const purgeAt = addDays(now, restoreDays);
  const data = { status: "SOFT_DELETED", softDeletedAt: now, purgeAt, updatedAt: now } as const;
  const isByHand = retention === undefined;
  // Undoing an import brings back leavers whom the retention deleted, not those whom staff deleted.
  await tx.prisma.person.update({ where: { id: personId }, data: { ...data, ...(isByHand && { leftAt: null }) } });
  const detail = isByHand ? {} : { reason: "retention", cause: retention };
  await auditChange(change, { action: "person_soft_deleted", personId, schoolId, detail });
  return purgeAt;
}

/**
 * Also brings back somebody who left and is kept for a time. Refused after the restore window even if the purge is
 * late. Errors: conflict person_wrong_status, restore_window_over.
 */
export async function restorePerson(change: Change, { personId }: { personId: PersonId }): Promise<void> {
  const { tx, now } = change;
  await change.touch({ people: [personId] });
  const { homeSchoolId: schoolId, purgeAt } = await lockPerson(tx, personId, "restore");
  if (purgeAt !== null && purgeAt <= now) {
    throw new AppError("conflict", "restore_window_over", "The time in which the person could be restored is over.");
  }
  const times = { softDeletedAt: null, purgeAt: null, leftAt: null, retentionFrom: now, updatedAt: now };
  await tx.prisma.person.update({ where: { id: personId }, data: { status: "ACTIVE", ...times } });
  await auditChange(change, { action: "person_restored", personId, schoolId });
}

export type ForgetPerson = (tx: Transaction, personId: PersonId, at: Date) => Promise<void>;

/** Leaves a tombstone, and audit lines without the id. Errors: conflict person_wrong_status. */
export async function deletePerson(change: Change, { personId, forget }: { personId: PersonId; forget: ForgetPerson }) {
  const { tx, now } = change;
  await change.touch({ people: [personId] });
  const { homeSchoolId: schoolId } = await lockPerson(tx, personId, "delete");
  await forget(tx, personId, now);
  await forgetInAudit(tx, personId);
  await tx.prisma.person.delete({ where: { id: personId } });
  await tx.prisma.tombstone.create({ data: { personId, deletedAt: now } });
  await auditChange(change, { action: "person_deleted", schoolId });
}

const p = table("person", "p");

const lockIfDue = makeRun<{ personId: PersonId; now: Date }>("directory.lockIfDue")`
  SELECT FROM ${p} WHERE ${p.id} = ${"personId"} AND ${p.purgeAt} <= ${"now"} FOR NO KEY UPDATE`;

export async function purgePerson(change: Change, { personId, forget }: { personId: PersonId; forget: ForgetPerson }) {
  await change.touch({ people: [personId] });
  const isDue = (await lockIfDue(change.tx, { personId, now: change.now })) === 1;
  if (isDue) await deletePerson(change, { personId, forget });
  return isDue;
}

type Due = { at: Date; limit: number; except: readonly PersonId[] };

// A list in Prisma Client has a maximum length; `except` has none.
const selectPurgeable = makeFind<{ id: PersonId }, Due>("directory.listPurgeable")`
  SELECT ${p.id} FROM ${p}
  WHERE ${p.status} = 'SOFT_DELETED' AND ${p.purgeAt} <= ${"at"} AND ${p.id} <> ALL (${"except"}::uuid[])
  ORDER BY ${p.purgeAt}, ${p.id} LIMIT ${"limit"}`;

export async function listPurgeable(db: Queryable, due: Omit<Due, "except"> & Partial<Due>): Promise<PersonId[]> {
  return (await selectPurgeable(db, { ...due, except: due.except ?? [] })).map(({ id }) => id);
}
