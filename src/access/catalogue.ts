import type { GroupId, SchoolId } from "../directory/index.ts";
import type { RecordStore, Store } from "../platform/database/db.ts";
import { fields, findRows, makeFind, sql, statement, table, type Queryable } from "../platform/database/sql.ts";
import { findProfiles, type AppProfile } from "./app-profile.ts";
import { findAppReads, type AppReads } from "./app-reads.ts";
import { listAppsByName, type App, type AppPlace } from "./find-app.ts";
import { findGrants, type GrantSettings } from "./grant.ts";
import { findLastCalls } from "./last-calls.ts";
import { scopeNames, type ClientId, type ScopeName } from "./token.ts";
import { listWithheld } from "./withheld.ts";
import type { WithheldItem } from "./withheld-sql.ts";

type NamedGroup = { id: GroupId; name: string };

export type CatalogueApp = Pick<
  App,
  "clientId" | "name" | "type" | "loginUrl" | "attributes" | "suspendedAt" | "suspensionReason"
> &
  AppProfile & {
    scopes: ScopeName[];
    grant: (GrantSettings & { syncedGroupNames: NamedGroup[]; signOnGroupNames: NamedGroup[] }) | null;
    lastSignInAt: Date | null;
    lastCallAt: Date | null;
  };

type CatalogueQuery = {
  schoolId: SchoolId;
  search?: string | undefined;
  granted?: boolean | undefined;
  limit: number;
  after?: string | undefined;
};

const forSchools: ScopeName[] = scopeNames.filter((name) => !name.startsWith("admin:"));

export async function listCatalogue(
  db: Store,
  { schoolId, granted, ...page }: CatalogueQuery,
): Promise<(CatalogueApp & AppPlace)[]> {
  const grants = await db.prisma.grant.findMany({ where: { schoolId }, select: { clientId: true } });
  const withGrant = grants.map(({ clientId }) => clientId as ClientId);
  const offered =
    granted === true
      ? []
      : await db.prisma.app.findMany({ where: { scopes: { hasSome: forSchools } }, select: { clientId: true } });
  const others = offered.map(({ clientId }) => clientId as ClientId).filter((id) => !withGrant.includes(id));
  const among = [...(granted === false ? [] : withGrant), ...others];
  return describeApps(db, schoolId, await listAppsByName(db, { ...page, among }));
}

const appsAtOnce = 500;

/** An app without what the school withholds from it; `registeredScopes` are all it has. */
export type AppWithData = CatalogueApp & { registeredScopes: ScopeName[]; reads: AppReads };

/** The apps with a grant of the school or of another school of its people, and those that its people signed in to. */
export async function listAppsWithData(db: Store, schoolId: SchoolId): Promise<AppWithData[]> {
  const elsewhere = new Set((await listAppsOfPeople(db, { schoolId })).map(({ clientId }) => clientId));
  const withheld = await listWithheld(db, { schoolId });
  const isGiven = (clientId: ClientId) => (name: WithheldItem) =>
    !withheld.some((one) => one.clientId === clientId && one.item === name);
  const found: AppWithData[] = [];
  for (let after: string | undefined; ;) {
    const page = await listCatalogue(db, { schoolId, limit: appsAtOnce, after });
    const concerned = page.filter(({ clientId, grant }) => grant !== null || elsewhere.has(clientId));
    const reads = await mapAppReads(db, { schoolId, clientIds: concerned.map(({ clientId }) => clientId) });
    const withRoles = concerned.map((app) => ({
      ...app,
      reads: reads.get(app.clientId)!,
      registeredScopes: app.scopes,
      scopes: app.scopes.filter(isGiven(app.clientId)),
      attributes: app.attributes.filter(isGiven(app.clientId)),
    }));
    found.push(...withRoles);
    after = page.at(-1)?.place;
    if (page.length < appsAtOnce) return found;
  }
}

export async function findInCatalogue(
  db: Store,
  { schoolId, clientId }: { schoolId: SchoolId; clientId: ClientId },
): Promise<(CatalogueApp & { reads: AppReads }) | null> {
  const [found] = await describeApps(db, schoolId, await listAppsByName(db, { among: [clientId], limit: 1 }));
  if (found === undefined || (found.scopes.length === 0 && found.grant === null)) return null;
  return { ...found, reads: (await mapAppReads(db, { schoolId, clientIds: [clientId] })).get(clientId)! };
}

const mapAppReads = async (
  db: Store,
  query: { schoolId: SchoolId; clientIds: readonly ClientId[] },
): Promise<Map<ClientId, AppReads>> =>
  new Map((await findAppReads(db, query)).map(({ clientId, ...reads }) => [clientId, reads]));

async function describeApps<T extends App>(db: Store, schoolId: SchoolId, apps: readonly T[]) {
  const clientIds = apps.map(({ clientId }) => clientId);
  const [profiles, grants, lastSignIns, lastCalls] = await Promise.all([
    findProfiles(db, clientIds),
    findGrants(db, { schoolId, clientIds }),
    findLastSignIns(db, { schoolId, clientIds }),
    findLastCalls(db, { schoolId, clientIds }),
  ]);
  const names = await nameGroups(db, grants);
  return apps.map((app) => {
    const grant = grants.find(({ clientId }) => clientId === app.clientId);
    return {
      ...app,
      ...profiles.get(app.clientId)!,
      scopes: app.scopes.filter((name) => forSchools.includes(name)),
      grant: grant === undefined ? null : { ...grant, ...names(grant) },
      lastSignInAt: lastSignIns.get(app.clientId) ?? null,
      lastCallAt: lastCalls.get(app.clientId) ?? null,
    };
  });
}

const signOnGroupsOf = ({ signOn }: GrantSettings) => (signOn.kind === "GROUPS" ? signOn.groups : []);

async function nameGroups({ prisma }: RecordStore, grants: readonly GrantSettings[]) {
  const ids = grants.flatMap((grant) => [...grant.syncedGroups, ...signOnGroupsOf(grant)]);
  const found = await prisma.group.findMany({
    where: { id: { in: [...new Set<string>(ids)] } },
    select: { id: true, name: true },
    orderBy: [{ naturalKey: "asc" }, { id: "asc" }],
  });
  const pick = (chosen: readonly GroupId[]): NamedGroup[] => {
    const wanted = new Set<string>(chosen);
    return found.filter(({ id }) => wanted.has(id)).map(({ id, name }) => ({ id: id as GroupId, name }));
  };
  return (grant: GrantSettings) => ({
    syncedGroupNames: pick(grant.syncedGroups),
    signOnGroupNames: pick(signOnGroupsOf(grant)),
  });
}

type SignInQuery = { schoolId: SchoolId; clientIds: readonly ClientId[] };
type LastSignIn = { clientId: ClientId; at: Date };

const a = table("affiliation", "a");
const signIn = table("signIn", "sign_in");

const selectLastSignIns = statement<SignInQuery>(
  ({ schoolId, clientIds }) => sql`
  SELECT ${fields<LastSignIn>({ clientId: signIn.clientId, at: sql`max(${signIn.lastSignInAt})` })}
  FROM ${a} JOIN ${signIn} ON ${signIn.personId} = ${a.personId}
  WHERE ${a.schoolId} = ${schoolId} AND ${signIn.clientId} = ANY (${clientIds}::text[])
  GROUP BY ${signIn.clientId}`,
  "access.findLastSignIns",
);

const other = table("affiliation", "other");
const grant = table("grant");

const listAppsOfPeople = makeFind<{ clientId: ClientId }, { schoolId: SchoolId }>(
  ({ schoolId }) => sql`
  SELECT ${signIn.clientId} AS "clientId" FROM ${a} JOIN ${signIn} ON ${signIn.personId} = ${a.personId}
  WHERE ${a.schoolId} = ${schoolId}
  UNION SELECT ${grant.clientId} FROM ${a} JOIN ${other} ON ${other.personId} = ${a.personId}
    JOIN ${grant} ON ${grant.schoolId} = ${other.schoolId}
  WHERE ${a.schoolId} = ${schoolId}`,
  "access.listAppsOfPeople",
);

async function findLastSignIns(db: Queryable, query: SignInQuery): Promise<Map<ClientId, Date>> {
  if (query.clientIds.length === 0) return new Map();
  const rows = await findRows<LastSignIn, SignInQuery>(db, selectLastSignIns, query);
  return new Map(rows.map(({ clientId, at }) => [clientId, at]));
}
