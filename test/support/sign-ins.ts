import { againAfterDeadlock } from "../../src/access/index.ts";
import {
  blockPersonIn,
  hashPassword,
  putSignInSettings,
  setLoginIn,
  setPasswordHash,
  signOutPersonIn,
  unblockPersonIn,
} from "../../src/accounts/index.ts";
import type { PersonId, SchoolId } from "../../src/directory/index.ts";
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

type SettingsOfSchool = Parameters<typeof putSignInSettings>[1];

/** Sets how people of a school sign in. By default nobody changes their password. */
export function setSignInSettings(
  db: PrismaDb,
  given: Partial<SettingsOfSchool> & { schoolId: SchoolId },
  origin: Origin,
): Promise<void> {
  const settings = {
    userNameRule: "FIRST_DOT_LAST" as const,
    passwordKind: "LETTERS" as const,
    mustChangePassword: false,
    ownPasswordFromGrade: null,
    helpText: null,
    ...given,
  };
  return withPrismaTransaction(db, (tx) => putSignInSettings(tx, settings, origin));
}
