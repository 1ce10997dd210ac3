import { type Change, createPerson, originOf, type PersonId, type PersonName } from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import type { Queryable } from "../platform/database/sql.ts";
import { AppError } from "../platform/errors.ts";
import { endSignIns } from "./end-sign-ins.ts";
import { type NewCredential, writeCredential } from "./login/credential.ts";
import { makePassword } from "./login/make-password.ts";
import { hashPassword } from "./login/password.ts";
import { forgetTriesOf } from "./login/rate-limits.ts";
import { closePasswordRequests } from "./password-requests.ts";
import { recordAtHome } from "./record-at-home.ts";
import { giveRole, type NewRole, type StaffRole } from "../staff/index.ts";
import { dropUnaskedPasskeysIn } from "./second-factor/records.ts";

/** Sets a person's user name and password hash, ends their sign-ins and forgets failed tries. */
export async function setPasswordHash(tx: Queryable, credential: NewCredential): Promise<void> {
  await writeCredential(tx, credential);
  await endSignIns(tx, { personId: credential.personId, at: credential.now });
  await forgetTriesOf(tx, [credential.personId]);
}

/** As `setPasswordHash`, with an audit entry. Errors: not_found; those of `writeCredential`. */
export async function setLoginIn(tx: Transaction, login: Omit<NewCredential, "now">, origin: Origin): Promise<void> {
  const { personId } = login;
  await checkExists(tx, personId);
  await setPasswordHash(tx, { ...login, now: origin.at });
  await dropUnaskedPasskeysIn(tx, [personId], origin);
  await closePasswordRequests(tx, [personId]);
  await recordAtHome(tx, { ...origin, action: "credential_set", personId });
}

/** Ends all sign-ins of the person, who may sign in again at once. Errors: not_found. */
export async function signOutPersonIn(tx: Transaction, personId: PersonId, origin: Origin): Promise<void> {
  await checkExists(tx, personId);
  await endSignIns(tx, { personId, at: origin.at });
  await recordAtHome(tx, { ...origin, action: "person_signed_out", personId });
}

/** Apps still see a blocked person and get no event. Errors: not_found; conflict person_blocked. */
export async function blockPersonIn(tx: Transaction, personId: PersonId, origin: Origin): Promise<void> {
  if (!(await setBlock(tx, personId, origin.at)))
    throw new AppError("conflict", "person_blocked", "The person is blocked already.");
  await endSignIns(tx, { personId, at: origin.at });
  await recordAtHome(tx, { ...origin, action: "person_blocked", personId });
}

/** Unblocks a person. A session that began during the block ends too. Errors: not_found; conflict. */
export async function unblockPersonIn(tx: Transaction, personId: PersonId, origin: Origin): Promise<void> {
  if (!(await setBlock(tx, personId, null)))
    throw new AppError("conflict", "person_not_blocked", "The person is not blocked.");
  await endSignIns(tx, { personId, at: origin.at });
  await recordAtHome(tx, { ...origin, action: "person_unblocked", personId });
}

async function setBlock(tx: Transaction, personId: PersonId, blockedAt: Date | null): Promise<boolean> {
  await checkExists(tx, personId);
  const isOther = { blockedAt: blockedAt === null ? { not: null } : null };
  const { count } = await tx.prisma.person.updateMany({ where: { id: personId, ...isOther }, data: { blockedAt } });
  return count === 1;
}

async function checkExists({ prisma }: Transaction, personId: PersonId): Promise<void> {
  const person = await prisma.person.findUnique({ where: { id: personId }, select: { id: true } });
  if (person === null) throw new AppError("not_found", "person_not_found", "The person does not exist.");
}

/** `name` is null for an account that is nobody's own. */
type NewStaffPerson = { name: PersonName | null; username: string; role: Omit<NewRole, "holder"> };

export async function makeStaffPassword(): Promise<{ password: string; passwordHash: string }> {
  const password = makePassword("LETTERS");
  return { password, passwordHash: await hashPassword(password) };
}

/** Creates a member of staff at no school, with a role and a login whose password they replace at first sign-in. */
export async function createStaffPerson(
  change: Change,
  { name, username, passwordHash, role }: NewStaffPerson & { passwordHash: string },
  by: { giver: readonly StaffRole[] | null; supportRoleDays: number },
): Promise<PersonId> {
  const origin = originOf(change);
  const personId = await createPerson(change, { schools: [], role: "OTHER", name });
  await setLoginIn(change.tx, { personId, username, passwordHash, mustChange: true }, origin);
  await giveRole(change.tx, { ...role, holder: { personId } }, { ...by, origin });
  return personId;
}
