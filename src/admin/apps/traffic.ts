import { addDays } from "../../platform/clock.ts";
import { present } from "../../platform/contract-types.ts";
import { storeOf } from "../../platform/database/db.ts";
import { adviseSent, type SentParameter } from "../../platform/advice/sign-on/index.ts";
import { listApiRequests as listRequests, listSignOnAttempts as listAttempts } from "../../traffic/index.ts";
import type { ApiRequest, SignOnAttempt, SignOnStep } from "../../traffic/index.ts";
import { findEndpointFigures, readEndpoint } from "../../webhooks/index.ts";
import { answerRecord } from "../change.ts";
import type { AdminHandler, Schemas } from "../handler.ts";

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

export const listSignOnAttempts: AdminHandler<"listSignOnAttempts"> = async ({ db }, { clientId, query, page }) => {
  const filter = { clientId, requestId: query["request-id"], outcome: query.outcome };
  return page.answer(await listAttempts(db.pool, { ...filter, ...page.range }), presentAttempt);
};

const presentRequest = ({ clientId: _, shortCode: __, ...request }: ApiRequest) =>
  present<Schemas["ApiRequest"]>(request);

export const listApiRequests: AdminHandler<"listApiRequests"> = async ({ db }, { clientId, query, page }) => {
  const filter = { clientId, requestId: query["request-id"], onlyRefused: query["only-refused"] };
  return page.answer(await listRequests(db, { ...filter, ...page.range }), presentRequest);
};

const figureDays = 1;

export const getEndpointFigures: AdminHandler<"getEndpointFigures"> = async ({ db }, { endpointId, origin }) => {
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
