import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { isDatabaseUnavailable, type RecordStore } from "../../../platform/database/db.ts";
import { secondsUntil, type Bucket, takeToken } from "../../../platform/database/token-bucket.ts";
import { findTokenFault, noteTokenFault } from "../diagnosis.ts";
import { makeAdapterFactory } from "../storage/adapter.ts";
import { endSession } from "../logout/end-session.ts";
import { committed, findRequest, getRequest, runRequest, startChange, startRequest } from "../storage/request.ts";
import type { FoundCode, ProviderRequest } from "../storage/request.ts";
import { makeAnswerApp, type AnswerApp, answerKeys, polishAnswer, refuseToken } from "./answers.ts";
import { commit, countInteraction, keepHintOfInteraction } from "./commit.ts";
import { makeConfiguration } from "./configuration.ts";
import type { ProviderDeps, ShowPages, UpstreamSteps } from "../deps.ts";
import { makeFindClient, readClientId, makeMarkDeprecated, isOriginOf } from "./client.ts";
import { checkLibrary, constructProvider, replaceMethods } from "./library.ts";
import {
  nameClientOfHint,
  askForAccount,
  dropIdleNonce,
  keepDescribed,
  refuseFormForDevice,
  refuseLogoutTokens,
  trimCredentials,
  trimScope,
} from "../mount.ts";
import { listPublicRedirectUris } from "../../../access/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import { recordAtHome } from "../../../accounts/index.ts";
import { requestIdOf } from "./account.ts";
import { hmac } from "../../../platform/crypto/seal.ts";

type Pages = ShowPages & UpstreamSteps;

/** Builds the provider with the current signing keys; other keys need another provider. */
export function makeProvider(deps: ProviderDeps, pages: Pages): Provider {
  const { db, clock, lifetimes, issuerUrl } = deps;
  const adapter = makeAdapterFactory({
    db,
    clock,
    refreshGraceSeconds: lifetimes.refreshGraceSeconds,
    sessionSeconds: lifetimes.sessionSeconds,
    store: deps.store,
    findClient: makeFindClient(deps),
    readClientId,
  });
  const markDeprecated = makeMarkDeprecated(deps.withoutPkce, issuerUrl);
  const answerApp = makeAnswerApp(pages);
  const provider = constructProvider(issuerUrl, { ...makeConfiguration(deps, pages), adapter }, answerApp);
  const finishDeps = { ...deps, answerApp, pages };
  checkLibrary(provider);
  replaceMethods(provider, {
    platform: deps.platform,
    describedFields: deps.contract.fields,
    recordLogout: (notice) => notifyOfLogout(deps, notice),
    noteRefusedSession: (ctx, session) => noteRefusedSession(deps, ctx, session),
  });
  // mount.ts sets the forwarded headers of every request to ISSUER_URL.
  provider.proxy = true;
  provider.on("server_error", (ctx, err) => {
    deps.log.error({ err, route: ctx.oidc.route }, "sign-on failed");
    if (isDatabaseUnavailable(err)) ctx.set("Retry-After", "5");
  });
  (provider as NodeJS.EventEmitter).on("error", (err: unknown) => deps.log.warn({ err }, "sign-on could not answer"));
  provider.on("grant.error", (ctx, refusal) => noteTokenFault(ctx, findTokenFault(ctx, refusal)));
  provider.on("authorization.error", noteRefusal);
  provider.on("end_session.success", (ctx) => auditLogout(deps, ctx));
  const [authorizationPath, logoutPath, tokenPath] = ["authorization", "end_session", "token"].map((route) =>
    provider.pathFor(route),
  );
  const described = new Map(
    Object.entries(deps.contract.parameters).map(([route, names]) => [provider.pathFor(route), names]),
  );
  const handle = async (ctx: Context, next: () => Promise<void>, request: ProviderRequest) => {
    trimCredentials(ctx);
    const names = described.get(ctx.path);
    if (names !== undefined) ctx.query = keepDescribed(ctx.query, names);
    refuseLogoutTokens(ctx);
    if (ctx.path === logoutPath) await nameClientOfHint(provider, ctx);
    if (ctx.path === authorizationPath) {
      askForAccount(ctx);
      trimScope(ctx);
      refuseFormForDevice(ctx);
      dropIdleNonce(ctx);
    }
    await next();
    await limitPages(db, ctx);
    const { oidc } = ctx as Partial<KoaContextWithOIDC>;
    if (!oidc) return;
    await finish(finishDeps, ctx as KoaContextWithOIDC, request);
    markDeprecated(ctx as KoaContextWithOIDC);
  };
  provider.use((ctx, next) => {
    const request = findRequest() ?? startRequest({ isAtTokenEndpoint: ctx.path === tokenPath });
    return runRequest(request, () => handle(ctx, next, request));
  });
  return provider;
}

type Context = Parameters<Parameters<Provider["use"]>[0]>[0];

/** The code that the app of this request exchanges; null if it is unknown or another app's. */
export function exchangedCodeOf(ctx: KoaContextWithOIDC): FoundCode | null {
  const code = findRequest()?.code ?? null;
  return code !== null && code.clientId === ctx.oidc.client?.clientId ? code : null;
}

type FinishDeps = ProviderDeps & { answerApp: AnswerApp; pages: Pages };

async function finish(deps: FinishDeps, ctx: KoaContextWithOIDC, request: ProviderRequest): Promise<void> {
  const { pages } = deps;
  const hasFailed = ctx.status >= 500;
  polishAnswer(ctx);
  if (hasFailed) return;
  try {
    if (ctx.oidc.route === "jwks") answerKeys(ctx, await deps.readPublishedKeys());
    const { work } = request;
    const { wait, isStored } = await countInteraction(deps, ctx, work);
    if (wait !== null) return pages.showTooMany(ctx, secondsUntil(wait, deps.clock()));
    keepHintOfInteraction(deps, ctx, request);
    const away = await findWayUpstream(deps, ctx, request);
    request.work = isStored ? committed : await commit(deps, ctx, work);
    if (away !== null) ctx.redirect(away.href);
    for (const uid of request.surplusSessions)
      await endSession(deps.db, { uid, at: deps.clock(), requestId: undefined });
  } catch (error) {
    deps.log.error({ err: error, route: ctx.oidc.route }, "sign-on failed");
    ctx.remove("Location");
    ctx.status = 500;
    if (isDatabaseUnavailable(error)) ctx.set("Retry-After", "5");
    if (ctx.oidc.route === "token") refuseToken(ctx, "server_error");
    else await pages.showError(ctx, { error: "server_error" }, error as Error);
  }
}

/** Returns the address of a school's login if the browser has to go there first, to get a session or to end one. */
async function findWayUpstream({ pages, readAddress }: FinishDeps, ctx: KoaContextWithOIDC, { work }: ProviderRequest) {
  if (lacksSession(ctx)) return pages.beginSilently(ctx, readAddress(ctx.req));
  const then = ctx.response.get("Location");
  const hasEnded = work.state === "changing" && work.session.kind === "ended";
  // Without a session here the person may still be signed in at the login of the school.
  if (hasEnded || (ctx.oidc.route === "end_session" && then !== "")) pages.noteSignedOut(ctx);
  const id = hasEnded ? findUpstreamSession() : null;
  return id === null || then === "" ? null : pages.signOutUpstream(ctx, { id, then });
}

/**
 * Limits what the library lets pages of other origins call. It compares the origin with the app, which a preflight
 * does not name: any public app will do. keycloak-js sends `credentials: include`; no endpoint for pages reads a
 * cookie.
 */
async function limitPages(db: RecordStore, ctx: Context): Promise<void> {
  const origin = ctx.get("Origin");
  if (origin === "" || ctx.response.get("Access-Control-Allow-Origin") === "") return;
  const isPublic = ctx.path.startsWith("/.well-known/");
  const { client } = (ctx as Partial<KoaContextWithOIDC>).oidc ?? {};
  if (ctx.method === "OPTIONS" && !isPublic) {
    const redirectUris = await listPublicRedirectUris(db);
    if (!isOriginOf({ clientAuthMethod: "none", redirectUris }, origin)) return refusePage(ctx);
  }
  if (ctx.method === "OPTIONS" || isPublic || client !== undefined) ctx.set("Access-Control-Allow-Credentials", "true");
}

function refusePage(ctx: Context): void {
  for (const name of Object.keys(ctx.response.headers)) if (/^access-control-/i.test(name)) ctx.remove(name);
}

// The cookie can be sent again and again, so one record per hour is enough.
function recordedOf({ secrets }: ProviderDeps, uid: string): Bucket {
  const key = hmac(secrets.signInTraces).update(`refused session\0${uid}`).digest();
  return { key, capacity: 1, refillSeconds: 3600 };
}

/** The request continues without the session of another browser. */
async function noteRefusedSession(
  deps: ProviderDeps,
  ctx: { res: object },
  { uid, personId }: { uid: string; personId: string },
): Promise<void> {
  const { db, clock, log } = deps;
  const request = findRequest();
  if (request !== undefined) request.session = null;
  if ((await takeToken(db.pool, recordedOf(deps, uid), clock())) !== null) return;
  const requestId = requestIdOf(ctx);
  log.warn({ requestId }, "the session of another browser was refused");
  await recordAtHome(db, { at: clock(), action: "session_refused", personId: personId as PersonId, requestId });
}

/** Notifies the app once the end of the session is committed. */
function notifyOfLogout({ clock }: ProviderDeps, notice: { clientId: string; personId: string }): void {
  const request = getRequest();
  startChange(request).notices.push({ ...notice, sid: request.session!.uid, at: clock() });
}

function auditLogout({ clock }: ProviderDeps, ctx: KoaContextWithOIDC): void {
  const { work, session } = getRequest();
  if (work.state !== "changing" || work.session.kind !== "ended" || !session?.personId) return;
  const [personId, clientId] = [session.personId, ctx.oidc.client?.clientId];
  work.logout = { at: clock(), personId, clientId, requestId: requestIdOf(ctx) };
}

export function findUpstreamSession(): string | null {
  const { session, standings } = getRequest();
  return (session?.personId && standings.get(session.personId)?.upstreamSessionId) || null;
}

const refused = new WeakSet<object>();

/** For the event that the app gets an error. */
function noteRefusal(ctx: KoaContextWithOIDC, { error }: { error: string }): void {
  if (error === "login_required") refused.add(ctx);
}

/** Whether an app is about to be told that nobody is signed in with this browser. */
const lacksSession = (ctx: KoaContextWithOIDC): boolean =>
  refused.has(ctx) &&
  ctx.oidc.route === "authorization" &&
  ctx.method === "GET" &&
  ctx.oidc.prompts.has("none") &&
  ctx.oidc.session?.accountId === undefined;
