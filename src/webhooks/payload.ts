import type { components } from "../../generated/openapi/webhooks.ts";
import { isCutOver, subjectNow, type EventProperty } from "../access/index.ts";
import { jsonCode, jsonCodes, jsonObject, type JsonSql } from "../platform/database/json-sql.ts";
import { join, literal, sql, table, type Sql } from "../platform/database/sql.ts";

type Schemas = components["schemas"];
type PersonEvent = Schemas["PersonEvent"];
type GroupEvent = Schemas["GroupEvent"];
type SchoolEvent = Schemas["SchoolEvent"];

const eventTypes = ["person", "group", "school"] as const;
export type EventType = (typeof eventTypes)[number];

const e = table("appEvent", "e");
const event = <Type extends EventType>() => jsonCode<Type>(e.type);
const action = jsonCode<Schemas["EventAction"]>(e.action);
const subject = jsonCode(sql`coalesce(${subjectNow(e)}, gen_random_uuid())`);
const noNewIds = { oldPersonId: undefined, newPersonId: undefined };
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
      ...noNewIds,
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
const announcement = jsonObject<PersonEvent>()({
  event: event<"person">(),
  action,
  updatedProperties: undefined,
  personId: subject,
  erasureId: undefined,
  oldPersonId: jsonCode(e.oldSubjectId),
  newPersonId: jsonCode(e.nextSubjectId),
});

const bodyOf = (type: EventType): Sql => sql`WHEN ${literal(type)} THEN
  CASE WHEN cardinality(${e.updatedProperties}) > 0 THEN ${full[type]} WHEN ${e.erasureId} IS NULL THEN ${bare[type]}
    ELSE ${erasing[type]} END`;

export const payload = sql`(CASE WHEN ${e.oldSubjectId} IS NOT NULL THEN ${announcement} ELSE
  CASE ${e.type} ${join(eventTypes.map(bodyOf), " ")} END END)` as JsonSql<PersonEvent | GroupEvent | SchoolEvent>;

const ofMessage = table("appEvent", "of_message");
const w = table("webhookEndpoint", "of_endpoint");

/** The body with the id that the app has now: it may have got another one since the delivery was made. */
export const bodyNow = (d: ReturnType<typeof table<"webhookDelivery">>): Sql => {
  const clientId = sql`(SELECT ${w.clientId} FROM ${w} WHERE ${w.id} = ${d.endpointId})`;
  const { appSubjectId, nextSubjectId } = ofMessage;
  const now = subjectNow({ clientId, type: d.eventType, subjectId: d.subjectId, appSubjectId, nextSubjectId });
  return sql`CASE WHEN ${d.eventType} = 'person' AND NOT ${d.isTest} AND ${isCutOver(clientId)}
    THEN regexp_replace(${d.body}, '"personId":"[^"]*"', (
      SELECT '"personId":"' || coalesce(${now}, gen_random_uuid()) || '"'
      FROM (SELECT) AS one LEFT JOIN ${ofMessage} ON ${ofMessage.id} = ${d.messageId}))
    ELSE ${d.body} END`;
};

export function makeTestPayload(type: EventType, id: string): string {
  return JSON.stringify({ event: type, action: "update", updatedProperties: ["name"], [`${type}Id`]: id });
}
