import type { KoaContextWithOIDC } from "oidc-provider";
import { tokenFaultTexts } from "../../../platform/advice/sign-on/index.ts";
import { present, valuesOf } from "../../../platform/contract-types.ts";
import { makeProblemType } from "../../../platform/http/index.ts";
import { codeChallengeMethods, grantTypes, responseModes, responseTypes } from "../contract.ts";
import type {
  DiscoveryDocument,
  Introspection,
  JsonWebKey,
  JsonWebKeySet,
  OAuthError,
  TokenResponse,
  ResponseMode,
} from "../contract.ts";
import { publicFaultOf, authenticationOf } from "../diagnosis.ts";
import { bindingCookie } from "../session.ts";
import { getRequest } from "../storage/request.ts";
import { hidesReason } from "./policy.ts";
import type { ShowPages } from "../deps.ts";

/** Gives the library's responses the form that the contract promises, route by route. */
export function polishAnswer(ctx: KoaContextWithOIDC): void {
  const { route } = ctx.oidc;
  endCookiesWithBrowser(ctx);
  if (ctx.status >= 400) explainAuthentication(ctx);
  if (route === "token") polishTokenAnswer(ctx);
  else if (route === "authorization" || route === "resume") {
    // The browser must not post the form of a reply again.
    if (ctx.status === 302 || ctx.status === 303) ctx.status = getRequest().answered === null ? 302 : 303;
  } else if (ctx.status >= 400) polishError(ctx);
  else if (route === "end_session") leaveWithoutSession(ctx);
  else if (route === "introspection") ctx.body = presentIntrospection(ctx.body as Partial<Introspection>);
  else if (route === "discovery") ctx.body = presentDiscovery(ctx.body as DiscoveryDocument);
}

/** The device may be shared, which only a session knows. The date that deletes a cookie stays. */
function endCookiesWithBrowser(ctx: KoaContextWithOIDC): void {
  const cookies = ctx.res.getHeader("Set-Cookie");
  if (!Array.isArray(cookies)) return;
  const { cookiesOfForm } = getRequest();
  const isLasting = (cookie: string) => cookiesOfForm.includes(cookie) || isOfSession(cookie, ctx);
  const endless = cookies.map((cookie) =>
    isLasting(cookie) ? cookie : cookie.replace(/; expires=(?!Thu, 01 Jan 1970)[^;]*/i, ""),
  );
  ctx.set("Set-Cookie", endless);
}

const isOfSession = (cookie: string, { oidc }: KoaContextWithOIDC): boolean =>
  cookie.startsWith(oidc.provider.cookieName("session")) || cookie.startsWith(bindingCookie);

function polishError(ctx: KoaContextWithOIDC): void {
  if (typeof ctx.body === "object" && ctx.body !== null) ctx.body = presentError(ctx, ctx.body as LibraryError);
  // RFC 9110 section 15.5.2; the library sends it only to clients that tried Basic.
  if (ctx.status === 401 && !ctx.response.get("WWW-Authenticate"))
    ctx.set("WWW-Authenticate", `Basic realm="${ctx.oidc.issuer}", error="invalid_client"`);
}

const waysToAuthenticate = "client_secret_basic, client_secret_post, private_key_jwt or none, as it is registered";

/** The same for unknown clients, wrong credentials and another way: strangers learn nothing about an app. */
function explainAuthentication(ctx: KoaContextWithOIDC): void {
  const { body, route } = ctx.oidc;
  if (!clientRoutes.has(route)) return;
  const error = (ctx.body ?? {}) as LibraryError;
  const way = authenticationOf(body ?? {}, ctx.get("authorization") || undefined);
  const isMissing = way !== "client_secret_basic" && missingAuthentication.has(error.error_description ?? "");
  if (isMissing)
    ctx.body = { ...error, error_description: `client authentication is missing: an app uses ${waysToAuthenticate}` };
  else if (error.error === "invalid_client")
    ctx.body = {
      ...error,
      error_description: `client authentication failed: the client or its credentials are unknown, or it is not registered for ${way}`,
    };
}

/** The library reports these as invalid requests. */
const missingAuthentication = new Set([
  "no client authentication mechanism provided",
  "invalid authorization header value format",
]);

const clientRoutes = new Set(["token", "introspection", "revocation"]);

type LibraryError = { error?: string; error_description?: string | undefined; scope?: string | undefined };
type LibraryTokens = {
  access_token: string;
  token_type: string;
  expires_in: number;
  scope?: string;
  id_token?: string;
  refresh_token?: string;
};

/** The errors that the library can answer with here, each explained in docs/errors.md. */
export const libraryErrors: readonly string[] = [
  ...["invalid_request", "invalid_client", "invalid_grant", "invalid_scope", "invalid_token", "insufficient_scope"],
  ...["unauthorized_client", "unsupported_grant_type", "unsupported_response_type", "unsupported_response_mode"],
  ...["access_denied", "login_required", "consent_required", "interaction_required", "unsupported_token_type"],
  ...["request_not_supported", "request_uri_not_supported", "registration_not_supported", "server_error"],
];

/** The page of docs/errors.md that explains an error. */
const pageOfError = ({ oidc }: KoaContextWithOIDC, code: string): string => makeProblemType(oidc.issuer)(code);

/** Instead of the library's, which say no more than the error. */
const descriptions: Readonly<Record<string, string>> = {
  "unsupported grant_type requested": `grant_type is one of ${grantTypes.join(", ")}`,
  "invalid token provided": "the access token is unknown, has expired or was revoked",
};

export function presentError(
  ctx: KoaContextWithOIDC,
  { error = "server_error", error_description, scope }: LibraryError,
): OAuthError {
  const fault = publicFaultOf(ctx);
  return present<OAuthError>({
    error,
    error_description:
      fault === null ? (descriptions[error_description ?? ""] ?? error_description) : tokenFaultTexts.en[fault],
    error_uri: pageOfError(ctx, fault ?? error),
    scope,
  });
}

const presentTokens = (tokens: LibraryTokens): TokenResponse =>
  present<TokenResponse>({
    access_token: tokens.access_token,
    expires_in: tokens.expires_in,
    id_token: tokens.id_token,
    refresh_token: tokens.refresh_token,
    scope: tokens.scope ?? "",
    token_type: tokens.token_type.toLowerCase(),
  });

const presentIntrospection = ({ active = false, ...token }: Partial<Introspection>): Introspection =>
  present<Introspection>({
    active,
    sub: token.sub,
    client_id: token.client_id,
    exp: token.exp,
    iat: token.iat,
    sid: token.sid,
    iss: token.iss,
    scope: token.scope,
    token_type: token.token_type,
  });

const presentDiscovery = (document: DiscoveryDocument): DiscoveryDocument => ({
  ...document,
  response_modes_supported: responseModes,
  code_challenge_methods_supported: codeChallengeMethods,
});

const keyTypes = valuesOf<JsonWebKey["kty"]>({ RSA: true, EC: true, OKP: true });
const keyUses = valuesOf<JsonWebKey["use"]>({ sig: true });

function presentKey(key: JsonWebKey): JsonWebKey {
  if (!keyTypes.includes(key.kty) || !keyUses.includes(key.use))
    throw new Error(`the key ${key.kid} is of no kind we use`);
  return present<JsonWebKey>({
    kty: key.kty,
    use: key.use,
    kid: key.kid,
    alg: key.alg,
    e: key.e,
    n: key.n,
    crv: key.crv,
    x: key.x,
    y: key.y,
  });
}

/** Replaces the keys of the library, which also has those that sign nothing at present. */
export function answerKeys(ctx: KoaContextWithOIDC, keys: readonly JsonWebKey[]): void {
  ctx.body = present<JsonWebKeySet>({ keys: keys.map(presentKey) });
  // Some clients decode nothing but application/json.
  ctx.type = ctx.accepts("application/json", "application/jwk-set+json") || "application/json";
  ctx.vary("Accept");
}

// Every failure is 400: with WWW-Authenticate, common clients would not read the error.
function polishTokenAnswer(ctx: KoaContextWithOIDC): void {
  if (ctx.status >= 400) {
    const body = (ctx.body ?? {}) as LibraryError;
    refuseToken(
      ctx,
      isOthersGrant(ctx, body) ? "unauthorized_client" : (body.error ?? "invalid_request"),
      body.error_description,
    );
    return;
  }
  ctx.body = presentTokens(ctx.body as LibraryTokens);
}

// Source: RFC 6749 section 5.2; the library calls it an invalid request.
function isOthersGrant({ oidc }: KoaContextWithOIDC, { error }: LibraryError): boolean {
  const grantType = oidc.params?.["grant_type"];
  return (
    error === "invalid_request" && typeof grantType === "string" && oidc.client?.grantTypeAllowed(grantType) === false
  );
}

export function refuseToken(ctx: KoaContextWithOIDC, error: string, description?: string): void {
  ctx.remove("WWW-Authenticate");
  ctx.status = 400;
  ctx.body = presentError(ctx, { error, error_description: description });
}

// Without a session the library would post its logout form by script.
function leaveWithoutSession(ctx: KoaContextWithOIDC): void {
  const { session, params } = ctx.oidc;
  if (ctx.status !== 200 || session?.accountId) return;
  const backUri = params?.["post_logout_redirect_uri"];
  const target = new URL(typeof backUri === "string" ? backUri : ctx.oidc.urlFor("end_session_success"));
  const state = params?.["state"];
  if (typeof backUri === "string" && typeof state === "string") target.searchParams.set("state", state);
  ctx.body = null;
  ctx.status = 303;
  ctx.set("Location", target.href);
}

/** The parameters that the app receives, the same in every response mode. */
type AppParameters = Record<string, string>;

/** Sends the browser to the app with the result of its authorization request. */
export type AnswerApp = (ctx: KoaContextWithOIDC, redirectUri: string, parameters: AppParameters) => void;

export const makeAnswerApp =
  ({ showFormPost }: ShowPages): AnswerApp =>
  (ctx, redirectUri, result) => {
    const parameters = result["error"] === undefined ? result : explainError(ctx, result, result["error"]);
    const mode = modeOf(ctx);
    if (mode === "form_post") return showFormPost(ctx, { redirectUri, parameters });
    const target = new URL(redirectUri);
    if (mode === "fragment") target.hash = new URLSearchParams(parameters).toString();
    else for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value);
    ctx.status = 302;
    ctx.redirect(target.href);
  };

// The library would report a refused response type in the fragment; that and a refused mode are reported in the query.
const modeOf = ({ oidc }: KoaContextWithOIDC): ResponseMode =>
  responseModes.find((mode) => mode === oidc.params?.["response_mode"]) ?? "query";

const hidden = { error: "login_required", error_description: "End-User authentication is required" };

function explainError(ctx: KoaContextWithOIDC, result: AppParameters, description: string): AppParameters {
  const error = hidesReason(ctx, description)
    ? { ...result, ...hidden }
    : { ...result, error: description, ...describe(result) };
  return { ...error, error_uri: pageOfError(ctx, error.error) };
}

function describe({ error, error_description, scope = "" }: AppParameters): AppParameters {
  // The library refuses existing scopes that were not granted before grant.ts does, without naming them.
  if (error_description === "requested scope is not allowed")
    return { error_description: `the app was not granted the scope ${scope}` };
  if (error === "unsupported_response_type")
    return { error_description: `response_type must be ${responseTypes.join(", ")}` };
  if (error === "unsupported_response_mode")
    return {
      error_description: `response_mode must be ${responseModes.join(", ")} or missing; form_post needs an http or https redirect URI`,
    };
  return {};
}
