import { fromShownGroupsOf, fromShownMembersOf, memberRole } from "../access/index.ts";
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
import { asked } from "../platform/http/index.ts";
import type { components } from "../../generated/openapi/idm.ts";

type Schemas = components["schemas"];
export type School = Schemas["School"];
export type User = Schemas["User"];
export type Person = Schemas["Person"];
export type ListedPerson = Schemas["ListedPerson"];
export type Group = Schemas["Group"];
export type ListedGroup = Schemas["ListedGroup"];

/** The app that asks: the first parameter of every list. */
export const client = "$1";

export const school = jsonObject<School>({
  id: jsonCode("s.id"),
  name: jsonText("s.name"),
  address: jsonObject<Schemas["SchoolAddress"]>({
    address: jsonText("s.address"),
    addressAddition: jsonNullable("s.address_addition"),
    city: jsonText("s.city"),
    zipCode: jsonText("s.zip_code"),
  }),
  location: jsonObject<Schemas["SchoolLocation"]>({ country: jsonText("s.country"), state: jsonText("s.state") }),
  officialId: jsonText("s.official_id"),
  schoolingLevel: jsonNullable("s.schooling_level"),
});

const name: JsonSql<Schemas["PersonName"]> = jsonWhen(
  "p.last IS NOT NULL",
  jsonObject<NonNullable<Schemas["PersonName"]>>({
    firstFull: jsonText("p.first_full"),
    firstCall: jsonText("p.first_call"),
    last: jsonText("p.last"),
  }),
);

/** The groups in a person's record. Looked up person by person, which is fast whatever the planner expects of a school. */
const groupsOf = <T>(item: JsonSql<T>, forClient: string) =>
  jsonFrom(jsonArray(item, "g.sort_key, g.id"), fromShownGroupsOf(forClient, "p.id"));

/** The people of the school `$2`, read in their order from an index; to be continued with AND. */
export const fromPeopleOfSchool = `affiliation a ${lookUp("person", "p", "p.id = a.person_id")} WHERE a.school_id = $2`;
export const orderOfPeople = { sortKey: "a.sort_key", id: "a.person_id" };

const userGroup = jsonObject<Schemas["UserGroup"]>({
  id: jsonCode("g.id"),
  name: jsonText("g.name"),
  status: jsonCode<Schemas["UserGroup"]["status"]>("g.status"),
});
const userFor = (forClient: string) =>
  jsonObject<User>({
    id: jsonCode("p.id"),
    name,
    status: jsonCode<User["status"]>("p.status"),
    role: jsonCode<User["role"]>("p.role"),
    groups: groupsOf(userGroup, forClient),
  });

export const user = userFor(asked.client);
export const listedUser = userFor(client);

const personGroup = jsonObject<Schemas["PersonGroup"]>({ id: jsonCode("g.id"), name: jsonText("g.name") });
const personFields = {
  id: jsonCode("p.id"),
  role: jsonCode<Person["role"]>("p.role"),
  name,
  sourceSystemIdentifier: jsonNullable("p.source_system_identifier"),
};
const listedPersonFields = { ...personFields, groups: groupsOf(personGroup, client) };

export const person = jsonObject<Person>({ ...personFields, groups: groupsOf(personGroup, asked.client) });
export const listedPerson = jsonObject<ListedPerson>({ ...listedPersonFields, status: undefined });
export const listedPersonWithStatus = jsonObject<ListedPerson>({
  ...listedPersonFields,
  status: jsonCode<NonNullable<ListedPerson["status"]>>("p.status"),
});

const groupFields = { id: jsonCode("g.id"), name: jsonText("g.name") };
const member = jsonObject<Schemas["Member"]>({
  id: jsonCode("p.id"),
  role: jsonCode<Schemas["Member"]["role"]>(memberRole("m", "p")),
  name,
});

export const group = jsonObject<Group>({
  ...groupFields,
  members: jsonFrom(jsonArray(member, "p.sort_key, p.id"), fromShownMembersOf("g.id")),
});
export const listedGroup = jsonObject<ListedGroup>({ ...groupFields, status: undefined });
export const listedGroupWithStatus = jsonObject<ListedGroup>({
  ...groupFields,
  status: jsonCode<NonNullable<ListedGroup["status"]>>("g.status"),
});
