import { appNotFound, findApp, type ClientId } from "../access/index.ts";
import { findSchool, type PersonId, type SchoolId } from "../directory/index.ts";
import { storeOf, type PrismaDb, type RecordStore, type Store } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { isReached, type Reach } from "../staff/index.ts";
import { endpointNotFound, getEndpointState } from "../webhooks/index.ts";
import type { OperationId, PathName } from "./handler.ts";
import { getReachedPerson, type PersonReach } from "./whose-person.ts";

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

/** Those of a list. */
export type Filters = { school?: SchoolId; person?: PersonId; app?: ClientId };

type Addressed = {
  operationId: OperationId;
  path: Partial<Record<PathName, string>>;
  query: Filters;
  reach: PersonReach;
};

/**
 * Refuses an address in a school, app or endpoint that is unknown or out of reach, and a filter by one. What is at a
 * person is decided by their handlers, writes in the transaction that locks the person. Errors: not_found.
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
