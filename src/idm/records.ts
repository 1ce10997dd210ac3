import {
  appIds,
  fromShownGroupsOf,
  fromShownMembersOf,
  granted,
  givesScope,
  heldFromPerson,
  jsonGranted,
  memberRole,
  nameOfOrder,
  peopleOrder,
  peopleOrderOf,
  readTable,
  schoolIsShown,
  viewVersion,
  viewVersionOfPerson,
} from "../access/index.ts";
import type { AccessToken, IdKind, PeopleOrder, PeopleReader } from "../access/index.ts";
import { asked, makeListQuery, makeReadQuery, type ListQuery, type ReadQuery } from "../platform/http/index.ts";
import {
  jsonArray,
  jsonCode,
  jsonFrom,
  jsonNullable,
  jsonObject,
  jsonText,
  jsonWhen,
  type JsonSql,
} from "../platform/database/json-sql.ts";
import type { Visible } from "../platform/database/visible-sql.ts";
import { sql, table, type Parameters, type Sql, type Value, lookUp } from "../platform/database/sql.ts";
import type { components } from "../../generated/openapi/idm.ts";

type Schemas = components["schemas"];
export type School = Schemas["School"];
type User = Schemas["User"];
type Person = Schemas["Person"];
type ListedPerson = Schemas["ListedPerson"];
export type Group = Schemas["Group"];
export type Roster = Schemas["Roster"];
export type ListedGroup = Schemas["ListedGroup"];

const s = readTable("school", "s");
const p = readTable("person", "p");
const g = table("group", "g");
const m = table("membership", "m");
const a = readTable("affiliation", "a");

export const school = ({ client }: Scope) =>
  jsonObject<School>()({
    id: jsonCode(s.id),
    name: jsonText(s.name),
    address: jsonGranted(client, "SCHOOL_ADDRESS", s, (s) =>
      jsonObject<NonNullable<Schemas["SchoolAddress"]>>()({
        address: jsonText(s.address),
        addressAddition: jsonNullable(s.addressAddition),
        city: jsonText(s.city),
        zipCode: jsonText(s.zipCode),
      }),
    ),
    location: jsonGranted(client, "SCHOOL_LOCATION", s, (s) =>
      jsonObject<NonNullable<Schemas["SchoolLocation"]>>()({ country: jsonText(s.country), state: jsonText(s.state) }),
    ),
    officialId: jsonGranted(client, "SCHOOL_OFFICIAL_ID", s, (s) => jsonText(s.officialId)),
    schoolingLevel: jsonGranted(client, "SCHOOLING_LEVEL", s, (s) => jsonNullable(s.schoolingLevel)),
  });

const name = (scope: Scope): JsonSql<Schemas["PersonName"]> =>
  jsonGranted(scope, "PERSON_NAME", p, (p) =>
    jsonWhen(
      sql`${p.last} IS NOT NULL`,
      jsonObject<NonNullable<Schemas["PersonName"]>>()({
        firstFull: jsonText(p.firstFull),
        firstCall: jsonText(p.firstCall),
        last: jsonText(p.last),
      }),
    ),
  );

/** The groups in a person's record, looked up per person: fast whatever the planner expects of a school. */
const groupsOf = <T>(item: JsonSql<T>, { client, school }: Scope) =>
  jsonFrom(jsonArray(item, sql`${g.sortKey}, ${g.id}`), fromShownGroupsOf(client, p.id, school));

export type OfSchool = { client: string; school: string };

/** Whose view a record is built for; `school` limits it to the groups of that school. */
type Scope = PeopleReader & { school?: Value };

/** `id` is the person's, as the app knows it. */
type PersonScope = Scope & { id: Sql };

export const ofSchool = ({ client, school }: Parameters<OfSchool>) => ({
  shown: schoolIsShown(client, school),
  version: viewVersion(client, sql`SELECT ${school}::uuid`),
});

export const oneSchool = ({ school }: Parameters<OfSchool>) => ({
  from: sql`${s}`,
  where: sql`${s.id} = ${school}`,
  sortKey: s.id,
  id: s.id,
});

export const groupsOfSchool = ({ school }: Parameters<OfSchool>) => ({
  from: sql`${g}`,
  where: sql`${g.schoolId} = ${school}`,
  sortKey: g.sortKey,
  id: g.id,
});

/**
 * The people of a school in list order: by name from an index; otherwise sorting keys and ids before records are read.
 */
export function peopleOfSchool(params: Parameters<OfSchool>, order: PeopleOrder) {
  const { sortKey, id } = peopleOrder(order, params.client, a, a.personId);
  if (order.by === "all" && order.ids === "shared") {
    return {
      from: sql`${a} ${lookUp("person", "p", sql`${p.id} = ${a.personId}`)}`,
      where: sql`${a.schoolId} = ${params.school}`,
      sortKey,
      id,
    };
  }
  return {
    from: sql`(
      SELECT ${sortKey} AS sort_key, ${id} AS app_id, ${a.personId} FROM ${a} WHERE ${a.schoolId} = ${params.school}
      ORDER BY 1, 2 OFFSET 0) AS listed ${lookUp("person", "p", sql`${p.id} = listed.person_id`)}`,
    sortKey: sql`listed.sort_key`,
    id: sql`listed.app_id`,
  };
}

/** Makes one list per order of people. */
export function makePeopleLists<T extends object>(
  list: string,
  build: (params: Parameters<OfSchool> & { id: Sql }) => { item: JsonSql<T>; visible: Visible },
): (caller: AccessToken) => ListQuery<T, OfSchool> {
  const queries = new Map<string, ListQuery<T, OfSchool>>();
  return (caller) => {
    const order = peopleOrderOf(caller);
    const name = list + nameOfOrder(order);
    const known = queries.get(name);
    if (known !== undefined) return known;
    const query = makeListQuery<T, OfSchool>(name, (params) => {
      const people = peopleOfSchool(params, order);
      return {
        ...people,
        ...ofSchool(params),
        ...build({ client: params.client, school: params.school, id: people.id }),
      };
    });
    queries.set(name, query);
    return query;
  };
}

/** Makes the statement that reads a person by the app's id, one for each kind of ids. */
export function makePersonReads<T extends object>(
  name: string,
  build: (scope: PeopleReader & { id: Sql }) => { item: JsonSql<T>; visible: Visible },
): Record<IdKind, ReadQuery<T>> {
  const held = heldFromPerson(asked.client, p.id);
  const make = (kind: IdKind) =>
    makeReadQuery<T>(name + nameOfOrder({ by: "all", ids: kind }), {
      ...build({ client: asked.client, held: held.items, id: asked.id }),
      version: viewVersionOfPerson(asked.client, p.id),
      from: sql`${p} ${held.from}`,
      where: sql`${p.id} = ${appIds[kind].recordOf(asked.client, asked.id)}`,
    });
  return { shared: make("shared"), own: make("own") };
}

const userGroup = jsonObject<Schemas["UserGroup"]>()({
  id: jsonCode(g.id),
  name: jsonText(g.name),
  status: jsonCode<Schemas["UserGroup"]["status"]>(g.status),
});

/** The id of the person's record, in whose place `makeFillPseudonyms` puts the pseudonym. */
const pseudonym = (scope: Scope) => jsonWhen(givesScope(scope, "pseudonym", p.id), jsonCode(p.id));

export const user = (scope: PersonScope) =>
  jsonObject<User>()({
    id: jsonCode(scope.id),
    name: name(scope),
    pseudonym: pseudonym(scope),
    status: jsonCode<User["status"]>(p.status),
    role: jsonCode<User["role"]>(p.role),
    groups: groupsOf(userGroup, scope),
  });

const personGroup = jsonObject<Schemas["PersonGroup"]>()({ id: jsonCode(g.id), name: jsonText(g.name) });
const personFields = (scope: PersonScope) => ({
  id: jsonCode(scope.id),
  role: jsonCode<Person["role"]>(p.role),
  name: name(scope),
  sourceSystemIdentifier: jsonGranted(scope, "SOURCE_SYSTEM_IDENTIFIER", p, (p) =>
    jsonNullable(p.sourceSystemIdentifier),
  ),
  groups: groupsOf(personGroup, scope),
});

export const person = (scope: PersonScope) => jsonObject<Person>()({ ...personFields(scope), status: undefined });
export const listedPerson = (scope: PersonScope) =>
  jsonObject<ListedPerson>()({ ...personFields(scope), status: undefined });
export const listedPersonWithStatus = (scope: PersonScope) =>
  jsonObject<ListedPerson>()({
    ...personFields(scope),
    status: jsonCode<NonNullable<ListedPerson["status"]>>(p.status),
  });

const groupFields = { id: jsonCode(g.id), name: jsonText(g.name) };
const member = (scope: PersonScope) =>
  jsonObject<Schemas["Member"]>()({
    id: jsonCode(scope.id),
    role: jsonCode<Schemas["Member"]["role"]>(memberRole(m, p)),
    name: name(scope),
  });

export const group = ({ client }: Scope, kind: IdKind) => {
  const id = appIds[kind].of(client, p.id);
  const order = sql`${granted(client, "PERSON_NAME", p, ({ sortKey }) => sortKey)}, ${id}`;
  return jsonObject<Group>()({
    ...groupFields,
    members: jsonFrom(jsonArray(member({ client, id }), order), fromShownMembersOf(g.id)),
  });
};
export const listedGroup = jsonObject<ListedGroup>()({
  ...groupFields,
  status: jsonCode<ListedGroup["status"]>(g.status),
});
