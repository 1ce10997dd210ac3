import { granted, lastChange, readTable, schoolIsInRoster, shownSchools } from "../../access/index.ts";
import type { components } from "../../../generated/openapi/oneroster.ts";
import { jsonCode, jsonNullable, jsonText } from "../../platform/database/json-sql.ts";
import { lookUp, sql } from "../../platform/database/sql.ts";
import { baseFields, text, type JsonOf, type Resource } from "./record.ts";

type Org = components["schemas"]["OneRosterOrg"];

const s = readTable("school", "s");

export const schools: Resource = {
  plural: "orgs",
  single: "org",
  fields(reader, id) {
    const at = sql`${lastChange(reader.client, s)}`;
    const base = baseFields(reader, { id, isActive: sql`true`, at });
    const identifier = granted(reader.client, "SCHOOL_OFFICIAL_ID", s, ({ officialId }) => officialId);
    const json: JsonOf<Org> = {
      ...base.json,
      name: jsonText(s.name),
      type: jsonCode<NonNullable<Org["type"]>>(sql`'school'`),
      identifier: jsonNullable(identifier),
    };
    return {
      json,
      values: { ...base.values, name: text(s.name), type: text(sql`'school'`), identifier: text(identifier) },
    };
  },
  source(reader, { one }) {
    const readable = one ? sql`SELECT ${reader.id}::uuid AS school_id` : shownSchools(reader.client);
    return {
      from: sql`(${readable}) AS shown ${lookUp("school", "s", sql`${s.id} = shown.school_id`)}`,
      where: [],
      visible: [schoolIsInRoster(reader.client, s)],
      id: s.id,
      order: sql`shown.school_id`,
      isAfter: sql`shown.school_id > ${reader.after}::uuid`,
    };
  },
  keys: sql`shown.school_id`,
  records: () => lookUp("school", "s", sql`${s.id} = listed.school_id`),
  listedId: s.id,
  position: sql`listed.school_id::text`,
};
