import { appIds, groupIsInRoster, lastChange, memberRole, readTable } from "../../access/index.ts";
import type { components } from "../../../generated/openapi/oneroster.ts";
import { jsonArrayOf, jsonCode, jsonObject, jsonText } from "../../platform/database/json-sql.ts";
import { literal, lookUp, sql, table, type Sql } from "../../platform/database/sql.ts";
import { derivedIdOf } from "../school-year.ts";
import {
  baseFields,
  many,
  reference,
  text,
  yearBegins,
  type JsonOf,
  type Reader,
  type Resource,
  type Source,
  type Way,
} from "./record.ts";

type Schemas = components["schemas"];

const p = readTable("person", "p");
const g = table("group", "g");
const m = table("membership", "m");
const synced = table("syncedGroup", "y");

/** FROM that binds `of_app` (group_id): groups in the order of ids. */
function fromGroups(reader: Reader, { one, school, person, course, role }: Way, isCourse: boolean): Sql {
  const { client, ids } = reader;
  if (one && !isCourse) return sql`(SELECT ${reader.id}::uuid AS group_id) AS of_app`;
  if (school) return sql`(SELECT ${g.id} AS group_id FROM ${g} WHERE ${g.schoolId} = ${reader.schoolId}) AS of_app`;
  if (person) {
    const who = appIds[ids].recordOf(client, reader.personId);
    const isInRole = role === undefined ? sql`true` : sql`${memberRole(m, p)} = ${literal(role)}`;
    return sql`(SELECT ${m.groupId} FROM ${m} ${lookUp("person", "p", sql`${p.id} = ${m.personId}`)}
      WHERE ${m.personId} = ${who} AND ${isInRole}) AS of_app`;
  }
  const wanted = course ? reader.courseId : reader.id;
  const isWanted = course || one ? sql` AND ${derivedIdOf("course", synced.groupId)} = ${wanted}::uuid` : sql``;
  return sql`(SELECT ${synced.groupId} FROM ${synced} WHERE ${synced.clientId} = ${client}${isWanted}
    ORDER BY 1 OFFSET 0) AS of_app`;
}

const groupSource = (reader: Reader, way: Way, isCourse = false): Source => ({
  from: sql`${fromGroups(reader, way, isCourse)} ${lookUp("group", "g", sql`${g.id} = of_app.group_id`)}`,
  where: [],
  visible: [groupIsInRoster(reader.client, g)],
  id: isCourse ? derivedIdOf("course", g.id) : g.id,
  order: sql`of_app.group_id`,
  isAfter: sql`of_app.group_id > ${reader.after}::uuid`,
});

const listed = (listedId: Sql) => ({
  keys: sql`of_app.group_id`,
  records: () => lookUp("group", "g", sql`${g.id} = listed.group_id`),
  listedId,
  position: sql`listed.group_id::text`,
});

/** Classes and courses get another term with each school year. */
const groupBase = (reader: Reader, id: Sql) =>
  baseFields(reader, {
    id,
    isActive: sql`${g.status} = 'ACTIVE'`,
    at: sql`greatest(${lastChange(reader.client, g)}, ${yearBegins(reader)})`,
  });

export const classes: Resource = {
  plural: "classes",
  single: "class",
  fields(reader, id) {
    const base = groupBase(reader, id);
    const classType = sql`CASE ${g.type} WHEN 'KLASSE' THEN 'homeroom' ELSE 'scheduled' END`;
    const courseId = derivedIdOf("course", g.id);
    const json: JsonOf<Schemas["OneRosterClass"]> = {
      ...base.json,
      title: jsonText(g.name),
      classType: jsonCode<Schemas["OneRosterClassType"]>(classType),
      metadata: jsonObject<Schemas["OneRosterClassMetadata"]>()({ groupType: jsonCode(g.type) }),
      course: reference(reader, "course", courseId),
      school: reference(reader, "org", g.schoolId),
      terms: jsonArrayOf(reference(reader, "academicSession", sql`${reader.termId}::text`)),
    };
    return {
      json,
      values: {
        ...base.values,
        title: text(g.name),
        classType: text(classType),
        "course.sourcedId": text(sql`${courseId}::text`),
        "school.sourcedId": text(sql`${g.schoolId}::text`),
        "terms.sourcedId": many(sql`ARRAY[${reader.termId}::text]`),
      },
    };
  },
  source: (reader, way) => groupSource(reader, way),
  ...listed(g.id),
};

export const courses: Resource = {
  plural: "courses",
  single: "course",
  fields(reader, id) {
    const base = groupBase(reader, id);
    const json: JsonOf<Schemas["OneRosterCourse"]> = {
      ...base.json,
      title: jsonText(g.name),
      schoolYear: reference(reader, "academicSession", sql`${reader.yearId}::text`),
      org: reference(reader, "org", g.schoolId),
    };
    return {
      json,
      values: {
        ...base.values,
        title: text(g.name),
        "schoolYear.sourcedId": text(sql`${reader.yearId}::text`),
        "org.sourcedId": text(sql`${g.schoolId}::text`),
      },
    };
  },
  source: (reader, way) => groupSource(reader, way, true),
  ...listed(derivedIdOf("course", g.id)),
};
