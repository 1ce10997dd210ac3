import { appNotFound, findApp, type ClientId } from "../access/index.ts";
import { findSchool, findPerson, type PersonId, type SchoolId, type Person } from "../directory/index.ts";
import { storeOf, type PrismaDb, type RecordStore, type Store } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { isReached, groupsInReach, isGroupReached, type Reach } from "../staff/index.ts";
import { endpointNotFound, getEndpointState } from "../webhooks/index.ts";
import type { OperationId, PathName } from "./handler.ts";
import type { OpenApiDocument } from "../platform/http/index.ts";

export const schoolUnknown = () => new AppError("not_found", "school_not_found", "The school does not exist.");

/** Errors: not_found school_not_found if out of reach. */
export function refuseOtherSchool(reach: Reach, schoolId: SchoolId): void {
  if (!isReached(reach, { schools: [schoolId] })) throw schoolUnknown();
}

/** Errors: not_found school_not_found, also if out of reach. */
export async function refuseUnknownSchool(db: Pick<Store, "prisma">, reach: Reach, schoolId: SchoolId): Promise<void> {
  refuseOtherSchool(reach, schoolId);
  if ((await findSchool(db, schoolId)) === null) throw schoolUnknown();
}

/** The apps that a caller sees: all for staff of schools, who choose among them; otherwise their own. */
export const appsOf = ({ all, schoolIds, clientIds }: Reach): ClientId[] | undefined =>
  all || schoolIds.size > 0 ? undefined : [...clientIds];

/** The apps that a caller manages: all for operators; otherwise a partner's own. */
export const ownAppsOf = ({ all, clientIds }: Reach): ClientId[] | undefined => (all ? undefined : [...clientIds]);

export const reachesApp = (reach: Reach, clientId: ClientId): boolean => appsOf(reach)?.includes(clientId) ?? true;

export const reachesOwnApp = ({ all, clientIds }: Reach, clientId: ClientId): boolean => all || clientIds.has(clientId);

/** Errors: not_found app_not_found, also if out of reach. */
export async function refuseUnknownApp(db: Pick<Store, "query">, reach: Reach, clientId: ClientId): Promise<void> {
  if (!reachesApp(reach, clientId) || (await findApp(db, clientId)) === null) throw appNotFound();
}

/** Errors: not_found app_not_found, also if the caller does not manage the app. */
export async function refuseOthersApp(db: Pick<Store, "query">, reach: Reach, clientId: ClientId): Promise<void> {
  if (!reachesOwnApp(reach, clientId) || (await findApp(db, clientId)) === null) throw appNotFound();
}

/** Errors: not_found webhook_endpoint_not_found if the caller does not reach the app of the endpoint. */
export async function refuseOtherEndpoint(db: RecordStore, reach: Reach, id: string): Promise<void> {
  const { clientId } = await getEndpointState(db, id);
  if (!reachesApp(reach, clientId as ClientId)) throw endpointNotFound();
}

/** Apps of a partner reach a school too. */
const withOwnRules: ReadonlySet<OperationId> = new Set<OperationId>([
  ...(["getAppView", "getGrant", "listGrants"] as const),
  ...(["listSeats", "listAccessReports", "listOpenErasures"] as const),
]);

/** The filters of a list. */
export type Filters = { school?: SchoolId; person?: PersonId; app?: ClientId };

type Addressed = {
  operationId: OperationId;
  path: Partial<Record<PathName, string>>;
  query: Filters;
  reach: PersonReach;
};

/**
 * Refuses addresses and filters that name a school, app or endpoint that is unknown or out of reach. For addresses of
 * people the handlers decide; writes do so in the transaction that locks the person. Errors: not_found.
 */
export async function refuseUnreached(db: PrismaDb, { operationId, path, query, reach }: Addressed): Promise<void> {
  const { personId, schoolId, clientId, endpointId, importId } = path;
  if (personId !== undefined || importId !== undefined || withOwnRules.has(operationId)) return;
  if (schoolId !== undefined) return refuseUnknownSchool(db, reach, schoolId as SchoolId);
  if (clientId !== undefined) return refuseUnknownApp(db.pool, reach, clientId as ClientId);
  if (endpointId !== undefined) return refuseOtherEndpoint(storeOf(db), reach, endpointId);
  const { school, person, app } = query;
  if (school !== undefined) await refuseUnknownSchool(db, reach, school);
  if (person !== undefined) await getReachedPerson(storeOf(db), reach, person);
  if (app !== undefined) await refuseUnknownApp(db.pool, reach, app);
}

/** Whether the caller must reach the person's home school, or any of their schools. */
export type PersonNeed = "home" | "member";

export type PersonReach = Reach & { personNeed: PersonNeed };

/** Reads `x-person` of every operation; the default is `home`. */
export function readPersonNeeds({ paths }: OpenApiDocument): (operationId: string) => PersonNeed {
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const open = new Set(operations.filter((one) => one["x-person"] === "member").map((one) => one.operationId));
  return (operationId) => (open.has(operationId) ? "member" : "home");
}

/** The schools that a caller reaches with all their groups. */
export const keepingSchools = (reach: Reach): SchoolId[] =>
  [...reach.schoolIds].filter((id) => groupsInReach(reach, id).all);

/** Whether the caller reaches the home school of a record. A person without a home is at no school. */
export const keepsRecord = (reach: Reach, homeSchoolId: SchoolId | null): boolean =>
  homeSchoolId === null ? reach.all : groupsInReach(reach, homeSchoolId).all;

export const personUnknown = () => new AppError("not_found", "person_not_found", "The person does not exist.");
const homeSchoolOnly = () =>
  new AppError(
    "forbidden",
    "home_school_only",
    "The person's home school keeps this. Ask it to do it, or to make your school their home.",
  );

/** A class teacher reaches the students of their groups. */
async function isReachedAt(db: RecordStore, reach: Reach, { role, groups }: Person, schools: readonly SchoolId[]) {
  if (reach.all || schools.some((id) => groupsInReach(reach, id).all)) return true;
  if (role !== "STUDENT") return false;
  const taught = groups.filter(({ status, schoolId }) => status === "ACTIVE" && schools.includes(schoolId));
  for (const group of taught) if (await isGroupReached(db, reach, group)) return true;
  return false;
}

/**
 * A write calls this in its transaction, after it has locked the person. `isGuest`: the caller does not reach the home
 * school. Errors: not_found person_not_found, also if out of reach; forbidden home_school_only.
 */
export async function getReachedPerson(
  db: RecordStore,
  reach: PersonReach,
  personId: PersonId,
): Promise<Person & { isGuest: boolean }> {
  const person = await findPerson(db, personId);
  const schools = person?.schools.map(({ id }) => id) ?? [];
  if (person === null || !(await isReachedAt(db, reach, person, schools))) throw personUnknown();
  const { homeSchoolId } = person;
  const keeping = homeSchoolId === null ? schools : [homeSchoolId];
  const isGuest = !(await isReachedAt(db, reach, person, keeping));
  if (isGuest && reach.personNeed === "home") throw homeSchoolOnly();
  return { ...person, isGuest };
}

/** The people whose home is another school, which makes their passwords and cards. */
export async function listGuests(
  { prisma }: RecordStore,
  { schoolId, personIds }: { schoolId: SchoolId; personIds: readonly PersonId[] },
): Promise<ReadonlySet<PersonId>> {
  const people = await prisma.person.findMany({
    where: { id: { in: [...personIds] }, homeSchoolId: { not: schoolId } },
    select: { id: true },
  });
  return new Set(people.map(({ id }) => id as PersonId));
}
