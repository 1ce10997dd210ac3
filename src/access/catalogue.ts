import type { GroupId, PersonRole, SchoolId } from "../directory/index.ts";
import type { RecordStore, Store } from "../platform/database/db.ts";
import { fields, findRows, makeFind, sql, statement, table, type Queryable } from "../platform/database/sql.ts";
import { findProfiles, type AppProfile } from "./app-profile.ts";
import { listAppsByName, type App, type AppPlace } from "./find-app.ts";
import { findGrants, type GrantSettings } from "./grant.ts";
import { findLastCalls } from "./last-calls.ts";
import { scopeNames, type ClientId, type ScopeName } from "./token.ts";
import { listWithheld } from "./withheld.ts";
import type { WithheldItem } from "./withheld-sql.ts";

type NamedGroup = { id: GroupId; name: string };

export type CatalogueApp = Pick<App, "clientId" | "name" | "type" | "loginUrl" | "attributes"> &
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

/**
 * An app without what the school withholds from it; `registeredScopes` are all it has. `signedIn`: the roles of people
 * of the school who have signed in to it.
 */
export type AppWithData = CatalogueApp & { registeredScopes: ScopeName[]; signedIn: PersonRole[] };

/** The apps with a grant of the school, and those that people signed in to while they had one. */
export async function listAppsWithData(db: Store, schoolId: SchoolId): Promise<AppWithData[]> {
  const roles = new Map((await listSignedInRoles(db, { schoolId })).map((row) => [row.clientId, row.roles]));
  const withheld = await listWithheld(db, { schoolId });
  const isGiven = (clientId: ClientId) => (name: WithheldItem) =>
    !withheld.some((one) => one.clientId === clientId && one.item === name);
  const found: AppWithData[] = [];
  for (let after: string | undefined; ;) {
    const page = await listCatalogue(db, { schoolId, limit: appsAtOnce, after });
    const withRoles = page.map((app) => ({
      ...app,
      registeredScopes: app.scopes,
      scopes: app.scopes.filter(isGiven(app.clientId)),
      attributes: app.attributes.filter(isGiven(app.clientId)),
      signedIn: roles.get(app.clientId) ?? [],
    }));
    found.push(...withRoles.filter(({ grant, signedIn }) => grant !== null || signedIn.length > 0));
    after = page.at(-1)?.place;
    if (page.length < appsAtOnce) return found;
  }
}

export async function findInCatalogue(
  db: Store,
  { schoolId, clientId }: { schoolId: SchoolId; clientId: ClientId },
): Promise<CatalogueApp | null> {
  const [found] = await describeApps(db, schoolId, await listAppsByName(db, { among: [clientId], limit: 1 }));
  return found === undefined || (found.scopes.length === 0 && found.grant === null) ? null : found;
}

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

const p = table("person", "p");
type SignedInRoles = { clientId: ClientId; roles: PersonRole[] };

const listSignedInRoles = makeFind<SignedInRoles, { schoolId: SchoolId }>(
  ({ schoolId }) => sql`
  SELECT ${fields<SignedInRoles>({ clientId: signIn.clientId, roles: sql`array_agg(DISTINCT ${p.role}::text)` })}
  FROM ${a} JOIN ${signIn} ON ${signIn.personId} = ${a.personId} JOIN ${p} ON ${p.id} = ${a.personId}
  WHERE ${a.schoolId} = ${schoolId} GROUP BY ${signIn.clientId}`,
  "access.listSignedInRoles",
);

async function findLastSignIns(db: Queryable, query: SignInQuery): Promise<Map<ClientId, Date>> {
  if (query.clientIds.length === 0) return new Map();
  const rows = await findRows<LastSignIn, SignInQuery>(db, selectLastSignIns, query);
  return new Map(rows.map(({ clientId, at }) => [clientId, at]));
}
