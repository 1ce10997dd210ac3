import { appAnswerHandlers } from "./app-answers.ts";
import { appViewHandlers } from "./app-views.ts";
import { appHandlers } from "./apps.ts";
import { catalogueHandlers } from "./catalogue.ts";
import { deliveryHandlers } from "./deliveries.ts";
import { endpointHandlers } from "./endpoints.ts";
import { listenerHandlers } from "./listeners.ts";
import { grantHandlers } from "./grants.ts";
import { auditHandlers } from "./audit.ts";
import { cardHandlers } from "./cards.ts";
import { printCardHandlers } from "./print-cards.ts";
import { createCardHandlers } from "./create-cards.ts";
import { cardSettingsHandlers } from "./card-settings.ts";
import { explanationHandlers } from "./explanations.ts";
import { trafficHandlers } from "./traffic.ts";
import { figureHandlers } from "./figures.ts";
import { operationHandlers } from "./operation.ts";
import type { AdminHandler, OperationId } from "./handler.ts";
import { groupHandlers } from "./groups.ts";
import { importHandlers } from "./imports.ts";
import { importListHandlers } from "./import-lists.ts";
import { importStepHandlers } from "./import-steps.ts";
import { loginHandlers } from "./logins.ts";
import { memberHandlers } from "./members.ts";
import { peopleHandlers } from "./people.ts";
import { personDataHandlers } from "./person-data.ts";
import { personImportHandlers } from "./person-imports.ts";
import { personSchoolHandlers } from "./person-schools.ts";
import { schoolHandlers } from "./schools.ts";
import { schoolLogoHandlers } from "./school-logo.ts";
import { secondFactorHandlers } from "./second-factors.ts";
import { sessionHandlers } from "./sessions.ts";
import { passwordRequestHandlers } from "./password-requests.ts";
import { passwordHandlers } from "./passwords.ts";
import { signInSettingsHandlers } from "./sign-in-settings.ts";
import { sandboxHandlers } from "./sandboxes.ts";
import { scopeRequestHandlers } from "./scope-requests.ts";
import { staffHandlers } from "./staff.ts";
import { staffPeopleHandlers } from "./staff-people.ts";
import { todayHandlers } from "./today.ts";

/** Every operation with its handler. */
export const handlers: { [Id in OperationId]: AdminHandler<Id> } = {
  ...schoolHandlers,
  ...schoolLogoHandlers,
  ...peopleHandlers,
  ...personSchoolHandlers,
  ...groupHandlers,
  ...memberHandlers,
  ...loginHandlers,
  ...passwordHandlers,
  ...passwordRequestHandlers,
  ...signInSettingsHandlers,
  ...cardSettingsHandlers,
  ...explanationHandlers,
  ...secondFactorHandlers,
  ...sessionHandlers,
  ...personImportHandlers,
  ...personDataHandlers,
  ...importHandlers,
  ...cardHandlers,
  ...createCardHandlers,
  ...printCardHandlers,
  ...importListHandlers,
  ...importStepHandlers,
  ...appHandlers,
  ...scopeRequestHandlers,
  ...sandboxHandlers,
  ...catalogueHandlers,
  ...grantHandlers,
  ...appViewHandlers,
  ...appAnswerHandlers,
  ...endpointHandlers,
  ...listenerHandlers,
  ...deliveryHandlers,
  ...staffHandlers,
  ...staffPeopleHandlers,
  ...todayHandlers,
  ...auditHandlers,
  ...trafficHandlers,
  ...figureHandlers,
  ...operationHandlers,
};
