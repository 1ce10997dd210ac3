import {
  appIds,
  everybodyInRoster,
  granted,
  lastChange,
  memberRole,
  peopleInOrder,
  personIsInRoster,
  readTable,
  schoolIsShown,
} from "../../access/index.ts";
import type { components as Components11 } from "../../../generated/openapi/oneroster-1.1.ts";
import type { components } from "../../../generated/openapi/oneroster.ts";
import { jsonCode, jsonNullable, jsonObject, type JsonSql } from "../../platform/database/json-sql.ts";
import { literal, lookUp, sql, table, type Sql } from "../../platform/database/sql.ts";
import {
  baseFields,
  isEverybody,
  many,
  reference,
  text,
  type JsonOf,
  type Part,
  type Reader,
  type Resource,
  type Source,
  type Way,
} from "./record.ts";

type Schemas = components["schemas"];
type User = Schemas["OneRosterUser"];

const p = readTable("person", "p");
const a = readTable("affiliation", "a");
const m = table("membership", "m");

export const roleName = (role: Sql) => jsonCode<Schemas["OneRosterRoleName"]>(roleText(role));
export const roleText = (role: Sql): Sql => sql`CASE ${role} WHEN 'TEACHER' THEN 'teacher' ELSE 'student' END`;

/** The home school first, if visible, then by id. */
const schoolOrder = sql`(${a.schoolId} = ${p.homeSchoolId}) IS TRUE DESC, ${a.schoolId}`;
const fromSchools = ({ client }: Reader) =>
  sql`FROM ${a} WHERE ${a.personId} = ${p.id} AND ${schoolIsShown(client, a.schoolId)}`;

/** The columns of names are of the app; null where it does not get them. */
function nameFields({ client }: Reader) {
  const givenName = granted(client, "PERSON_NAME", p, ({ firstFull }) => firstFull);
  const familyName = granted(client, "PERSON_NAME", p, ({ last }) => last);
  const preferredFirstName = granted(client, "PERSON_NAME", p, ({ firstCall }) => firstCall);
  const identifier = granted(
    client,
    "SOURCE_SYSTEM_IDENTIFIER",
    p,
    ({ sourceSystemIdentifier }) => sourceSystemIdentifier,
  );
  return { givenName, familyName, preferredFirstName, identifier };
}

/** JSON array with an entry for each school in `at`; nearly all people have one school. */
const firstAndOthers = <T>(first: JsonSql<T>, other: JsonSql<T>) =>
  sql`'[' || ${first} || CASE WHEN cardinality(at.ids) > 1 THEN (
    SELECT string_agg(',' || ${other}, '' ORDER BY one.place)
    FROM unnest(at.ids[2:]) WITH ORDINALITY AS one (id, place)) ELSE '' END || ']'` as JsonSql<T[]>;

function fields(reader: Reader, id: Sql) {
  const isActive = sql`${p.status} = 'ACTIVE'`;
  const base = baseFields(reader, { id, isActive, at: lastChange(reader.client, p) });
  const names = nameFields(reader);
  const enabled = sql`CASE WHEN ${isActive} THEN 'true' ELSE 'false' END`;
  const schoolIds = many(sql`ARRAY(SELECT ${a.schoolId}::text ${fromSchools(reader)})`);
  const { preferredFirstName, ...ofBoth } = names;
  const shared = {
    ...base.json,
    username: jsonCode(id),
    givenName: jsonNullable(ofBoth.givenName),
    familyName: jsonNullable(ofBoth.familyName),
    identifier: jsonNullable(ofBoth.identifier),
    agents: sql`'[]'` as JsonSql<Schemas["OneRosterReference"][]>,
  };
  const values = {
    ...base.values,
    username: base.values.sourcedId,
    enabledUser: text(enabled),
    givenName: text(ofBoth.givenName),
    familyName: text(ofBoth.familyName),
    identifier: text(ofBoth.identifier),
  };
  const org = (schoolId: Sql) => reference(reader, "org", schoolId);
  if (reader.version === "v1p1") {
    const json: JsonOf<Components11["schemas"]["OneRosterUser"]> = {
      ...shared,
      enabledUser: enabled as JsonSql<boolean>,
      role: roleName(p.role),
      orgs: firstAndOthers(org(sql`at.ids[1]`), org(sql`one.id`)),
    };
    return { json, values: { ...values, role: text(roleText(p.role)), "orgs.sourcedId": schoolIds } };
  }
  const first = sql`(SELECT ${a.schoolId} ${fromSchools(reader)} ORDER BY ${schoolOrder} LIMIT 1)`;
  const role = (roleType: "primary" | "secondary", schoolId: Sql) =>
    jsonObject<Schemas["OneRosterRole"]>()({
      roleType: jsonCode<Schemas["OneRosterRole"]["roleType"]>(literal(roleType)),
      role: roleName(p.role),
      org: org(schoolId),
    });
  const json: JsonOf<User> = {
    ...shared,
    enabledUser: jsonCode<NonNullable<User["enabledUser"]>>(enabled),
    preferredFirstName: jsonNullable(preferredFirstName),
    roles: firstAndOthers(role("primary", sql`at.ids[1]`), role("secondary", sql`one.id`)),
    primaryOrg: org(sql`at.ids[1]`),
  };
  return {
    json,
    values: {
      ...values,
      preferredFirstName: text(preferredFirstName),
      "roles.role": text(roleText(p.role)),
      "roles.org.sourcedId": schoolIds,
      "primaryOrg.sourcedId": text(sql`${first}::text`),
    },
  };
}

/** FROM that binds `who` (person_id, app_id, role in the class) in the order of app ids. */
function fromPeople(
  reader: Reader,
  way: Way,
  part: Part,
): Pick<Source, "from" | "isAfter" | "comesInOrder" | "changedAt"> {
  const { client, ids } = reader;
  const { one, school, group } = way;
  const own = appIds[ids].of(client, a.personId);
  const isAfter = sql`who.app_id > ${reader.after}::uuid`;
  if (one) {
    const readPerson = sql`(SELECT ${appIds[ids].recordOf(client, reader.id)}::uuid AS person_id, ${reader.id}::uuid AS app_id) AS who`;
    return { from: readPerson, isAfter };
  }
  if (group) {
    const of = appIds[ids].of(client, m.personId);
    const members = sql`SELECT ${m.personId}, ${of} AS app_id, ${m.role} FROM ${m} WHERE ${m.groupId} = ${reader.groupId}`;
    return { from: sql`(${members} ORDER BY 2 OFFSET 0) AS who`, isAfter };
  }
  if (school) {
    const people = sql`SELECT ${a.personId}, ${own} AS app_id FROM ${a} WHERE ${a.schoolId} = ${reader.schoolId}`;
    return { from: sql`(${people} ORDER BY 2 OFFSET 0) AS who`, isAfter };
  }
  if (isEverybody(way, part)) {
    const id = appIds[ids].of(client, sql`at.person_id`);
    return {
      from: sql`(SELECT at.*, ${id} AS app_id FROM (${everybodyInRoster(client, "people", reader.since)}) AS at) AS who`,
      isAfter,
      ...(reader.since !== undefined && { changedAt: sql`who.changed_at` }),
    };
  }
  const after = part === "next" ? reader.after : undefined;
  return { from: sql`(${peopleInOrder(client, ids, after)}) AS who`, isAfter, comesInOrder: true };
}

export const users: Resource = {
  plural: "users",
  single: "user",
  fields,
  source(reader, way, part) {
    const { from, ...order } = fromPeople(reader, way, part);
    const isVisible = isEverybody(way, part);
    const isCounted = isVisible && part === "counted" && way.role === undefined;
    const role = way.group ? memberRole({ role: sql`who.role` }, p) : p.role;
    return {
      from: isCounted ? from : sql`${from} ${lookUp("person", "p", sql`${p.id} = who.person_id`)}`,
      where: way.role === undefined ? [] : [sql`${role} = ${literal(way.role)}`],
      visible: isVisible
        ? []
        : [personIsInRoster({ client: reader.client }, p, way.school && !way.group ? reader.schoolId : undefined)],
      id: sql`who.app_id`,
      order: sql`who.app_id`,
      ...order,
    };
  },
  keys: sql`p.*, who.app_id`,
  listedAs: sql`p`,
  // The schools are looked up once for all fields that name them.
  records: (reader) => sql`CROSS JOIN LATERAL (
    SELECT array_agg(${a.schoolId} ORDER BY ${schoolOrder}) AS ids ${fromSchools(reader)} OFFSET 0) AS at`,
  listedId: sql`p.app_id`,
  position: sql`p.app_id::text`,
};
