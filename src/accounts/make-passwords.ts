import { againAfterDeadlock } from "../access/index.ts";
import { personNameOf } from "../directory/index.ts";
import type { GroupId, PersonId, PersonName, PersonRole, SchoolId } from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import { withPrismaTransaction, type PrismaDb, type RecordStore, type Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { fields, makeFind, pick, sql, table } from "../platform/database/sql.ts";
import { lockPeople, prepareForPeople, setSecretsIn, type Prepared } from "./set-secrets.ts";
import { getSignInSettings } from "./sign-in-settings.ts";
import { giveUserNames } from "./user-names/give-names.ts";

export type PasswordsFor = { schoolId: SchoolId; onlyMissing: boolean } & (
  { roles: readonly PersonRole[] } | { groupId: GroupId; personIds?: readonly string[] | undefined }
);

export type MadeLogin = { personId: PersonId; name: PersonName | null; username: string; password: string };

const mostPeople = 3_000;

async function listCandidates({ prisma }: RecordStore, selection: PasswordsFor): Promise<PersonId[]> {
  const { schoolId, onlyMissing } = selection;
  const isStudent = { role: "STUDENT" as const };
  const inGroup = "groupId" in selection && { memberships: { some: { groupId: selection.groupId, ...isStudent } } };
  const people = await prisma.person.findMany({
    where: {
      status: "ACTIVE",
      ...("groupId" in selection && selection.personIds && { id: { in: [...selection.personIds] } }),
      affiliations: { some: { schoolId, ...inGroup } },
      ...("groupId" in selection ? isStudent : { role: { in: [...selection.roles] } }),
      ...(onlyMissing && { NOT: { credential: { passwordHash: { not: null } } } }),
    },
    select: { id: true },
    orderBy: [{ sortKey: "asc" }, { id: "asc" }],
    take: mostPeople + 1,
  });
  if (people.length > mostPeople)
    throw new AppError(
      "conflict",
      "too_many_people",
      `These are more than ${mostPeople} people. Make passwords for one group after the other.`,
    );
  return people.map(({ id }) => id as PersonId);
}

/** Makes passwords and missing user names; sign-ins end. Errors: not_found; conflict too_many_people. */
export async function makePasswords<T>(
  db: PrismaDb,
  selection: PasswordsFor,
  { origin, listRefused, finish }: PasswordChange<T>,
): Promise<T> {
  const { passwordKind, mustChangePassword: mustChange } = await getSignInSettings(db, selection.schoolId);
  const candidates = await listCandidates(db, selection);
  const prepared = await prepareForPeople(candidates, { passwordKind, makeCard: null });
  return againAfterDeadlock(() =>
    withPrismaTransaction(db, async (tx) => {
      const locked = await lockPeople(tx, candidates);
      const there = candidates.filter((id) => locked.has(id));
      const refused = await listRefused(tx, there);
      const allowed = there.filter((id) => !refused.has(id));
      await giveUserNames(tx, { schoolId: selection.schoolId, people: allowed }, origin.at);
      return finish(tx, await writePasswords(tx, allowed, { prepared, selection, mustChange, origin }));
    }),
  );
}

type PasswordChange<T> = {
  origin: Origin;
  listRefused: (tx: Transaction, personIds: readonly PersonId[]) => Promise<ReadonlySet<PersonId>>;
  finish: (tx: Transaction, made: MadeLogin[]) => Promise<T>;
};

const p = table("person", "p");
const c = table("credential", "c");

type LoginRow = { [Part in keyof PersonName]: string | null } & {
  personId: PersonId;
  username: string;
  hadPassword: boolean;
};

const selectLogins = makeFind<LoginRow, { people: PersonId[] }>()`
    SELECT ${fields<LoginRow>({
      ...pick(p, "firstFull", "firstCall", "last"),
      personId: p.id,
      username: c.username,
      hadPassword: sql`${c.passwordHash} IS NOT NULL`,
    })}
    FROM ${p} JOIN ${c} ON ${c.personId} = ${p.id} WHERE ${p.id} = ANY (${"people"}::uuid[])
    ORDER BY ${p.sortKey}, ${p.id}`;

type Writing = {
  prepared: ReadonlyMap<PersonId, Prepared>;
  selection: PasswordsFor;
  mustChange: boolean;
  origin: Origin;
};

async function writePasswords(
  tx: Transaction,
  allowed: PersonId[],
  { prepared, selection, mustChange, origin }: Writing,
): Promise<MadeLogin[]> {
  const logins = await selectLogins(tx, { people: allowed });
  const wanted = logins.filter(({ hadPassword }) => !(selection.onlyMissing && hadPassword));
  const people = wanted.map(({ personId }) => ({ ...prepared.get(personId)!, personId }));
  const groupIds = "groupId" in selection ? [selection.groupId] : undefined;
  await setSecretsIn(tx, { schoolId: selection.schoolId, people, mustChange, groupIds }, origin);
  return wanted.map(({ personId, username, firstFull, firstCall, last }) => ({
    personId,
    username,
    password: prepared.get(personId)!.password!,
    name: personNameOf({ firstFull, firstCall, last }),
  }));
}
