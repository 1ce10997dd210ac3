import * as access from "../../access/index.ts";
import type { App, AppProfile, ClientId, ScopeRequest } from "../../access/index.ts";
import { adviseSent, type SentParameter } from "../../platform/advice/sign-on/index.ts";
import type { Same } from "../../platform/contract-types.ts";
import { storeOf, type Store } from "../../platform/database/db.ts";
import { listApiRequests as listRequests, listSignOnAttempts as listAttempts } from "../../traffic/index.ts";
import type { ApiRequest, SignOnAttempt, SignOnStep } from "../../traffic/index.ts";
import { answerRecord, commit, commitCreated, differenceOf } from "../change.ts";
import { present, type AdminHandler, type Schemas, type AdminDeps, type AdminRequest } from "../handler.ts";
import { ownAppsOf, reachesApp } from "../reached.ts";
import { recordDifference } from "../../events/index.ts";

export type AdminApp = Schemas["AdminApp"];

type Suspended = Pick<App, "suspendedAt" | "suspensionReason">;

export const presentSuspension = ({ suspendedAt, suspensionReason }: Suspended): AdminApp["suspension"] =>
  suspendedAt && { since: suspendedAt.toISOString(), reason: suspensionReason ?? "" };

/** Does not compile if an app has a property that is neither in the contract nor kept back. */
export const appProperties: Same<
  Exclude<keyof AdminApp, "suspension" | "isBuiltIn"> | "secretHash" | "oldSecretHash" | keyof Suspended,
  keyof (App & AppProfile)
> = true;

/** Omits an old secret that has expired, and the sector of a move (id-moves.ts). */
export function presentApp(record: App & AppProfile, now: Date): AdminApp {
  const { oldSecretEndsAt, ...app } = record;
  const isValid = oldSecretEndsAt !== null && oldSecretEndsAt > now;
  return present("AdminApp", {
    ...app,
    tokenEndpointAuthMethod: access.authMethodOf(app),
    sector: app.subjectType === "SHARED" ? null : app.sector,
    oldSecretEndsAt: isValid ? oldSecretEndsAt : null,
    isBuiltIn: access.isBuiltIn(app.clientId),
    suspension: presentSuspension(app),
  });
}

export async function readApp(db: Store, clientId: ClientId): Promise<(App & AppProfile) | null> {
  const app = await access.findApp(db, clientId);
  return app && { ...app, ...(await access.findProfile(db, clientId)) };
}

export const listApps: AdminHandler<"listApps"> = async (deps, request) => {
  const { query, reach, origin, page } = request;
  const among = ownAppsOf(reach);
  const filter = { search: query.search, among, withBuiltIn: among === undefined, order: query.order };
  const apps = await access.listAppsByName(deps.db, { ...filter, ...page.range });
  const profiles = await access.findProfiles(
    deps.db,
    apps.map(({ clientId }) => clientId),
  );
  return page.answer(
    apps,
    (app) => presentApp({ ...app, ...profiles.get(app.clientId)! }, origin.at),
    ({ place }) => place,
  );
};

export const getApp: AdminHandler<"getApp"> = async ({ db }, { clientId, reach, origin }) => {
  const app = reachesApp(reach, clientId) ? await readApp(storeOf(db), clientId) : null;
  if (app === null) throw access.appNotFound();
  return answerRecord(presentApp(app, origin.at));
};

const adviseParameter = (sent: SentParameter) => ({ ...sent, advice: adviseSent(sent, "en") });

const adviseStep = ({ sent, ...step }: SignOnStep) => ({ ...step, sent: sent?.map(adviseParameter) ?? null });

const presentAttempt = ({ id, steps }: SignOnAttempt) => present("SignOnAttempt", { id, steps: steps.map(adviseStep) });

export const listSignOnAttempts: AdminHandler<"listSignOnAttempts"> = async ({ db }, { clientId, query, page }) => {
  const filter = { clientId, requestId: query["request-id"], outcome: query.outcome };
  return page.answer(await listAttempts(db.pool, { ...filter, ...page.range }), presentAttempt);
};

const presentRequest = (request: ApiRequest) => present("ApiRequest", request);

export const listApiRequests: AdminHandler<"listApiRequests"> = async ({ db }, { clientId, query, page }) => {
  const filter = { clientId, requestId: query["request-id"], onlyRefused: query["only-refused"] };
  return page.answer(await listRequests(db, { ...filter, ...page.range }), presentRequest);
};

const presentScopeRequest = (request: ScopeRequest) => present("ScopeRequest", request);

export const requestScopes: AdminHandler<"requestScopes"> = (deps, request) =>
  commitCreated(deps, request, async (tx) => {
    const { clientId, body, origin } = request;
    return { body: presentScopeRequest(await access.requestScopes(tx, { clientId, ...body }, origin)) };
  });

export const listScopeRequests: AdminHandler<"listScopeRequests"> = async (deps, request) => {
  const { query, reach, page } = request;
  const filter = { clientId: query.app, among: ownAppsOf(reach), state: query.state };
  return page.answer(await access.listScopeRequests(deps.db, { ...filter, ...page.range }), presentScopeRequest);
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
      const difference = differenceOf(presentScopeRequest(before), presentScopeRequest(after));
      await recordDifference(tx, origin, { ...difference, after: { ...difference.after, scopesOfApp: scopes } });
      return { status: 200 as const, body: presentScopeRequest(after) };
    });

export const approveScopeRequest: AdminHandler<"approveScopeRequest"> = decide("APPROVED");
export const refuseScopeRequest: AdminHandler<"refuseScopeRequest"> = decide("REFUSED");
