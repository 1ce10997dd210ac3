import {
  fromShownGroupsOf,
  fromShownMembersOf,
  granted,
  hasScope,
  jsonGranted,
  memberRole,
  peopleSortKey,
  readTable,
  schoolIsShown,
  viewVersion,
  type PeopleOrder,
} from "../access/index.ts";
import { makeListQuery, type ListQuery } from "../platform/http/index.ts";
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
import { lookUp } from "../platform/database/lookup-sql.ts";
import type { Visible } from "../platform/database/visible-sql.ts";
import { sql, table, type Parameters, type Value } from "../platform/database/sql.ts";
import type { components } from "../../generated/openapi/idm.ts";

type Schemas = components["schemas"];
export type School = Schemas["School"];
export type User = Schemas["User"];
export type Person = Schemas["Person"];
export type ListedPerson = Schemas["ListedPerson"];
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

const name = ({ client }: Scope): JsonSql<Schemas["PersonName"]> =>
  jsonGranted(client, "PERSON_NAME", p, (p) =>
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
type Scope = { client: Value; school?: Value };

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

/** The people of a school in list order: by name from an index; by id, sorting ids before records are read. */
export function peopleOfSchool(given: Parameters<OfSchool>, order: PeopleOrder) {
  const sortKey = peopleSortKey(order, a, a.personId);
  if (order === "name") {
    return {
      from: sql`${a} ${lookUp("person", "p", sql`${p.id} = ${a.personId}`)}`,
      where: sql`${a.schoolId} = ${given.school}`,
      sortKey,
      id: a.personId,
    };
  }
  const [key, id] = [sql`listed.sort_key`, sql`listed.person_id`];
  return {
    from: sql`(
      SELECT ${sortKey} AS sort_key, ${a.personId} FROM ${a} WHERE ${a.schoolId} = ${given.school}
      ORDER BY 1, 2 OFFSET 0) AS listed ${lookUp("person", "p", sql`${p.id} = ${id}`)}`,
    sortKey: key,
    id,
  };
}

type PeopleLists<T> = Record<PeopleOrder, ListQuery<T, OfSchool>>;

export function makePeopleLists<T extends object>(
  list: string,
  build: (given: Parameters<OfSchool>) => { item: JsonSql<T>; visible: Visible },
): PeopleLists<T> {
  const make = (order: PeopleOrder) =>
    makeListQuery<T, OfSchool>(order === "name" ? list : `${list}_by_id`, (given) => ({
      ...peopleOfSchool(given, order),
      ...ofSchool(given),
      ...build(given),
    }));
  return { name: make("name"), id: make("id") };
}

const userGroup = jsonObject<Schemas["UserGroup"]>()({
  id: jsonCode(g.id),
  name: jsonText(g.name),
  status: jsonCode<Schemas["UserGroup"]["status"]>(g.status),
});

/** The person's id, in whose place `makeFillPseudonyms` puts the pseudonym. */
const pseudonym = ({ client }: Scope) => jsonWhen(hasScope(client, "pseudonym"), jsonCode(p.id));

export const user = (scope: Scope) =>
  jsonObject<User>()({
    id: jsonCode(p.id),
    name: name(scope),
    pseudonym: pseudonym(scope),
    status: jsonCode<User["status"]>(p.status),
    role: jsonCode<User["role"]>(p.role),
    groups: groupsOf(userGroup, scope),
  });

const personGroup = jsonObject<Schemas["PersonGroup"]>()({ id: jsonCode(g.id), name: jsonText(g.name) });
const personFields = (scope: Scope) => ({
  id: jsonCode(p.id),
  role: jsonCode<Person["role"]>(p.role),
  name: name(scope),
  sourceSystemIdentifier: jsonGranted(scope.client, "SOURCE_SYSTEM_IDENTIFIER", p, (p) =>
    jsonNullable(p.sourceSystemIdentifier),
  ),
  groups: groupsOf(personGroup, scope),
});

export const person = (scope: Scope) => jsonObject<Person>()(personFields(scope));
export const listedPerson = (scope: Scope) => jsonObject<ListedPerson>()({ ...personFields(scope), status: undefined });
export const listedPersonWithStatus = (scope: Scope) =>
  jsonObject<ListedPerson>()({
    ...personFields(scope),
    status: jsonCode<NonNullable<ListedPerson["status"]>>(p.status),
  });

const groupFields = { id: jsonCode(g.id), name: jsonText(g.name) };
const member = (scope: Scope) =>
  jsonObject<Schemas["Member"]>()({
    id: jsonCode(p.id),
    role: jsonCode<Schemas["Member"]["role"]>(memberRole(m, p)),
    name: name(scope),
  });

export const group = (scope: Scope) => {
  const order = sql`${granted(scope.client, "PERSON_NAME", p, ({ sortKey }) => sortKey)}, ${p.id}`;
  return jsonObject<Group>()({
    ...groupFields,
    members: jsonFrom(jsonArray(member(scope), order), fromShownMembersOf(g.id)),
  });
};
export const listedGroup = jsonObject<ListedGroup>()({
  ...groupFields,
  status: jsonCode<ListedGroup["status"]>(g.status),
});
