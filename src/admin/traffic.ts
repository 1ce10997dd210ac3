import { addDays } from "../platform/clock.ts";
import { present } from "../platform/contract-types.ts";
import { storeOf } from "../platform/database/db.ts";
import { adviseSent, type SentParameter } from "../platform/advice/sign-on/index.ts";
import { listApiRequests as listRequests, listSignOnAttempts as listAttempts } from "../traffic/index.ts";
import type { ApiRequest, SignOnAttempt, SignOnStep } from "../traffic/index.ts";
import { findEndpointFigures, readEndpoint } from "../webhooks/index.ts";
import { answerRecord } from "./change.ts";
import { refuseOtherEndpoint } from "./endpoints.ts";
import type { AdminHandler, Schemas } from "./handler.ts";
import { readPage } from "./page.ts";
import { refuseOthersApp } from "./reached.ts";

const presentParameter = (sent: SentParameter) =>
  present<Schemas["SignOnParameter"]>({ ...sent, advice: adviseSent(sent, "en") });

const presentStep = ({ at, requestId, step, outcome, code, reason, description, sent }: SignOnStep) =>
  present<Schemas["SignOnStep"]>({
    at,
    requestId,
    step,
    outcome,
    code,
    reason,
    description,
    sent: sent?.map(presentParameter) ?? null,
  });

const presentAttempt = ({ id, steps }: SignOnAttempt) =>
  present<Schemas["SignOnAttempt"]>({ id, steps: steps.map(presentStep) });

export const listSignOnAttempts: AdminHandler<"listSignOnAttempts"> = async (deps, request) => {
  const { clientId, query, reach } = request;
  const page = readPage(deps, request);
  await refuseOthersApp(deps.db.pool, reach, clientId);
  const { "request-id": requestId, outcome } = query;
  const found = await listAttempts(deps.db.pool, { clientId, requestId, outcome, ...page.range });
  return page.answer(found, presentAttempt);
};

const presentRequest = ({ clientId: _, shortCode: __, ...request }: ApiRequest) =>
  present<Schemas["ApiRequest"]>(request);

export const listApiRequests: AdminHandler<"listApiRequests"> = async (deps, request) => {
  const { clientId, query, reach } = request;
  const page = readPage(deps, request);
  await refuseOthersApp(deps.db.pool, reach, clientId);
  const { "request-id": requestId, "only-refused": onlyRefused } = query;
  const found = await listRequests(deps.db, { clientId, requestId, onlyRefused, ...page.range });
  return page.answer(found, presentRequest);
};

const figureDays = 1;

export const getEndpointFigures: AdminHandler<"getEndpointFigures"> = async ({ db }, { endpointId, reach, origin }) => {
  await refuseOtherEndpoint(db, reach, endpointId);
  const { pending } = await readEndpoint(storeOf(db), endpointId);
  const found = await findEndpointFigures(db.pool, { endpointId, since: addDays(origin.at, -figureDays) });
  const { attempts, succeeded } = found;
  const body = present<Schemas["EndpointFigures"]>({
    ...found,
    pending,
    successRate: attempts === 0 ? null : succeeded / attempts,
  });
  return answerRecord(body);
};
