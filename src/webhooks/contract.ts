import type { components, operations } from "../../generated/openapi/webhooks.ts";
import type { EventProperty } from "../access/index.ts";
import type { AppEventAction } from "../events/index.ts";
import type { EnumsAgree, Same } from "../platform/contract-types.ts";
import type { EventType } from "./payload.ts";

export type EventHeaders = operations["receivePersonEvent"]["parameters"]["header"];

export const agreed: {
  headersOfGroups: Same<operations["receiveGroupEvent"]["parameters"]["header"], EventHeaders>;
  headersOfSchools: Same<operations["receiveSchoolEvent"]["parameters"]["header"], EventHeaders>;
  eventType: Same<EventHeaders["X-EP-Event-Type"], EventType>;
  test: Same<NonNullable<EventHeaders["X-EP-Test"]>, "true">;
} = { headersOfGroups: true, headersOfSchools: true, eventType: true, test: true };

export const enums: EnumsAgree<
  components["schemas"],
  {
    EventAction: AppEventAction;
    PersonEventType: "person";
    GroupEventType: "group";
    SchoolEventType: "school";
    PersonEventProperty: EventProperty["person"];
    GroupEventProperty: EventProperty["group"];
    SchoolEventProperty: EventProperty["school"];
  }
> = true;
