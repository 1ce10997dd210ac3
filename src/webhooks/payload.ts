import type { components } from "../../generated/openapi/webhooks.ts";
import { jsonCode, jsonCodes, jsonObject, type JsonSql } from "../platform/json-sql.ts";

type Schemas = components["schemas"];
type PersonEvent = Schemas["PersonEvent"];
type GroupEvent = Schemas["GroupEvent"];
type SchoolEvent = Schemas["SchoolEvent"];
type Action = Schemas["EventAction"];

export const eventTypes = ["person", "group", "school"] as const;
export type EventType = (typeof eventTypes)[number];

const event = <Type extends EventType>() => jsonCode<Type>("e.type");
const action = jsonCode<Action>("e.action");
const changed = <Property extends string>() => jsonCodes<Property>("e.updated_properties");
const subject = jsonCode("e.subject_id");

const named = {
  person: jsonObject<PersonEvent>({ event: event(), action, updatedProperties: changed(), personId: subject }),
  group: jsonObject<GroupEvent>({ event: event(), action, updatedProperties: changed(), groupId: subject }),
  school: jsonObject<SchoolEvent>({ event: event(), action, updatedProperties: changed(), schoolId: subject }),
};
const bare = {
  person: jsonObject<PersonEvent>({ event: event(), action, updatedProperties: undefined, personId: subject }),
  group: jsonObject<GroupEvent>({ event: event(), action, updatedProperties: undefined, groupId: subject }),
  school: jsonObject<SchoolEvent>({ event: event(), action, updatedProperties: undefined, schoolId: subject }),
};

const either = (type: EventType): string =>
  `WHEN '${type}' THEN CASE WHEN cardinality(e.updated_properties) = 0 THEN ${bare[type]} ELSE ${named[type]} END`;

/** The body of an event, as SQL over a row `e` of app_event. */
export const payload = `(CASE e.type ${eventTypes.map(either).join(" ")} END)` as JsonSql<
  PersonEvent | GroupEvent | SchoolEvent
>;

/** Makes the body of a test event: the form of a real one, with an id that belongs to nobody. */
export function makeTestPayload(type: EventType, id: string): string {
  const payloads: { person: PersonEvent; group: GroupEvent; school: SchoolEvent } = {
    person: { event: "person", action: "update", updatedProperties: ["name"], personId: id },
    group: { event: "group", action: "update", updatedProperties: ["name"], groupId: id },
    school: { event: "school", action: "update", updatedProperties: ["name"], schoolId: id },
  };
  return JSON.stringify(payloads[type]);
}
