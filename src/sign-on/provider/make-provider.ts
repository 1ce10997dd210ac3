import { type Client, errors, type KoaContextWithOIDC, Provider } from "oidc-provider";
import { secretMatches } from "../../access/index.ts";
import { isDatabaseUnavailable } from "../../platform/db.ts";
import { secondsUntil } from "../../platform/token-bucket.ts";
import { makeAdapterFactory } from "../storage/adapter.ts";
import { workAtTokenEndpoint } from "../storage/by-route.ts";
import { type RequestWork, startRequestWork } from "../storage/request-work.ts";
import { polishAnswer, refuseToken } from "./answers.ts";
import { makeConfiguration } from "./configuration.ts";
import type { ProviderDeps } from "./deps.ts";
import { makeFindClient, readClientId } from "./find-client.ts";
import { nameClientOfHint } from "./logout-hint.ts";
import { dropIdleNonce } from "./nonce.ts";
import { refuseOtherModes } from "./response-mode.ts";
import { auditLogout, recordLogout } from "./logout.ts";
import type { ShowPages } from "./pages.ts";
import { givePlaceBack, keepHintOfInteraction, takePlace } from "./open-interactions.ts";
import { settle } from "./settle.ts";

/** Builds the provider with the signing keys of now; other keys mean another provider. */
export function makeProvider(given: Omit<ProviderDeps, "workOf">, pages: ShowPages): Provider {
  const deps: ProviderDeps = { ...given, workOf };
  const { db, clock, lifetimes, issuerUrl } = deps;
  const adapter = makeAdapterFactory({
    db,
    clock,
    refreshGraceSeconds: lifetimes.refreshGraceSeconds,
    store: deps.store,
    findClient: makeFindClient(deps),
    readClientId,
    findWork: (ctx) => (ctx as Working)[workKey],
  });
  const provider = new Provider(issuerUrl, { ...makeConfiguration(deps, pages), adapter });
  // Behind the mount the request always says that it came to ISSUER_URL.
  provider.proxy = true;
  provider.on("server_error", (ctx, err) => {
    deps.log.error({ err, route: ctx.oidc.route }, "sign-on failed");
    if (isDatabaseUnavailable(err)) ctx.set("Retry-After", "5");
  });
  (provider as NodeJS.EventEmitter).on("error", (err: unknown) => deps.log.warn({ err }, "sign-on could not answer"));
  provider.on("end_session.success", (ctx) => auditLogout(deps, ctx));
  const [authorizationPath, logoutPath, tokenPath] = [
    provider.pathFor("authorization"),
    provider.pathFor("end_session"),
    provider.pathFor("token"),
  ];
  provider.use((ctx, next) => (ctx.path === tokenPath ? workAtTokenEndpoint(next) : next()));
  provider.use(async (ctx, next) => {
    if (ctx.path === logoutPath) await nameClientOfHint(provider, ctx);
    if (ctx.path === authorizationPath) {
      refuseOtherModes(ctx);
      dropIdleNonce(ctx);
    }
    const work = deps.workOf(ctx);
    await next();
    const { oidc } = ctx as Partial<KoaContextWithOIDC>;
    if (oidc) await finish(deps, ctx as KoaContextWithOIDC, work, pages);
  });
  adaptModels(provider, deps);
  return provider;
}

// On the context itself: a WeakMap of what lives this shortly keeps the garbage collector busy.
const workKey = Symbol("work");
type Working = { [workKey]?: RequestWork };

const workOf = (ctx: object): RequestWork => ((ctx as Working)[workKey] ??= startRequestWork());

async function finish(deps: ProviderDeps, ctx: KoaContextWithOIDC, work: RequestWork, pages: ShowPages): Promise<void> {
  const hasFailed = ctx.status >= 500;
  polishAnswer(ctx);
  if (hasFailed) return;
  try {
    const wait = await takePlace(deps, ctx, work);
    if (wait !== null) return pages.showTooMany(ctx, secondsUntil(wait, deps.clock()));
    keepHintOfInteraction(ctx, work);
    await settle(deps, ctx, work);
    await givePlaceBack(deps, ctx, work);
  } catch (error) {
    deps.log.error({ err: error, route: ctx.oidc.route }, "sign-on failed");
    ctx.remove("Location");
    ctx.status = 500;
    if (isDatabaseUnavailable(error)) ctx.set("Retry-After", "5");
    if (ctx.oidc.route === "token") refuseToken(ctx, "server_error");
    else await pages.showError(ctx, { error: "server_error" }, error as Error);
  }
}

/** Changes where the library leaves no option: audience, secrets, exact addresses, logout messages. */
function adaptModels(provider: Provider, deps: ProviderDeps): void {
  // Addresses come from ISSUER_URL, whatever a request says about itself.
  provider.OIDCContext.prototype.urlFor = (name, options) => provider.urlFor(name, options);

  const { issue } = provider.IdToken.prototype;
  provider.IdToken.prototype.issue = function issueWithAudienceArray(options) {
    if (options?.use === "idtoken") {
      const token = this as unknown as { client: Client };
      token.client = Object.create(token.client, { clientId: { value: [token.client.clientId] } }) as Client;
    }
    return issue.call(this, options);
  };

  Object.assign(provider.Client.prototype, {
    compareClientSecret(this: Client, presented: string): boolean {
      checkOneMechanism();
      const hashes = this["secret_sha256"] as readonly string[];
      return secretMatches(
        hashes.map((hash) => Buffer.from(hash, "base64url")),
        presented,
      );
    },
    redirectUriAllowed(this: Client, uri: string): boolean {
      return this.redirectUris?.includes(uri) ?? false;
    },
    postLogoutRedirectUriAllowed(this: Client, uri: string): boolean {
      return this.postLogoutRedirectUris?.includes(uri) ?? false;
    },
    async backchannelLogout(this: Client, personId: string, sid: string): Promise<void> {
      recordLogout(deps, { clientId: this.clientId, personId, sid });
    },
  });
}

// RFC 6749 section 2.3: one way to authenticate per request.
function checkOneMechanism(): void {
  const { oidc } = Provider.ctx ?? {};
  if (oidc?.body?.["client_secret"] !== undefined) {
    throw new errors.InvalidRequest("client authentication must only be provided using one mechanism");
  }
}
