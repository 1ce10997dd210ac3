import { againAfterDeadlock } from "../access/index.ts";
import type { PersonId } from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import { withPrismaTransaction, type PrismaDb, type Queryable, type Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { endSignIns, lockPersonSignIn } from "./end-sign-ins.ts";
import { closePasswordRequests } from "./password-requests.ts";
import { recordAtHome } from "./record-at-home.ts";
import { revokeSecondFactorsIn } from "./second-factor/records.ts";
import { checkPasswordLength, forgetTriesOf, hashPassword, writeCredential } from "./login/index.ts";

type Login = { personId: PersonId; username: string; password: string };

/**
 * Sets a person's user name and password, ends their sign-ins and forgets failed tries.
 *
 * Errors: conflict for a taken user name; invalid for one that is refused.
 */
export async function setCredential(
  tx: Queryable,
  { personId, username, password, now }: Login & { now: Date },
): Promise<void> {
  checkPasswordLength(password);
  await setPasswordHash(tx, { personId, username, passwordHash: await hashPassword(password), now });
}

export async function setPasswordHash(tx: Queryable, credential: Parameters<typeof writeCredential>[1]): Promise<void> {
  await writeCredential(tx, credential);
  await endSignIns(tx, { personId: credential.personId, at: credential.now });
  await forgetTriesOf(tx, credential.personId);
}

/** As `setCredential`, with an audit line in a transaction of its own. Errors: not_found too. */
export async function setLogin(
  db: PrismaDb,
  { password, ...login }: Login & { mustChange?: boolean },
  origin: Origin,
): Promise<void> {
  checkPasswordLength(password);
  const passwordHash = await hashPassword(password);
  await inTransaction(db, (tx) => setLoginIn(tx, { ...login, passwordHash }, origin));
}

export async function setLoginIn(
  tx: Transaction,
  login: Omit<Login, "password"> & { passwordHash: string; mustChange?: boolean },
  origin: Origin,
): Promise<void> {
  await checkExists(tx, login.personId);
  await setPasswordHash(tx, { ...login, now: origin.at });
  await closePasswordRequests(tx, [login.personId]);
  await recordAtHome(tx, { ...origin, action: "credential_set", personId: login.personId });
}

/** Ends all sign-ins of the person, who may sign in again at once. Errors: not_found. */
export function signOutPerson(db: PrismaDb, personId: PersonId, origin: Origin): Promise<void> {
  return inTransaction(db, (tx) => signOutPersonIn(tx, personId, origin));
}

export async function signOutPersonIn(tx: Transaction, personId: PersonId, origin: Origin): Promise<void> {
  await checkExists(tx, personId);
  await endSignIns(tx, { personId, at: origin.at });
  await recordAtHome(tx, { ...origin, action: "person_signed_out", personId });
}

/**
 * Blocks a person from signing in and ends their sign-ins. Apps still see the person and get no event.
 *
 * Errors: not_found; conflict for a person who is blocked already.
 */
export function blockPerson(db: PrismaDb, personId: PersonId, origin: Origin): Promise<void> {
  return inTransaction(db, (tx) => blockPersonIn(tx, personId, origin));
}

export async function blockPersonIn(tx: Transaction, personId: PersonId, origin: Origin): Promise<void> {
  if (!(await setBlock(tx, personId, origin.at)))
    throw new AppError("conflict", "person_blocked", "The person is blocked already.");
  await endSignIns(tx, { personId, at: origin.at });
  await recordAtHome(tx, { ...origin, action: "person_blocked", personId });
}

/** Unblocks a person. A session that began during the block ends too. Errors: not_found; conflict. */
export function unblockPerson(db: PrismaDb, personId: PersonId, origin: Origin): Promise<void> {
  return inTransaction(db, (tx) => unblockPersonIn(tx, personId, origin));
}

export async function unblockPersonIn(tx: Transaction, personId: PersonId, origin: Origin): Promise<void> {
  if (!(await setBlock(tx, personId, null)))
    throw new AppError("conflict", "person_not_blocked", "The person is not blocked.");
  await endSignIns(tx, { personId, at: origin.at });
  await recordAtHome(tx, { ...origin, action: "person_unblocked", personId });
}

/**
 * Removes the second factors and recovery codes of a person who lost them, and ends their sign-ins. Errors: not_found.
 */
export function revokeSecondFactors(db: PrismaDb, personId: PersonId, origin: Origin): Promise<void> {
  return inTransaction(db, async (tx) => {
    await checkExists(tx, personId);
    await lockPersonSignIn(tx, personId);
    await revokeSecondFactorsIn(tx, personId, origin);
  });
}

async function setBlock(tx: Transaction, personId: PersonId, blockedAt: Date | null): Promise<boolean> {
  await checkExists(tx, personId);
  const isOther = { blockedAt: blockedAt === null ? { not: null } : null };
  const { count } = await tx.prisma.person.updateMany({ where: { id: personId, ...isOther }, data: { blockedAt } });
  return count === 1;
}

async function checkExists({ prisma }: Transaction, personId: PersonId): Promise<void> {
  const found = await prisma.person.findUnique({ where: { id: personId }, select: { id: true } });
  if (found === null) throw new AppError("not_found", "person_not_found", "The person does not exist.");
}

// A batch that uses up several tokens locks rows in an order of its own.
const inTransaction = <T>(db: PrismaDb, work: (tx: Transaction) => Promise<T>): Promise<T> =>
  againAfterDeadlock(() => withPrismaTransaction(db, work));
