import { againAfterDeadlock } from "../access/index.ts";
import type { PersonId } from "../directory/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import { withTransaction, type Db, type Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { endSignIns } from "./end-sign-ins.ts";
import { checkPasswordLength, hashPassword, writeCredential } from "./login/index.ts";

type Login = { personId: PersonId; username: string; password: string };

/**
 * Gives a person a user name and a password, or new ones, within a transaction of the caller. What they had under way ends.
 *
 * Errors: conflict for a user name that another person has; invalid for one that cannot be.
 */
export async function setCredential(
  tx: Queryable,
  { personId, username, password, now }: Login & { now: Date },
): Promise<void> {
  checkPasswordLength(password);
  await writeAndEnd(tx, { personId, username, passwordHash: await hashPassword(password), now });
}

/** As `setCredential`, with its audit line in a transaction of its own. Errors: not_found too. */
export async function setLogin(db: Pick<Db, "pool">, { password, ...login }: Login, origin: Origin): Promise<void> {
  checkPasswordLength(password);
  const passwordHash = await hashPassword(password);
  await inTransaction(db, async (tx) => {
    await checkExists(tx, login.personId);
    await writeAndEnd(tx, { ...login, passwordHash, now: origin.at });
    await recordAudit(tx, { ...origin, action: "credential_set", personId: login.personId });
  });
}

async function writeAndEnd(tx: Queryable, credential: Parameters<typeof writeCredential>[1]): Promise<void> {
  await writeCredential(tx, credential);
  await endSignIns(tx, { personId: credential.personId, at: credential.now });
}

/** Ends whatever the person has under way; they may sign in again at once. Errors: not_found. */
export function signOutPerson(db: Pick<Db, "pool">, personId: PersonId, origin: Origin): Promise<void> {
  return inTransaction(db, async (tx) => {
    await checkExists(tx, personId);
    await endSignIns(tx, { personId, at: origin.at });
    await recordAudit(tx, { ...origin, action: "person_signed_out", personId });
  });
}

/**
 * Keeps the person from signing in anywhere until they are unblocked, and ends what they have under way. Apps go on seeing the person
 * and are told of no change.
 *
 * Errors: not_found; conflict for somebody who is blocked already.
 */
export function blockPerson(db: Pick<Db, "pool">, personId: PersonId, origin: Origin): Promise<void> {
  return inTransaction(db, async (tx) => {
    if (!(await setBlock(tx, personId, origin.at)))
      throw new AppError("conflict", "person_blocked", "The person is blocked already.");
    await endSignIns(tx, { personId, at: origin.at });
    await recordAudit(tx, { ...origin, action: "person_blocked", personId });
  });
}

/** Lets the person sign in again; a session that was begun while they were blocked ends too. Errors: not_found; conflict. */
export function unblockPerson(db: Pick<Db, "pool">, personId: PersonId, origin: Origin): Promise<void> {
  return inTransaction(db, async (tx) => {
    if (!(await setBlock(tx, personId, null)))
      throw new AppError("conflict", "person_not_blocked", "The person is not blocked.");
    await endSignIns(tx, { personId, at: origin.at });
    await recordAudit(tx, { ...origin, action: "person_unblocked", personId });
  });
}

async function setBlock(tx: Queryable, personId: PersonId, blockedAt: Date | null): Promise<boolean> {
  await checkExists(tx, personId);
  const text = "UPDATE person SET blocked_at = $2 WHERE id = $1 AND (blocked_at IS NULL) <> ($2::timestamptz IS NULL)";
  return (await tx.query(text, [personId, blockedAt])).rowCount === 1;
}

async function checkExists(tx: Queryable, personId: PersonId): Promise<void> {
  const { rowCount } = await tx.query("SELECT FROM person WHERE id = $1", [personId]);
  if (rowCount === 0) throw new AppError("not_found", "person_not_found", "The person does not exist.");
}

// Requests that use several tokens up together take the rows in an order of their own.
const inTransaction = <T>(db: Pick<Db, "pool">, work: (tx: Queryable) => Promise<T>): Promise<T> =>
  againAfterDeadlock(() => withTransaction(db, work));
