import { makeSortKey, type GroupId, type PersonId, type SchoolId } from "../directory/index.ts";
import { fields, findRows, type Queryable, sql, statement, table } from "../platform/database/sql.ts";
import type { AppAttribute } from "./attributes.ts";
import { decideSignOnRight, signOnFactsOf, type SignOnFacts } from "./sign-on-right.ts";
import type { ClientId, ScopeName } from "./token.ts";
import { fromShownGroupsOf, fromShownSchoolsOf, personIsSynced, userIsShown } from "./visibility.ts";

export type AppOfPerson = {
  clientId: ClientId;
  name: string;
  scopes: ScopeName[];
  granted: AppAttribute[];
  maySignIn: boolean;
  isUser: boolean;
  /** The app sees them as a synced person, possibly soft-deleted. */
  isPerson: boolean;
  schools: { id: SchoolId; name: string }[];
  groups: { id: GroupId; name: string; schoolId: SchoolId }[];
  firstSignInAt: string | null;
  lastSignInAt: string | null;
};

type Row = Omit<AppOfPerson, "maySignIn"> & { facts: SignOnFacts };

const app = table("app");
const grant = table("grant");
const at = table("affiliation", "at");
const signIn = table("signIn");
const p = table("person", "p");
const s = table("school", "s");
const g = table("group", "g");

type PersonQuery = { personId: PersonId; now: Date };

const selectApps = statement<PersonQuery>(({ personId, now }) => {
  const client = app.clientId;
  const ofPair = sql`${signIn.clientId} = ${client} AND ${signIn.personId} = ${p.id}`;
  return sql`
    SELECT ${fields<Row>({
      clientId: client,
      name: app.name,
      scopes: app.scopes,
      granted: sql`${app.attributes}::text[]`,
      facts: signOnFactsOf(client, sql`${personId}::uuid`, now),
      isUser: userIsShown(client, p),
      isPerson: personIsSynced(client, p),
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
  const rows = await findRows<Row, PersonQuery>(db, selectApps, query);
  return rows
    .map(({ facts, ...row }) => ({
      ...row,
      maySignIn: decideSignOnRight(facts).kind === "allowed",
      place: `${makeSortKey(row.name)}\0${row.clientId}`,
    }))
    .filter(({ isUser, isPerson, maySignIn }) => isUser || isPerson || maySignIn)
    .sort((a, b) => (a.place < b.place ? -1 : Number(a.place > b.place)));
}

const personAttributes = ["name", "role", "status", "groups", "schools", "sourceSystemIdentifier"] as const;
export type PersonAttribute = (typeof personAttributes)[number];

const byClaim: Partial<Record<ScopeName, PersonAttribute>> = {
  profile: "name",
  role: "role",
  school: "schools",
  groups: "groups",
};

export function attributesOf({ scopes, granted, maySignIn, isUser, isPerson, groups }: AppOfPerson): PersonAttribute[] {
  const has = (scope: ScopeName) => scopes.includes(scope);
  const known = new Set<PersonAttribute | undefined>(maySignIn ? scopes.map((scope) => byClaim[scope]) : []);
  const add = (...names: PersonAttribute[]) => names.forEach((name) => known.add(name));
  if (isUser && has("users:read")) add("name", "role", "status", "groups");
  if (isPerson && has("people:read")) add(...personAttributes);
  if (isPerson && has("groups:read") && groups.length > 0) add("name", "role", "groups");
  const isGranted = (name: PersonAttribute) => byGrant[name] === undefined || granted.includes(byGrant[name]);
  return personAttributes.filter((name) => known.has(name) && isGranted(name));
}

const byGrant: Partial<Record<PersonAttribute, AppAttribute>> = {
  name: "PERSON_NAME",
  sourceSystemIdentifier: "SOURCE_SYSTEM_IDENTIFIER",
};
