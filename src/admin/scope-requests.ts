import {
  appNotFound,
  decideScopeRequest,
  findApp,
  listScopeRequests as list,
  requestScopes as request,
  type ClientId,
  type ScopeRequest,
} from "../access/index.ts";
import { recordDifference } from "../events/index.ts";
import { present } from "../platform/contract-types.ts";
import { withPrismaTransaction } from "../platform/database/db.ts";
import type { components } from "../../generated/openapi/admin.ts";
import { differenceOf } from "./change.ts";
import type { AdminDeps, AdminHandler, AdminRequest } from "./handler.ts";
import { answerPage, readPage } from "./page.ts";
import { reachesOwnApp, readChosen } from "./reached.ts";

type Schemas = components["schemas"];

const presentRequest = ({ requestedAt, decidedAt, ...one }: ScopeRequest) =>
  present<Schemas["ScopeRequest"]>({
    ...one,
    requestedAt: requestedAt.toISOString(),
    decidedAt: decidedAt?.toISOString() ?? null,
  });

const requestScopes: AdminHandler<"requestScopes"> = async ({ db }, { path, body, reach, origin, keep }) => {
  const clientId = path.clientId as ClientId;
  if (!reachesOwnApp(reach, clientId)) throw appNotFound();
  return withPrismaTransaction(db, async (tx) => {
    const made = presentRequest(await request(tx, { clientId, ...body }, origin));
    await recordDifference(tx, origin, { before: null, after: made });
    const answer = { status: 201 as const, body: made };
    await keep(tx, answer);
    return answer;
  });
};

const listScopeRequests: AdminHandler<"listScopeRequests"> = async (deps, { query, reach }) => {
  const page = readPage(deps, "listScopeRequests", query);
  const { clientId } = await readChosen(deps.db, reach, { app: query.app });
  const among = reach.all ? undefined : [...reach.clientIds];
  const found = await list(deps.db, { clientId, among, state: query.state, limit: page.take, after: page.after });
  const asked = { list: "listScopeRequests" as const, path: "/admin/v1/scope-requests", query, page };
  return answerPage(deps, asked, { found, idOf: ({ id }) => id, present: presentRequest });
};

type Decision = AdminRequest<"approveScopeRequest" | "refuseScopeRequest">;

const decide = (
  { db, allowLoopbackHttp }: AdminDeps,
  { path, body, origin }: Pick<Decision, "path" | "body" | "origin">,
  state: "APPROVED" | "REFUSED",
) =>
  withPrismaTransaction(db, async (tx) => {
    const decision = { id: path.scopeRequestId, state, note: body?.note ?? null };
    const { before, after } = await decideScopeRequest(tx, decision, { ...origin, allowLoopbackHttp });
    const { scopes } = (await findApp(tx, after.clientId))!;
    const difference = differenceOf(presentRequest(before), presentRequest(after));
    await recordDifference(tx, origin, { ...difference, after: { ...difference.after, scopesOfApp: scopes } });
    return { status: 200 as const, body: presentRequest(after) };
  });

const approveScopeRequest: AdminHandler<"approveScopeRequest"> = (deps, asked) => decide(deps, asked, "APPROVED");
const refuseScopeRequest: AdminHandler<"refuseScopeRequest"> = (deps, asked) => decide(deps, asked, "REFUSED");

export const scopeRequestHandlers = { requestScopes, listScopeRequests, approveScopeRequest, refuseScopeRequest };
