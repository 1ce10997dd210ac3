import { makeSortKey, type GroupId, type PersonId, type SchoolId } from "../directory/index.ts";
import { fields, makeFind, sql, table, type Queryable } from "../platform/database/sql.ts";
import type { AppAttribute } from "./attributes.ts";
import type { App } from "./apps/find.ts";
import { decideSignOnRight, signOnFactsOf, type SignOnFacts } from "./sign-on/right.ts";
import type { ClientId, ScopeName } from "./token.ts";
import { fromShownGroupsOf, fromShownSchoolsOf, personIsSynced, userIsShown } from "./visibility.ts";
import { schoolsOf, withoutWithheld } from "./withheld-sql.ts";

export type AppOfPerson = {
  clientId: ClientId;
  name: string;
  type: App["type"];
  /** Without what the person's schools withhold. */
  scopes: ScopeName[];
  granted: AppAttribute[];
  maySignIn: boolean;
  signOnSchools: { id: SchoolId; name: string }[];
  isUser: boolean;
  /** The app sees them as a synced person, possibly soft-deleted. */
  isPerson: boolean;
  /** Soft-deleted: in no list of users and in no group. */
  isDeleted: boolean;
  schools: { id: SchoolId; name: string }[];
  groups: { id: GroupId; name: string; schoolId: SchoolId }[];
  firstSignInAt: string | null;
  lastSignInAt: string | null;
};

type Row = Omit<AppOfPerson, "maySignIn" | "signOnSchools"> & { facts: SignOnFacts };

const app = table("app");
const grant = table("grant");
const at = table("affiliation", "at");
const signIn = table("signIn");
const p = table("person", "p");
const s = table("school", "s");
const g = table("group", "g");

type PersonQuery = { personId: PersonId; now: Date };

const selectApps = makeFind<Row, PersonQuery>(({ personId, now }) => {
  const client = app.clientId;
  const ofPair = sql`${signIn.clientId} = ${client} AND ${signIn.personId} = ${p.id}`;
  return sql`
    SELECT ${fields<Row>({
      clientId: client,
      name: app.name,
      type: app.type,
      scopes: withoutWithheld(client, app.scopes, schoolsOf(personId)),
      granted: withoutWithheld(client, app.attributes, schoolsOf(personId)),
      facts: signOnFactsOf(client, sql`${personId}::uuid`, now),
      isUser: userIsShown(client, p),
      isPerson: personIsSynced(client, p),
      isDeleted: sql`${p.status} <> 'ACTIVE'`,
      schools: sql`(
        SELECT coalesce(json_agg(json_build_object('id', ${s.id}, 'name', ${s.name}) ORDER BY ${s.sortKey}, ${s.id}), '[]')
        ${fromShownSchoolsOf(client, p.id)})`,
      groups: sql`(
        SELECT coalesce(json_agg(json_build_object('id', ${g.id}, 'name', ${g.name}, 'schoolId', ${g.schoolId})
          ORDER BY ${g.naturalKey}, ${g.id}), '[]')
        ${fromShownGroupsOf(client, p.id)})`,
      firstSignInAt: sql`(SELECT to_json(${signIn.firstSignInAt}) #>> '{}' FROM ${signIn} WHERE ${ofPair})`,
      lastSignInAt: sql`(SELECT to_json(${signIn.lastSignInAt}) #>> '{}' FROM ${signIn} WHERE ${ofPair})`,
    })}
    FROM ${p} CROSS JOIN ${app}
    WHERE ${p.id} = ${personId} AND ${client} IN (
      SELECT ${signIn.clientId} FROM ${signIn} WHERE ${signIn.personId} = ${personId}
      UNION SELECT ${grant.clientId} FROM ${at} JOIN ${grant} ON ${grant.schoolId} = ${at.schoolId}
      WHERE ${at.personId} = ${personId})`;
}, "access.listAppsOfPerson");

export async function listAppsOfPerson(
  db: Queryable,
  query: PersonQuery,
): Promise<(AppOfPerson & { place: string })[]> {
  return (await selectApps(db, query))
    .map(({ facts, ...row }) => {
      const right = decideSignOnRight(facts);
      return {
        ...row,
        maySignIn: right.kind === "allowed",
        signOnSchools: right.kind === "allowed" ? right.schools : [],
        place: `${makeSortKey(row.name)}\0${row.clientId}`,
      };
    })
    .filter(({ isUser, isPerson, maySignIn }) => isUser || isPerson || maySignIn)
    .sort((a, b) => (a.place < b.place ? -1 : Number(a.place > b.place)));
}

const personAttributes = ["name", "role", "status", "groups", "schools", "sourceSystemIdentifier"] as const;
export type PersonAttribute = (typeof personAttributes)[number];

const byClaim: Partial<Record<ScopeName, PersonAttribute>> = {
  profile: "name",
  role: "role",
  school: "schools",
  school_name: "schools",
  school_official_id: "schools",
  school_location: "schools",
  school_address: "schools",
  schooling_level: "schools",
  groups: "groups",
};

const neededFor: Partial<Record<ScopeName, AppAttribute>> = {
  school_official_id: "SCHOOL_OFFICIAL_ID",
  school_location: "SCHOOL_LOCATION",
  school_address: "SCHOOL_ADDRESS",
  schooling_level: "SCHOOLING_LEVEL",
};

const byGrant: Partial<Record<PersonAttribute, AppAttribute>> = {
  name: "PERSON_NAME",
  sourceSystemIdentifier: "SOURCE_SYSTEM_IDENTIFIER",
};

/** `schools` sync to the app, `groups` are those of them that it sees. */
type Seen = Pick<AppOfPerson, "type" | "scopes" | "granted" | "maySignIn" | "isUser" | "isPerson"> &
  Record<"schools" | "groups", readonly unknown[]> & { isDeleted?: boolean };

/** What an app learns about a person, or about people of a school, through sign-on and the APIs together. */
export function attributesOf(seen: Seen): PersonAttribute[] {
  const { type, scopes, granted, maySignIn, isUser, isPerson, isDeleted = false, schools, groups } = seen;
  const isGranted = (attribute: AppAttribute | undefined) => attribute === undefined || granted.includes(attribute);
  const claims = maySignIn && scopes.includes("openid") ? scopes.filter((scope) => isGranted(neededFor[scope])) : [];
  const known = new Set<PersonAttribute | undefined>(claims.map((scope) => byClaim[scope]));
  const add = (...names: PersonAttribute[]) => names.forEach((name) => known.add(name));
  if (claims.includes("person-info"))
    add("name", "role", ...(isGranted("SCHOOL_OFFICIAL_ID") ? (["schools"] as const) : []));
  // A public app has no token of its own, but the signed-in person's.
  const has = (scope: ScopeName) => type === "CONFIDENTIAL" && scopes.includes(scope);
  const isListed = schools.length > 0 && !isDeleted;
  if (isUser && has("users:read")) add("name", "role", "status", "groups", ...(isListed ? ["schools" as const] : []));
  if (isPerson && has("people:read")) add(...personAttributes);
  if (maySignIn && isListed && scopes.includes("people:read")) add("name", "role", "groups", "schools");
  if (isPerson && !isDeleted && has("groups:read")) add("name", "role", "groups", "schools");
  if (groups.length === 0) known.delete("groups");
  return personAttributes.filter((name) => known.has(name) && isGranted(byGrant[name]));
}

const [synced, signOn] = [table("syncedGroup", "synced"), table("grantSignOnGroup", "sign_on")];

type AppOfGroup = { groupId: GroupId; clientId: ClientId; name: string };

export const listAppsOfGroups = makeFind<AppOfGroup, { groupIds: readonly GroupId[] }>()`
  SELECT named.group_id AS "groupId", ${app.clientId} AS "clientId", ${app.name} FROM (
    SELECT ${synced.groupId}, ${synced.clientId} FROM ${synced} WHERE ${synced.groupId} = ANY (${"groupIds"}::uuid[])
    UNION SELECT ${signOn.groupId}, ${signOn.clientId} FROM ${signOn}
      WHERE ${signOn.groupId} = ANY (${"groupIds"}::uuid[])
  ) AS named JOIN ${app} ON ${app.clientId} = named.client_id ORDER BY ${app.name}, ${app.clientId}`;
