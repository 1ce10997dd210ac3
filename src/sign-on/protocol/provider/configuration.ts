import { type Configuration, errors, type KoaContextWithOIDC } from "oidc-provider";
import { type ClientId, scopeNames, scopeToWire } from "../../../access/index.ts";
import { signatureAlgorithms } from "../../../platform/crypto/public-key.ts";
import type { PersonId } from "../../../directory/index.ts";
import { recordAudit } from "../../../events/index.ts";
import type { Pair } from "../consent.ts";
import { responseTypes } from "../contract.ts";
import { secondsOfSession, acrValues } from "../session.ts";
import { findOwnId, findRight, makeFindAccount, requestIdOf } from "./account.ts";
import { algorithms } from "../keys/signing-keys.ts";
import { appMetadata, isOriginOf, makeRequirePkce } from "./client.ts";
import type { ProviderDeps, ShowPages } from "../deps.ts";
import { checkScopes, makeExtraParams, makeLoadGrant } from "./grant.ts";
import { interactionSeconds } from "./commit.ts";
import { hasOwnIds, makeCookieSignatures, setParameters } from "./library.ts";
import { makePolicy } from "./policy.ts";
import { getRequest, sessionRuleFor } from "../storage/request.ts";

export function makeConfiguration(deps: ProviderDeps, pages: ShowPages): Configuration {
  const { lifetimes, secrets, platform, contract } = deps;
  return {
    routes: {
      authorization: "/oauth2/auth",
      token: "/oauth2/token",
      jwks: "/.well-known/jwks.json",
      userinfo: "/oauth2/userinfo",
      revocation: "/oauth2/revoke",
      introspection: "/oauth2/introspect",
      end_session: "/oauth2/sessions/logout",
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      clientCredentials: { enabled: true },
      revocation: { enabled: true, allowedPolicy: isOwner },
      introspection: { enabled: true, allowedPolicy: makeIntrospectionPolicy(deps) },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: pages.showLogoutConfirm,
        postLogoutSuccessSource: pages.showLoggedOut,
      },
      // The only callback before the library gives client credentials; no app ever names a resource.
      resourceIndicators: {
        enabled: true,
        async defaultResource(ctx) {
          if (ctx.oidc.params?.["grant_type"] === "client_credentials") readOwnScopes(ctx);
          return undefined as unknown as string;
        },
        async getResourceServerInfo() {
          throw new errors.InvalidTarget();
        },
      },
    },
    responseTypes,
    clientAuthMethods: ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"],
    assertJwtClientAuthClaimsAndHeader: (_ctx, { exp }) => checkAssertionLifetime(Number(exp)),
    allowOmittingSingleRegisteredRedirectUri: false,
    pkce: { required: makeRequirePkce(deps.withoutPkce) },
    scopes: scopeNames.map((scope) => scopeToWire(platform, scope)),
    // `amr` and `acr` belong to no scope: makeLoadGrant requests `amr` where needed, the app requests `acr`.
    claims: { ...contract.claimsByScope, amr: null, acr: null },
    acrValues: acrValues(platform),
    conformIdTokenClaims: false,
    extraClientMetadata: { properties: [...appMetadata] },
    extraParams: makeExtraParams(deps),
    findAccount: makeFindAccount(deps),
    subjectTypes: ["public", "pairwise"],
    // Not the library's third argument: for an ID token, its client id is an array (library.ts). "" is nobody's id.
    pairwiseIdentifier: async (ctx, personId) => (await findOwnId(deps, pairOf(ctx, personId))) ?? "",
    loadExistingGrant: makeLoadGrant(deps),
    interactions: { policy: makePolicy(deps), url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    renderError: pages.showError,
    clientBasedCORS: (_ctx, origin, client) => isOriginOf(client, origin),
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client, source) =>
      client.grantTypeAllowed("refresh_token") && source.scopes.has("offline_access"),
    // Tokens carry the session's uid and are deleted with it (storage); the library would read the session at each use.
    expiresWithSession: async () => false,
    revokeGrantPolicy: (ctx) => recordReuse(deps, ctx),
    jwks: { keys: deps.signingKeys.map(({ privateJwk }) => privateJwk) as NonNullable<Configuration["jwks"]>["keys"] },
    enabledJWA: {
      idTokenSigningAlgValues: [...algorithms],
      clientAuthSigningAlgValues: [...signatureAlgorithms] as SigningAlgorithm[],
    },
    cookies: { keys: makeCookieSignatures(secrets.cookies) },
    ttl: {
      AuthorizationCode: lifetimes.codeSeconds,
      AccessToken: lifetimes.accessTokenSeconds,
      ClientCredentials: lifetimes.accessTokenSeconds,
      IdToken: lifetimes.idTokenSeconds,
      RefreshToken: lifetimes.refreshTokenSeconds,
      Grant: lifetimes.refreshTokenSeconds,
      // The library uses the same clock.
      Session: (_ctx, session) => {
        const { sessionSeconds } = lifetimes;
        const rule = sessionRuleFor(session.accountId);
        return secondsOfSession(session, { sessionSeconds, rule, now: Math.floor(Date.now() / 1000) });
      },
      Interaction: interactionSeconds,
    },
    discovery: {
      prompt_values_supported: ["none", "login", "select_account", "consent"],
      ui_locales_supported: ["de", "en"],
    },
  };
}

type SigningAlgorithm = NonNullable<NonNullable<Configuration["enabledJWA"]>["clientAuthSigningAlgValues"]>[number];

const longestAssertionSeconds = 3600;

// The id of each assertion is stored until it expires.
async function checkAssertionLifetime(expiresAt: number): Promise<void> {
  if (expiresAt * 1000 - Date.now() <= (longestAssertionSeconds + 60) * 1000) return;
  throw new errors.InvalidClientAuth("exp is more than an hour ahead in the client_assertion JWT");
}

async function isOwner(
  _ctx: KoaContextWithOIDC,
  client: { clientId: string },
  token: { clientId?: string | undefined },
): Promise<boolean> {
  return token.clientId === client.clientId;
}

const pairOf = ({ oidc }: KoaContextWithOIDC, personId: string): Pair => ({
  clientId: oidc.client?.clientId as ClientId,
  personId: personId as PersonId,
});

function makeIntrospectionPolicy(deps: ProviderDeps) {
  return async (
    ctx: KoaContextWithOIDC,
    client: { clientId: string },
    token: { clientId?: string | undefined; accountId?: string },
  ): Promise<boolean> => {
    if (!(await isOwner(ctx, client, token))) return false;
    if (token.accountId === undefined) return true;
    const pair = pairOf(ctx, token.accountId);
    if ((await findRight(deps, pair)).kind !== "allowed") return false;
    return !hasOwnIds(ctx.oidc.client) || (await findOwnId(deps, pair)) !== null;
  };
}

function readOwnScopes(ctx: KoaContextWithOIDC): void {
  const unasked = ctx.oidc.client?.["default_scope"];
  if (typeof unasked === "string" && !ctx.oidc.params?.["scope"]) setParameters(ctx, { scope: unasked });
  checkScopes(ctx.oidc.client, [...ctx.oidc.requestParamScopes]);
}

// At the token endpoint an OAuth grant is revoked only if a code or refresh token was used again.
async function recordReuse({ db, clock }: ProviderDeps, ctx: KoaContextWithOIDC): Promise<boolean> {
  if (ctx.oidc.route === "token") {
    const [token] = getRequest().tokens;
    await recordAudit(db, {
      at: clock(),
      action: "token_reused",
      clientId: ctx.oidc.client?.clientId,
      personId: token?.personId ?? undefined,
      requestId: requestIdOf(ctx),
      detail: { token: String(ctx.oidc.params?.["grant_type"]) },
    });
  }
  return true;
}
