import { appHandlers } from "./apps.ts";
import { deliveryHandlers } from "./deliveries.ts";
import { endpointHandlers } from "./endpoints.ts";
import { grantHandlers } from "./grants.ts";
import { auditHandlers } from "./audit.ts";
import type { AdminHandler, OperationId } from "./handler.ts";
import { groupHandlers } from "./groups.ts";
import { loginHandlers } from "./logins.ts";
import { memberHandlers } from "./members.ts";
import { peopleHandlers } from "./people.ts";
import { personSchoolHandlers } from "./person-schools.ts";
import { schoolHandlers } from "./schools.ts";
import { staffHandlers } from "./staff.ts";

/** Every operation with its handler. */
export const handlers: { [Id in OperationId]: AdminHandler<Id> } = {
  ...schoolHandlers,
  ...peopleHandlers,
  ...personSchoolHandlers,
  ...groupHandlers,
  ...memberHandlers,
  ...loginHandlers,
  ...appHandlers,
  ...grantHandlers,
  ...endpointHandlers,
  ...deliveryHandlers,
  ...staffHandlers,
  ...auditHandlers,
};
