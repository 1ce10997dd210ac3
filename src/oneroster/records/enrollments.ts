import {
  appIds,
  everybodyInRoster,
  groupIsInRoster,
  lastChange,
  memberRole,
  personIsInRoster,
  readTable,
} from "../../access/index.ts";
import type { components } from "../../../generated/openapi/oneroster.ts";
import { lookUp, sql, table, type Sql } from "../../platform/database/sql.ts";
import {
  baseFields,
  isEverybody,
  reference,
  text,
  type JsonOf,
  type Part,
  type Reader,
  type Resource,
  type Way,
} from "./record.ts";
import { roleName, roleText } from "./users.ts";

const p = readTable("person", "p");
const g = table("group", "g");
const m = table("membership", "m");
const synced = table("syncedGroup", "y");

const enrollmentId = (personId: Sql): Sql => sql`(${g.id}::text || '_' || ${personId})`;
const role = memberRole(m, p);

/** FROM that binds `of_app` (group_id) in the order of ids; of the list as a whole with person_id, in any order. */
function fromGroups(reader: Reader, way: Way, part: Part): Sql {
  const { one, school, group } = way;
  if (one || group) return sql`(SELECT ${reader.groupId}::uuid AS group_id) AS of_app`;
  if (school) {
    const ofSchool = sql`SELECT ${g.id} AS group_id FROM ${g} WHERE ${g.schoolId} = ${reader.schoolId}`;
    return sql`(${ofSchool} ORDER BY 1 OFFSET 0) AS of_app`;
  }
  if (isEverybody(way, part)) return sql`(${everybodyInRoster(reader.client, "members", reader.since)}) AS of_app`;
  const isAfter = part === "next" ? sql`AND ${synced.groupId} >= ${reader.afterGroup}::uuid` : sql``;
  return sql`(SELECT ${synced.groupId} FROM ${synced} WHERE ${synced.clientId} = ${reader.client} ${isAfter}
    ORDER BY 1 OFFSET 0) AS of_app`;
}

function fromMembers(reader: Reader, way: Way, part: Part): Sql {
  const { client, ids } = reader;
  const personId = isEverybody(way, part) ? sql`of_app.person_id` : appIds[ids].recordOf(client, reader.personId);
  const isOne = way.one || isEverybody(way, part) ? sql` AND ${m.personId} = ${personId}` : sql``;
  return sql`CROSS JOIN LATERAL (
    SELECT ${m.groupId}, ${m.personId}, ${m.role}, ${appIds[ids].of(client, m.personId)} AS app_id
    FROM ${m} WHERE ${m.groupId} = of_app.group_id${isOne} ORDER BY 4 OFFSET 0) AS m`;
}

export const enrollments: Resource = {
  plural: "enrollments",
  single: "enrollment",
  fields(reader, personId) {
    const id = enrollmentId(personId);
    const base = baseFields(reader, {
      id,
      isActive: sql`(${g.status} = 'ACTIVE' AND ${p.status} = 'ACTIVE')`,
      at: sql`greatest(${lastChange(reader.client, p)}, ${lastChange(reader.client, g)})`,
    });
    const json: JsonOf<components["schemas"]["OneRosterEnrollment"]> = {
      ...base.json,
      role: roleName(role),
      user: reference(reader, "user", personId),
      class: reference(reader, "class", g.id),
      school: reference(reader, "org", g.schoolId),
    };
    return {
      json,
      values: {
        ...base.values,
        role: text(roleText(role)),
        "user.sourcedId": text(sql`${personId}::text`),
        "class.sourcedId": text(sql`${g.id}::text`),
        "school.sourcedId": text(sql`${g.schoolId}::text`),
      },
    };
  },
  source(reader, way, part) {
    const group = lookUp("group", "g", sql`${g.id} = of_app.group_id`);
    const person = lookUp("person", "p", sql`${p.id} = m.person_id`);
    const groups = fromGroups(reader, way, part);
    const { client } = reader;
    return {
      from:
        isEverybody(way, part) && part !== "read"
          ? sql`${groups} CROSS JOIN LATERAL (
              SELECT of_app.person_id, ${appIds[reader.ids].of(client, sql`of_app.person_id`)} AS app_id) AS m`
          : sql`${groups} ${group} ${fromMembers(reader, way, part)} ${person}`,
      where: way.school ? [sql`${g.schoolId} = ${reader.schoolId}`] : [],
      visible: isEverybody(way, part) ? [] : [groupIsInRoster(client, g), personIsInRoster({ client }, p)],
      id: sql`m.app_id`,
      order: sql`of_app.group_id, m.app_id`,
      comesInOrder: !isEverybody(way, part),
      ...(isEverybody(way, part) && reader.since !== undefined && { changedAt: sql`of_app.changed_at` }),
      isAfter: sql`(of_app.group_id, m.app_id) > (${reader.afterGroup}::uuid, ${reader.after}::uuid)`,
    };
  },
  keys: sql`of_app.group_id, m.person_id, m.app_id`,
  records: () => sql`${lookUp("group", "g", sql`${g.id} = listed.group_id`)}
    ${lookUp("person", "p", sql`${p.id} = listed.person_id`)}
    ${lookUp("membership", "m", sql`${m.groupId} = listed.group_id AND ${m.personId} = listed.person_id`)}`,
  listedId: sql`listed.app_id`,
  position: sql`listed.group_id || '_' || listed.app_id`,
};
