import { againAfterDeadlock } from "../../src/access/index.ts";
import { blockPersonIn, hashPassword, setLoginIn, setPasswordHash, signOutPersonIn } from "../../src/accounts/index.ts";
import { unblockPersonIn } from "../../src/accounts/index.ts";
import type { PersonId } from "../../src/directory/index.ts";
import type { Origin } from "../../src/events/index.ts";
import { withPrismaTransaction, type PrismaDb } from "../../src/platform/database/db.ts";
import type { Queryable } from "../../src/platform/database/sql.ts";
import { hashQuickly } from "./quick-hash.ts";

// The use cases of a person's sign-in, each in a transaction of its own.

type Login = { personId: PersonId; username: string; password: string };
type UseCase = typeof blockPersonIn;

const inTransaction =
  (work: UseCase) =>
  (db: PrismaDb, personId: PersonId, origin: Origin): Promise<void> =>
    againAfterDeadlock(() => withPrismaTransaction(db, (tx) => work(tx, personId, origin)));

export const blockPerson = inTransaction(blockPersonIn);
export const unblockPerson = inTransaction(unblockPersonIn);
export const signOutPerson = inTransaction(signOutPersonIn);

export async function setLogin(
  db: PrismaDb,
  { password, ...login }: Login & { mustChange?: boolean },
  origin: Origin,
): Promise<void> {
  const passwordHash = await hashQuickly(password);
  const set: UseCase = (tx) => setLoginIn(tx, { ...login, passwordHash }, origin);
  await inTransaction(set)(db, login.personId, origin);
}

/** Sets a login without an audit entry. */
export async function setCredential(tx: Queryable, { password, ...credential }: Login & { now: Date }): Promise<void> {
  await setPasswordHash(tx, { ...credential, passwordHash: await hashPassword(password) });
}
