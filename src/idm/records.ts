import { fromShownGroupsOf, fromShownMembersOf, memberRole } from "../access/index.ts";
import { column, jsonArray, jsonObject, jsonWhen, sqlOf, type JsonSql } from "../platform/json-sql.ts";
import type { components } from "../../generated/openapi/idm.ts";

type Schemas = components["schemas"];
export type School = Schemas["School"];
export type User = Schemas["User"];
export type Person = Schemas["Person"];
export type ListedPerson = Schemas["ListedPerson"];
export type Group = Schemas["Group"];
export type ListedGroup = Schemas["ListedGroup"];

/** The app that asks: the first parameter of every statement here. */
export const client = "$1";

const schoolName = column("s.name");

export const school = jsonObject<School>({
  id: column("s.id"),
  name: schoolName,
  address: jsonObject<Schemas["SchoolAddress"]>({
    address: column("s.address"),
    addressAddition: column<string | null>("s.address_addition"),
    city: column("s.city"),
    zipCode: column("s.zip_code"),
  }),
  location: jsonObject<Schemas["SchoolLocation"]>({ country: column("s.country"), state: column("s.state") }),
  officialId: column("s.official_id"),
});

const name: JsonSql<Schemas["PersonName"]> = jsonWhen(
  "p.last IS NOT NULL",
  jsonObject<NonNullable<Schemas["PersonName"]>>({
    firstFull: column("p.first_full"),
    firstCall: column("p.first_call"),
    last: column("p.last"),
  }),
);

const groupOrder = "g.sort_key, g.id";
const shownGroups = fromShownGroupsOf(client, "p.id");

export const user = jsonObject<User>({
  id: column("p.id"),
  name,
  status: sqlOf<User["status"]>("p.status"),
  role: sqlOf<User["role"]>("p.role"),
  groups: jsonArray(
    jsonObject<Schemas["UserGroup"]>({ id: column("g.id"), name: column("g.name"), status: sqlOf<Schemas["GroupStatus"]>("g.status") }),
    shownGroups,
    groupOrder,
  ),
});

const personFields = {
  id: column("p.id"),
  role: sqlOf<Person["role"]>("p.role"),
  name,
  sourceSystemIdentifier: column<string | null>("p.source_system_identifier"),
  groups: jsonArray(jsonObject<Schemas["PersonGroup"]>({ id: column("g.id"), name: column("g.name") }), shownGroups, groupOrder),
};

export const person = jsonObject<Person>(personFields);
export const listedPerson = jsonObject<ListedPerson>({ ...personFields, status: undefined });
export const listedPersonWithStatus = jsonObject<ListedPerson>({ ...personFields, status: sqlOf<Schemas["UserStatus"]>("p.status") });

const groupFields = { id: column("g.id"), name: column("g.name") };

export const group = jsonObject<Group>({
  ...groupFields,
  members: jsonArray(
    jsonObject<Schemas["Member"]>({ id: column("p.id"), role: sqlOf<Schemas["PersonRole"]>(memberRole("m", "p")), name }),
    fromShownMembersOf("g.id"),
    "p.sort_key, p.id",
  ),
});
export const listedGroup = jsonObject<ListedGroup>({ ...groupFields, status: undefined });
export const listedGroupWithStatus = jsonObject<ListedGroup>({ ...groupFields, status: sqlOf<Schemas["GroupStatus"]>("g.status") });
