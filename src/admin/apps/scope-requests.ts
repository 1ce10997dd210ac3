import {
  decideScopeRequest,
  findApp,
  listScopeRequests as list,
  requestScopes as create,
  type ScopeRequest,
} from "../../access/index.ts";
import { recordDifference } from "../../events/index.ts";
import { present } from "../present.ts";
import { withPrismaTransaction } from "../../platform/database/db.ts";
import { answerCreated, differenceOf } from "../change.ts";
import type { AdminDeps, AdminHandler, AdminRequest } from "../handler.ts";
import { readChosen } from "../reached.ts";

const presentRequest = (request: ScopeRequest) => present("ScopeRequest", request);

export const requestScopes: AdminHandler<"requestScopes"> = ({ db }, request) =>
  withPrismaTransaction(db, async (tx) => {
    const { clientId, body, origin } = request;
    return answerCreated(tx, request, { body: presentRequest(await create(tx, { clientId, ...body }, origin)) });
  });

export const listScopeRequests: AdminHandler<"listScopeRequests"> = async (deps, request) => {
  const { query, reach, page } = request;
  const { clientId } = await readChosen(deps.db, reach, { app: query.app });
  const among = reach.all ? undefined : [...reach.clientIds];
  const found = await list(deps.db, { clientId, among, state: query.state, ...page.range });
  return page.answer(found, presentRequest);
};

type Decision = AdminRequest<"approveScopeRequest" | "refuseScopeRequest">;

const decide = (
  { db, allowLoopbackHttp, demandsAgreements }: AdminDeps,
  { scopeRequestId, body, origin }: Pick<Decision, "scopeRequestId" | "body" | "origin">,
  state: "APPROVED" | "REFUSED",
) =>
  withPrismaTransaction(db, async (tx) => {
    const decision = { id: scopeRequestId, state, note: body?.note ?? null };
    const { before, after } = await decideScopeRequest(tx, decision, {
      ...origin,
      allowLoopbackHttp,
      demandsAgreements,
    });
    const { scopes } = (await findApp(tx, after.clientId))!;
    const difference = differenceOf(presentRequest(before), presentRequest(after));
    await recordDifference(tx, origin, { ...difference, after: { ...difference.after, scopesOfApp: scopes } });
    return { status: 200 as const, body: presentRequest(after) };
  });

export const approveScopeRequest: AdminHandler<"approveScopeRequest"> = (deps, asked) =>
  decide(deps, asked, "APPROVED");
export const refuseScopeRequest: AdminHandler<"refuseScopeRequest"> = (deps, asked) => decide(deps, asked, "REFUSED");
