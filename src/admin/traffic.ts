import { appNotFound, findApp, type ClientId } from "../access/index.ts";
import { addDays } from "../platform/clock.ts";
import { present } from "../platform/contract-types.ts";
import { storeOf, type PrismaDb } from "../platform/database/db.ts";
import { adviseSent, type SentParameter } from "../platform/advice/sign-on/index.ts";
import type { Reach } from "../staff/index.ts";
import { listApiRequests as listRequests, listSignOnAttempts as listAttempts } from "../traffic/index.ts";
import type { ApiRequest, SignOnAttempt, SignOnStep } from "../traffic/index.ts";
import { findEndpointFigures, readEndpoint } from "../webhooks/index.ts";
import type { components } from "../../generated/openapi/admin.ts";
import { refuseOtherEndpoint } from "./endpoints.ts";
import type { AdminHandler } from "./handler.ts";
import { answerPage, readPage } from "./page.ts";
import { reachesOwnApp } from "./reached.ts";
import { tagOf } from "./stale.ts";

type Schemas = components["schemas"];

/** Errors: not_found app_not_found, also if the caller does not manage the app. */
async function refuseOthersApp({ pool }: PrismaDb, reach: Reach, clientId: ClientId): Promise<void> {
  if (!reachesOwnApp(reach, clientId) || (await findApp(pool, clientId)) === null) throw appNotFound();
}

const presentParameter = (sent: SentParameter) =>
  present<Schemas["SignOnParameter"]>({ ...sent, advice: adviseSent(sent, "en") });

const presentStep = ({ at, requestId, step, outcome, code, description, sent }: SignOnStep) =>
  present<Schemas["SignOnStep"]>({
    at: at.toISOString(),
    requestId,
    step,
    outcome,
    code,
    description,
    sent: sent?.map(presentParameter) ?? null,
  });

const presentAttempt = ({ id, steps }: SignOnAttempt) =>
  present<Schemas["SignOnAttempt"]>({ id, steps: steps.map(presentStep) });

const listSignOnAttempts: AdminHandler<"listSignOnAttempts"> = async (deps, { path, query, reach }) => {
  const clientId = path.clientId as ClientId;
  const page = readPage(deps, "listSignOnAttempts", query);
  await refuseOthersApp(deps.db, reach, clientId);
  const found = await listAttempts(deps.db.pool, { clientId, limit: page.take, after: page.after });
  const address = `/admin/v1/apps/${clientId}/sign-on-attempts`;
  const list = { list: "listSignOnAttempts" as const, path: address, query, page };
  return answerPage(deps, list, { found, idOf: ({ id }) => id, present: presentAttempt });
};

const presentRequest = ({ clientId: _, at, ...request }: ApiRequest) =>
  present<Schemas["ApiRequest"]>({ ...request, at: at.toISOString() });

const listApiRequests: AdminHandler<"listApiRequests"> = async (deps, { path, query, reach }) => {
  const clientId = path.clientId as ClientId;
  const page = readPage(deps, "listApiRequests", query);
  await refuseOthersApp(deps.db, reach, clientId);
  const { "request-id": requestId, "only-refused": onlyRefused } = query;
  const asked = { clientId, requestId, onlyRefused, limit: page.take, after: page.after };
  const found = await listRequests(deps.db, asked);
  const list = { list: "listApiRequests" as const, path: `/admin/v1/apps/${clientId}/api-requests`, query, page };
  return answerPage(deps, list, { found, idOf: ({ id }) => id, present: presentRequest });
};

const figureDays = 1;

const getEndpointFigures: AdminHandler<"getEndpointFigures"> = async ({ db }, { path, reach, origin }) => {
  const { endpointId } = path;
  await refuseOtherEndpoint(db, reach, endpointId);
  const { pending } = await readEndpoint(storeOf(db), endpointId);
  const found = await findEndpointFigures(db.pool, { endpointId, since: addDays(origin.at, -figureDays) });
  const { attempts, succeeded, waitingSince } = found;
  const body = present<Schemas["EndpointFigures"]>({
    ...found,
    pending,
    waitingSince: waitingSince?.toISOString() ?? null,
    successRate: attempts === 0 ? null : succeeded / attempts,
  });
  return { status: 200, body, headers: { ETag: tagOf(body) } };
};

export const trafficHandlers = { listSignOnAttempts, listApiRequests, getEndpointFigures };
