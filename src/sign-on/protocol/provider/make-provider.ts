import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { isDatabaseUnavailable } from "../../../platform/database/db.ts";
import { secondsUntil } from "../../../platform/database/token-bucket.ts";
import { findTokenFault, noteTokenFault } from "../token-fault.ts";
import { makeAdapterFactory } from "../storage/adapter.ts";
import { endSessions } from "../logout/limit-sessions.ts";
import { findRequest, type FoundCode, type ProviderRequest, runRequest, startRequest } from "../storage/request.ts";
import { committed } from "../storage/unit-of-work.ts";
import { makeAnswerApp, type AnswerApp } from "./answer-app.ts";
import { answerKeys, polishAnswer, refuseToken } from "./answers.ts";
import { describedParameters } from "../contract.ts";
import { commit } from "./commit.ts";
import { makeConfiguration } from "./configuration.ts";
import { limitPages } from "./cors.ts";
import type { ProviderDeps } from "./deps.ts";
import { makeFindClient, readClientId } from "./find-client.ts";
import { checkLibrary, constructProvider, replaceMethods } from "./library.ts";
import { nameClientOfHint } from "./logout-hint.ts";
import {
  askForAccount,
  dropIdleNonce,
  keepDescribed,
  refuseFormForDevice,
  refuseLogoutTokens,
  trimCredentials,
  trimScope,
} from "./query.ts";
import { auditLogout, notifyOfLogout } from "./logout.ts";
import type { ShowPages } from "./show-pages.ts";
import { findUpstreamSession, lacksSession, noteRefusal, type UpstreamSteps } from "./upstream-steps.ts";
import { noteRefusedSession } from "./refused-session.ts";
import { makeMarkDeprecated } from "./without-pkce.ts";
import { countInteraction, keepHintOfInteraction } from "./open-interactions.ts";

type Pages = ShowPages & UpstreamSteps;

/** Builds the provider with the current signing keys; other keys need another provider. */
export function makeProvider(deps: ProviderDeps, pages: Pages): Provider {
  const { db, clock, lifetimes, issuerUrl } = deps;
  const adapter = makeAdapterFactory({
    db,
    clock,
    refreshGraceSeconds: lifetimes.refreshGraceSeconds,
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
    Object.entries(describedParameters).map(([route, names]) => [provider.pathFor(route), names]),
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
    const request = startRequest(ctx.path === tokenPath);
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
    await endSessions(deps.db, request.surplusSessions, deps.clock());
  } catch (error) {
    deps.log.error({ err: error, route: ctx.oidc.route }, "sign-on failed");
    ctx.remove("Location");
    ctx.status = 500;
    if (isDatabaseUnavailable(error)) ctx.set("Retry-After", "5");
    if (ctx.oidc.route === "token") refuseToken(ctx, "server_error");
    else await pages.showError(ctx, { error: "server_error" }, error as Error);
  }
}

/** Where the browser goes instead: to the login of a school, for a session or to end one. */
async function findWayUpstream(
  { pages, readAddress }: FinishDeps,
  ctx: KoaContextWithOIDC,
  { work }: ProviderRequest,
): Promise<URL | null> {
  if (lacksSession(ctx)) return pages.beginSilently(ctx, readAddress(ctx.req));
  const then = ctx.response.get("Location");
  const hasEnded = work.state === "changing" && work.session.kind === "ended";
  // Without a session here the person may still be signed in at the login of the school.
  if (hasEnded || (ctx.oidc.route === "end_session" && then !== "")) pages.noteSignedOut(ctx);
  const id = hasEnded ? findUpstreamSession() : null;
  return id === null || then === "" ? null : pages.signOutUpstream(ctx, { id, then });
}
