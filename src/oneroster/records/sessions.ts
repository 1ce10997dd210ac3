import type { components } from "../../../generated/openapi/oneroster.ts";
import { jsonArray, jsonCode, jsonFrom, jsonWhen } from "../../platform/database/json-sql.ts";
import { literal, sql, type Sql } from "../../platform/database/sql.ts";
import { baseFields, many, reference, text, yearBegins, type JsonOf, type Resource } from "./record.ts";

type Schemas = components["schemas"];

/** Binds `listed` in both statements. */
const columns = { id: sql`listed.id`, type: sql`listed.type` };
const isTerm = sql`${columns.type} = 'term'`;

export const sessions: Resource = {
  plural: "academicSessions",
  single: "academicSession",
  fields(reader, id) {
    const base = baseFields(reader, { id, isActive: sql`true`, at: yearBegins(reader) });
    const ofReader = (name: "title" | "starts" | "ends" | "lastYear"): Sql => sql`${reader[name]}::text`;
    const [yearId, termId] = [sql`${reader.yearId}::text`, sql`${reader.termId}::text`];
    const term = jsonArray(reference(reader, "academicSession", termId), termId);
    const json: JsonOf<Schemas["OneRosterAcademicSession"]> = {
      ...base.json,
      title: jsonCode(ofReader("title")),
      type: jsonCode<Schemas["OneRosterSessionType"]>(columns.type),
      startDate: jsonCode(ofReader("starts")),
      endDate: jsonCode(ofReader("ends")),
      schoolYear: jsonCode(ofReader("lastYear")),
      parent: jsonWhen(isTerm, reference(reader, "academicSession", yearId)),
      children: jsonFrom(term, sql`WHERE NOT ${isTerm}`),
    };
    return {
      json,
      values: {
        ...base.values,
        title: text(ofReader("title")),
        type: text(columns.type),
        startDate: text(ofReader("starts")),
        endDate: text(ofReader("ends")),
        schoolYear: text(ofReader("lastYear")),
        "parent.sourcedId": text(sql`CASE WHEN ${isTerm} THEN ${yearId} END`),
        "children.sourcedId": many(sql`CASE WHEN ${isTerm} THEN '{}' ELSE ARRAY[${termId}] END`),
      },
    };
  },
  source(reader, { one, session }) {
    return {
      from: sql`(VALUES (${reader.yearId}::uuid, 'schoolYear'), (${reader.termId}::uuid, 'term')) AS listed (id, type)`,
      where: [
        ...(one ? [sql`${columns.id} = ${reader.id}::uuid`] : []),
        ...(session === undefined ? [] : [sql`${columns.type} = ${literal(session)}`]),
      ],
      visible: [],
      id: columns.id,
      order: columns.id,
      isAfter: sql`${columns.id} > ${reader.after}::uuid`,
    };
  },
  keys: sql`listed.id, listed.type`,
  records: () => sql``,
  listedId: columns.id,
  position: sql`listed.id::text`,
};
