import type { components } from "../../generated/openapi/webhooks.ts";
import type { EventProperty } from "../access/index.ts";
import { jsonCode, jsonCodes, jsonObject, type JsonSql } from "../platform/database/json-sql.ts";
import { join, literal, sql, table, type Sql } from "../platform/database/sql.ts";

type Schemas = components["schemas"];
type PersonEvent = Schemas["PersonEvent"];
type GroupEvent = Schemas["GroupEvent"];
type SchoolEvent = Schemas["SchoolEvent"];
type Action = Schemas["EventAction"];

export const eventTypes = ["person", "group", "school"] as const;
export type EventType = (typeof eventTypes)[number];

const e = table("appEvent", "e");
const event = <Type extends EventType>() => jsonCode<Type>(e.type);
const action = jsonCode<Action>(e.action);
const subject = jsonCode(sql`coalesce(${e.appSubjectId}, ${e.subjectId})`);
const makeBodies = (hasProperties: boolean, hasErasure = false) => {
  const changed = <Type extends EventType>() =>
    hasProperties ? jsonCodes<EventProperty[Type]>(e.updatedProperties) : undefined;
  return {
    person: jsonObject<PersonEvent>()({
      event: event(),
      action,
      updatedProperties: changed<"person">(),
      personId: subject,
      erasureId: hasErasure ? jsonCode(e.erasureId) : undefined,
    }),
    group: jsonObject<GroupEvent>()({
      event: event(),
      action,
      updatedProperties: changed<"group">(),
      groupId: subject,
    }),
    school: jsonObject<SchoolEvent>()({
      event: event(),
      action,
      updatedProperties: changed<"school">(),
      schoolId: subject,
    }),
  };
};
const [full, bare, erasing] = [makeBodies(true), makeBodies(false), makeBodies(false, true)];

const bodyOf = (type: EventType): Sql => sql`WHEN ${literal(type)} THEN
  CASE WHEN cardinality(${e.updatedProperties}) > 0 THEN ${full[type]} WHEN ${e.erasureId} IS NULL THEN ${bare[type]}
    ELSE ${erasing[type]} END`;

export const payload = sql`(CASE ${e.type} ${join(eventTypes.map(bodyOf), " ")} END)` as JsonSql<
  PersonEvent | GroupEvent | SchoolEvent
>;

export function makeTestPayload(type: EventType, id: string): string {
  const payloads: { person: PersonEvent; group: GroupEvent; school: SchoolEvent } = {
    person: { event: "person", action: "update", updatedProperties: ["name"], personId: id },
    group: { event: "group", action: "update", updatedProperties: ["name"], groupId: id },
    school: { event: "school", action: "update", updatedProperties: ["name"], schoolId: id },
  };
  return JSON.stringify(payloads[type]);
}
