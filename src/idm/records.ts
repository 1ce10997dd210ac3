import { fromShownGroupsOf, fromShownMembersOf, memberRole, schoolIsShown, viewVersion } from "../access/index.ts";
import {
  jsonArray,
  jsonCode,
  jsonFrom,
  jsonNullable,
  jsonObject,
  jsonText,
  jsonWhen,
  type JsonSql,
} from "../platform/json-sql.ts";
import { lookUp } from "../platform/lookup-sql.ts";
import { sql, table, type Parameters, type Value } from "../platform/sql.ts";
import type { components } from "../../generated/openapi/idm.ts";

type Schemas = components["schemas"];
export type School = Schemas["School"];
export type User = Schemas["User"];
export type Person = Schemas["Person"];
export type ListedPerson = Schemas["ListedPerson"];
export type Group = Schemas["Group"];
export type ListedGroup = Schemas["ListedGroup"];

const s = table("school", "s");
const p = table("person", "p");
const g = table("group", "g");
const m = table("membership", "m");
const a = table("affiliation", "a");

export const school = jsonObject<School>()({
  id: jsonCode(s.id),
  name: jsonText(s.name),
  address: jsonObject<Schemas["SchoolAddress"]>()({
    address: jsonText(s.address),
    addressAddition: jsonNullable(s.addressAddition),
    city: jsonText(s.city),
    zipCode: jsonText(s.zipCode),
  }),
  location: jsonObject<Schemas["SchoolLocation"]>()({ country: jsonText(s.country), state: jsonText(s.state) }),
  officialId: jsonText(s.officialId),
  schoolingLevel: jsonNullable(s.schoolingLevel),
});

const name: JsonSql<Schemas["PersonName"]> = jsonWhen(
  sql`${p.last} IS NOT NULL`,
  jsonObject<NonNullable<Schemas["PersonName"]>>()({
    firstFull: jsonText(p.firstFull),
    firstCall: jsonText(p.firstCall),
    last: jsonText(p.last),
  }),
);

/** The groups in a person's record, looked up person by person: fast whatever the planner expects of a school. */
const groupsOf = <T>(item: JsonSql<T>, { client, school }: Asked) =>
  jsonFrom(jsonArray(item, sql`${g.sortKey}, ${g.id}`), fromShownGroupsOf(client, p.id, school));

/** The app that asks, and the school that it asks about. */
export type OfSchool = { client: string; school: string };

/** The same in a statement, with the school where the list of one is asked for. */
type Asked = { client: Value; school?: Value };

/** What the lists of one school have in common. */
export const ofSchool = ({ client, school }: Parameters<OfSchool>) => ({
  shown: schoolIsShown(client, school),
  version: viewVersion(client, sql`SELECT ${school}::uuid`),
});

/** The people of a school, read in their order from an index. */
export const peopleOfSchool = (given: Parameters<OfSchool>) => ({
  from: sql`${a} ${lookUp("person", "p", sql`${p.id} = ${a.personId}`)}`,
  where: sql`${a.schoolId} = ${given.school}`,
  sortKey: a.sortKey,
  id: a.personId,
  ...ofSchool(given),
});

const userGroup = jsonObject<Schemas["UserGroup"]>()({
  id: jsonCode(g.id),
  name: jsonText(g.name),
  status: jsonCode<Schemas["UserGroup"]["status"]>(g.status),
});
export const user = (asked: Asked) =>
  jsonObject<User>()({
    id: jsonCode(p.id),
    name,
    status: jsonCode<User["status"]>(p.status),
    role: jsonCode<User["role"]>(p.role),
    groups: groupsOf(userGroup, asked),
  });

const personGroup = jsonObject<Schemas["PersonGroup"]>()({ id: jsonCode(g.id), name: jsonText(g.name) });
const personFields = (asked: Asked) => ({
  id: jsonCode(p.id),
  role: jsonCode<Person["role"]>(p.role),
  name,
  sourceSystemIdentifier: jsonNullable(p.sourceSystemIdentifier),
  groups: groupsOf(personGroup, asked),
});

export const person = (asked: Asked) => jsonObject<Person>()(personFields(asked));
export const listedPerson = (asked: Asked) => jsonObject<ListedPerson>()({ ...personFields(asked), status: undefined });
export const listedPersonWithStatus = (asked: Asked) =>
  jsonObject<ListedPerson>()({
    ...personFields(asked),
    status: jsonCode<NonNullable<ListedPerson["status"]>>(p.status),
  });

const groupFields = { id: jsonCode(g.id), name: jsonText(g.name) };
const member = jsonObject<Schemas["Member"]>()({
  id: jsonCode(p.id),
  role: jsonCode<Schemas["Member"]["role"]>(memberRole(m, p)),
  name,
});

export const group = jsonObject<Group>()({
  ...groupFields,
  members: jsonFrom(jsonArray(member, sql`${p.sortKey}, ${p.id}`), fromShownMembersOf(g.id)),
});
export const listedGroup = jsonObject<ListedGroup>()({
  ...groupFields,
  status: jsonCode<ListedGroup["status"]>(g.status),
});
