import { findPerson, type Change, type Person, type PersonId, type SchoolId } from "../../directory/index.ts";
import { listSignInTimes, type SignInTimes } from "../../access/index.ts";
import type { Same } from "../../platform/contract-types.ts";
import type { RecordStore } from "../../platform/database/db.ts";
import { listUserNames, type UserName } from "../../accounts/index.ts";
import { isReached, refuseHigherHolder, type Reach } from "../../staff/index.ts";
import { changeInDirectory, type PreviewedRequest } from "../change.ts";
import { present, type AdminDeps, type AdminRequest, type Schemas } from "../handler.ts";
import { getReachedPerson, keepsRecord, type PersonReach } from "../reached.ts";

type AdminPerson = Schemas["AdminPerson"];

type Added = "username" | "hasLogin" | "homeSchool" | "isGuest" | "firstSignInAt" | "lastSignInAt";
/** Does not compile if a person has a property that the contract lacks. */
export const personProperties: Same<Exclude<keyof AdminPerson, Added>, keyof Person> = true;

type Traces = { login: UserName | undefined; times: SignInTimes | undefined };

/** Omits schools that the caller does not reach and their groups; of guests, what their home school keeps. */
function presentPerson(person: Person, reach: Reach, { login, times }: Traces): AdminPerson {
  const { homeSchoolId, sourceSystemIdentifier, schools, groups } = person;
  const isGuest = !keepsRecord(reach, homeSchoolId);
  const ofHome = <T>(value: T): T | null => (isGuest ? null : value);
  const isSeen = (schoolId: SchoolId) => isReached(reach, { schools: [schoolId] });
  return present("AdminPerson", {
    ...person,
    sourceSystemIdentifier: ofHome(sourceSystemIdentifier),
    username: ofHome(login?.username ?? null),
    hasLogin: login?.hasPassword ?? false,
    homeSchool: schools.find((school) => school.id === homeSchoolId) ?? null,
    isGuest,
    firstSignInAt: ofHome(times?.firstSignInAt ?? null),
    lastSignInAt: ofHome(times?.lastSignInAt ?? null),
    schools: schools.filter((school) => isSeen(school.id)),
    groups: groups.filter(({ schoolId }) => isSeen(schoolId)),
  });
}

export async function makePresenter(
  db: Pick<RecordStore, "prisma">,
  reach: Reach,
  people: readonly Person[],
): Promise<(person: Person) => AdminPerson> {
  const ids = people.map(({ id }) => id);
  const logins = await listUserNames(db, ids);
  const times = await listSignInTimes(db, ids);
  return (person) => presentPerson(person, reach, { login: logins.get(person.id), times: times.get(person.id) });
}

/** Properties that change without a change of the person's record. */
export const passing = ["firstSignInAt", "lastSignInAt"] as const satisfies (keyof AdminPerson)[];

/** The person wherever they are, for the state after a change. */
async function findRecord(db: RecordStore, reach: Reach, personId: PersonId): Promise<AdminPerson | null> {
  const person = await findPerson(db, personId);
  if (person === null) return null;
  return (await makePresenter(db, reach, [person]))(person);
}

/** Errors: as `getReachedPerson`. */
export async function readPerson(db: RecordStore, reach: PersonReach, personId: PersonId): Promise<AdminPerson> {
  const person = await getReachedPerson(db, reach, personId);
  return (await makePresenter(db, reach, [person]))(person);
}

/**
 * `schools` are those that the person joins or leaves. Errors: as `getReachedPerson`; forbidden role_forbids for staff
 * above the caller; StaleRecord; those of `work`.
 */
export async function changePerson(
  deps: AdminDeps,
  request: PreviewedRequest & Pick<AdminRequest<"getPerson">, "personId" | "reach" | "caller">,
  work: (change: Change, before: AdminPerson) => Promise<unknown>,
  { schools = [], forgets = false }: { schools?: readonly SchoolId[]; forgets?: boolean } = {},
) {
  const { personId, reach, caller } = request;
  await getReachedPerson(deps.db, reach, personId);
  return changeInDirectory(deps, request, {
    touch: async (change) => {
      await change.touch({ people: [personId], schools });
      await getReachedPerson(change.tx, reach, personId);
    },
    record: (tx) => findRecord(tx, reach, personId),
    work: async (change, before) => {
      await refuseHigherHolder(change.tx, { holder: { personId }, mine: caller.roles, now: change.now });
      await work(change, before!);
    },
    without: passing,
    effect: forgets ? "forgets" : undefined,
  });
}
