import * as access from "../../access/index.ts";
import type { ScopeRequest } from "../../access/index.ts";
import { recordDifference } from "../../events/index.ts";
import { present } from "../present.ts";
import { commit, commitCreated, differenceOf } from "../change.ts";
import type { AdminDeps, AdminHandler, AdminRequest } from "../handler.ts";
import { readChosen } from "../reached.ts";

const presentRequest = (request: ScopeRequest) => present("ScopeRequest", request);

export const requestScopes: AdminHandler<"requestScopes"> = (deps, request) =>
  commitCreated(deps, request, async (tx) => {
    const { clientId, body, origin } = request;
    return { body: presentRequest(await access.requestScopes(tx, { clientId, ...body }, origin)) };
  });

export const listScopeRequests: AdminHandler<"listScopeRequests"> = async (deps, request) => {
  const { query, reach, page } = request;
  const { clientId } = await readChosen(deps.db, reach, { app: query.app });
  const among = reach.all ? undefined : [...reach.clientIds];
  const found = await access.listScopeRequests(deps.db, { clientId, among, state: query.state, ...page.range });
  return page.answer(found, presentRequest);
};

type Decision = AdminRequest<"approveScopeRequest" | "refuseScopeRequest">;

const decide =
  (state: "APPROVED" | "REFUSED") =>
  (deps: AdminDeps, request: Pick<Decision, "scopeRequestId" | "body" | "origin" | "keep">) =>
    commit(deps, request, async (tx) => {
      const { scopeRequestId, body, origin } = request;
      const { allowLoopbackHttp, demandsAgreements } = deps;
      const decision = { id: scopeRequestId, state, note: body?.note ?? null };
      const rules = { ...origin, allowLoopbackHttp, demandsAgreements };
      const { before, after } = await access.decideScopeRequest(tx, decision, rules);
      const { scopes } = (await access.findApp(tx, after.clientId))!;
      const difference = differenceOf(presentRequest(before), presentRequest(after));
      await recordDifference(tx, origin, { ...difference, after: { ...difference.after, scopesOfApp: scopes } });
      return { status: 200 as const, body: presentRequest(after) };
    });

export const approveScopeRequest: AdminHandler<"approveScopeRequest"> = decide("APPROVED");
export const refuseScopeRequest: AdminHandler<"refuseScopeRequest"> = decide("REFUSED");
