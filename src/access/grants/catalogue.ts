import type { GroupId, PersonRole, SchoolId } from "../../directory/index.ts";
import type { RecordStore, Store } from "../../platform/database/db.ts";
import { fields, literal, makeFind, sql, table, type Queryable, type Sql } from "../../platform/database/sql.ts";
import { listAppsByName, type App, type AppPlace } from "../apps/find.ts";
import { findProfiles, type AppProfile } from "../apps/profile.ts";
import { groupIsReadable, personIsListed, schoolIsReadable, syncedPersonIsListed } from "../readable.ts";
import { userIsListed, userIsReadable } from "../readable.ts";
import { scopeNames, type ClientId, type ScopeName } from "../token.ts";
import { listWithheld } from "../withheld.ts";
import type { WithheldItem } from "../withheld-sql.ts";
import { listGrants, type GrantSettings } from "./grant.ts";
import { findLastCalls } from "./last-calls.ts";

type NamedGroup = { id: GroupId; name: string };

export type CatalogueApp = App &
  AppProfile & {
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
  const ofSchool = { grants: { some: { schoolId } } };
  const offered = { NOT: ofSchool, scopes: { hasSome: forSchools } };
  const where = granted === true ? ofSchool : granted === false ? offered : { OR: [ofSchool, offered] };
  const apps = await db.prisma.app.findMany({ where, select: { clientId: true } });
  const among = apps.map(({ clientId }) => clientId as ClientId);
  return describeApps(db, schoolId, await listAppsByName(db, { ...page, among }));
}

const appsAtOnce = 500;

/** An app without what the school withholds from it; `registeredScopes` are all it has. */
export type AppWithData = CatalogueApp & { registeredScopes: ScopeName[]; reads: AppReads };

/** The apps with a grant of the school or of another school of its people, and those that its people signed in to. */
export async function listAppsWithData(db: Store, schoolId: SchoolId): Promise<AppWithData[]> {
  const elsewhere = new Set((await listAppsOfPeople(db, { schoolId })).map(({ clientId }) => clientId));
  const withheld = await listWithheld(db, { schoolId });
  const apps: AppWithData[] = [];
  for (let after: string | undefined; ;) {
    const page = await listCatalogue(db, { schoolId, limit: appsAtOnce, after });
    const concerned = page.filter(({ clientId, grant }) => grant !== null || elsewhere.has(clientId));
    const reads = await mapAppReads(db, { schoolId, clientIds: concerned.map(({ clientId }) => clientId) });
    for (const { scopes, attributes, ...app } of concerned) {
      const isGiven = (item: WithheldItem) =>
        !withheld.some((one) => one.clientId === app.clientId && one.item === item);
      const granted = { scopes: scopes.filter(isGiven), attributes: attributes.filter(isGiven) };
      apps.push({ ...app, ...granted, registeredScopes: scopes, reads: reads.get(app.clientId)! });
    }
    after = page.at(-1)?.place;
    if (page.length < appsAtOnce) return apps;
  }
}

export async function findInCatalogue(
  db: Store,
  { schoolId, clientId }: { schoolId: SchoolId; clientId: ClientId },
): Promise<(CatalogueApp & { reads: AppReads }) | null> {
  const [app] = await describeApps(db, schoolId, await listAppsByName(db, { among: [clientId], limit: 1 }));
  if (app === undefined || (app.scopes.length === 0 && app.grant === null)) return null;
  return { ...app, reads: (await mapAppReads(db, { schoolId, clientIds: [clientId] })).get(clientId)! };
}

const mapAppReads = async (db: Store, query: AtSchool): Promise<Map<ClientId, AppReads>> =>
  new Map((await findAppReads(db, query)).map(({ clientId, ...reads }) => [clientId, reads]));

type AtSchool = { schoolId: SchoolId; clientIds: readonly ClientId[] };

async function describeApps<T extends App>(db: Store, schoolId: SchoolId, apps: readonly T[]) {
  const clientIds = apps.map(({ clientId }) => clientId);
  const [profiles, grants, lastSignIns, lastCalls] = await Promise.all([
    findProfiles(db, clientIds),
    listGrants(db, { schoolId, clientId: { in: clientIds } }),
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
  const groups = (await prisma.group.findMany({
    where: { id: { in: [...new Set<string>(ids)] } },
    select: { id: true, name: true },
    orderBy: [{ naturalKey: "asc" }, { id: "asc" }],
  })) as NamedGroup[];
  const pick = (chosen: readonly GroupId[]) => groups.filter(({ id }) => chosen.includes(id));
  return (grant: GrantSettings) => ({
    syncedGroupNames: pick(grant.syncedGroups),
    signOnGroupNames: pick(signOnGroupsOf(grant)),
  });
}

type LastSignIn = { clientId: ClientId; at: Date };

const a = table("affiliation", "a");
const signIn = table("signIn", "sign_in");

const listLastSignIns = makeFind<LastSignIn, AtSchool>("access.findLastSignIns")`
  SELECT ${fields<LastSignIn>({ clientId: signIn.clientId, at: sql`max(${signIn.lastSignInAt})` })}
  FROM ${a} JOIN ${signIn} ON ${signIn.personId} = ${a.personId}
  WHERE ${a.schoolId} = ${"schoolId"} AND ${signIn.clientId} = ANY (${"clientIds"}::text[])
  GROUP BY ${signIn.clientId}`;

async function findLastSignIns(db: Queryable, query: AtSchool): Promise<Map<ClientId, Date>> {
  if (query.clientIds.length === 0) return new Map();
  return new Map((await listLastSignIns(db, query)).map(({ clientId, at }) => [clientId, at]));
}

const other = table("affiliation", "other");
const grant = table("grant");

const listAppsOfPeople = makeFind<{ clientId: ClientId }, { schoolId: SchoolId }>("access.listAppsOfPeople")`
  SELECT ${signIn.clientId} AS "clientId" FROM ${a} JOIN ${signIn} ON ${signIn.personId} = ${a.personId}
  WHERE ${a.schoolId} = ${"schoolId"}
  UNION SELECT ${grant.clientId} FROM ${a} JOIN ${other} ON ${other.personId} = ${a.personId}
    JOIN ${grant} ON ${grant.schoolId} = ${other.schoolId}
  WHERE ${a.schoolId} = ${"schoolId"}`;

/** What an app can read of a school by itself, without a person who signs in. */
export type AppReads = {
  school: boolean;
  /** The names of the groups that it reads with their members. */
  groups: string[];
  /** In lists of people of the school. */
  people: number;
  /** People in no list of the school: soft-deleted, or seen through another school. */
  otherPeople: number;
  /** In lists of users of the school. */
  users: number;
  /** Users whom the app can only read one by one. */
  otherUsers: number;
  roles: PersonRole[];
};

type Row = AppReads & { clientId: ClientId };

const app = table("app");
const p = table("person", "p");
const g = table("group", "g");
const s = table("school", "s");

const findAppReads = makeFind<Row, AtSchool>(({ schoolId, clientIds }) => {
  const reader = { client: app.clientId };
  const school = sql`${schoolId}::uuid`;
  // Only a confidential app gets a token of its own.
  const has = (scope: ScopeName) => sql`(${app.type} = 'CONFIDENTIAL' AND ${literal(scope)} = ANY (${app.scopes}))`;
  const listed = {
    id: sql`listed.id`,
    role: sql`listed.role`,
    status: sql`listed.status`,
    seenBy: sql`listed.seen_by`,
  };
  const condition = {
    people: sql`(${has("people:read")} AND ${personIsListed(reader, p, school)})`,
    synced: sql`(${has("people:read")} AND ${syncedPersonIsListed(reader, listed)})`,
    users: sql`(${has("users:read")} AND ${userIsListed(reader, p, school)})`,
    user: sql`(${has("users:read")} AND ${userIsReadable(reader, listed)})`,
  };
  const count = (counted: Sql) => sql`count(*) FILTER (WHERE ${counted})::int`;
  return sql`
    SELECT ${fields<Row>({
      clientId: app.clientId,
      school: sql`(${has("schools:read")} AND EXISTS (
        SELECT FROM ${s} WHERE ${s.id} = ${school} AND ${schoolIsReadable(app.clientId, s)}))`,
      groups: sql`ARRAY(
        SELECT ${g.name} FROM ${g}
        WHERE ${g.schoolId} = ${school} AND ${has("groups:read")} AND ${groupIsReadable(app.clientId, g)}
        ORDER BY ${g.naturalKey}, ${g.id})`,
      people: sql`found.people`,
      otherPeople: sql`found.other_people`,
      users: sql`found.users`,
      otherUsers: sql`found.other_users`,
      roles: sql`found.roles`,
    })}
    FROM ${app} CROSS JOIN LATERAL (
      SELECT ${count(sql`known.in_people`)} AS people, ${count(sql`known.is_synced AND NOT known.in_people`)} AS other_people,
        ${count(sql`known.in_users`)} AS users, ${count(sql`known.is_user AND NOT known.in_users`)} AS other_users,
        coalesce(array_agg(DISTINCT known.role) FILTER (WHERE known.is_synced OR known.in_users OR known.is_user), '{}') AS roles
      FROM (
        SELECT listed.role::text AS role, listed.in_people, listed.in_users,
          CASE WHEN listed.in_people THEN true ELSE ${condition.synced} END AS is_synced,
          CASE WHEN listed.in_users THEN true ELSE ${condition.user} END AS is_user
        FROM (
          SELECT ${p.id}, ${p.role}, ${p.status}, ${p.seenBy}, ${condition.people} AS in_people, ${condition.users} AS in_users
          FROM ${a} JOIN ${p} ON ${p.id} = ${a.personId} WHERE ${a.schoolId} = ${school} OFFSET 0
        ) AS listed
        OFFSET 0
      ) AS known
    ) AS found
    WHERE ${app.clientId} = ANY (${clientIds}::text[])`;
}, "access.findAppReads");
