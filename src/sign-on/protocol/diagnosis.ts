import { hash } from "node:crypto";
import type { SentParameter, SentProblem, TokenFault } from "../../platform/advice/sign-on/index.ts";
import { uuidPattern } from "../../platform/crypto/ids.ts";
import { grantTypes, responseModes } from "./contract.ts";
import { findScopeProblem, listScopes } from "./scopes.ts";
import type { KoaContextWithOIDC } from "oidc-provider";

type SentParameters = Readonly<Record<string, unknown>>;
type Client = {
  clientId: string;
  redirectUris?: readonly string[] | undefined;
  scope?: string | undefined;
  scopePlatforms: readonly string[];
  isPkceRequired: boolean;
  authMethod: string;
};
type Code = { redirectUri?: string | undefined; codeChallenge?: string | undefined };
type Check = (text: string) => SentProblem | null;
type Described = { show?: (text: string) => string | null; check?: Check; ifMissing?: SentProblem | null };
type Wanted = Readonly<Record<string, Described>>;

const longest = { url: 300, scope: 300, words: 100, unknown: 10 };
// Without dots, which user names have.
const plainName = /^[A-Za-z][\w-]{0,39}$/;
const plainSegment = /^(?:[a-z]{1,20}|v\d|oauth2)?$/;
const plainScope = /^[A-Za-z][\w:.-]{0,79}$/;

/** Shows a value only if it is a word of the standards, so that nothing personal is shown. */
const among =
  (...words: readonly string[]) =>
  (text: string): string | null =>
    text.length <= longest.words && text.split(" ").every((word) => words.includes(word)) ? text : null;
const checkAmong =
  (problem: SentProblem, ...words: readonly string[]): Check =>
  (text) =>
    text.split(" ").every((word) => words.includes(word)) ? null : problem;

/** Shows a URL without its query, and of its path only registered segments and single words: the rest may be a name. */
const showUrl =
  ({ redirectUris = [] }: Pick<Client, "redirectUris">) =>
  (text: string): string | null => {
    const url = URL.parse(text);
    if (url === null) return null;
    const known = new Set(redirectUris.flatMap(segmentsOf));
    const show = (segment: string) => (plainSegment.test(segment) || known.has(segment) ? segment : "…");
    const names = [...url.searchParams.keys()].map((name) => `${plainName.test(name) ? name : "…"}=…`);
    const query = names.length === 0 ? "" : `?${names.join("&")}`;
    const path = segmentsOf(text).map(show).join("/");
    return `${url.protocol}${url.host === "" ? "" : `//${url.host}`}${path}${query}`.slice(0, longest.url);
  };

const segmentsOf = (address: string): string[] => URL.parse(address)?.pathname.split("/") ?? [];

const showScope = (text: string): string =>
  text
    .split(" ")
    .map((scope) => (plainScope.test(scope) ? scope : "…"))
    .join(" ")
    .slice(0, longest.scope);

const checkScope =
  (client: Client): Check =>
  (text) => {
    const scopes = listScopes(text);
    const problems = scopes.map((scope) => findScopeProblem(client, scope));
    if (problems.includes("scope_platform")) return "scope_platform";
    if (problems.includes("scope_unknown")) return "scope_unknown";
    if (problems.includes("scope_not_given")) return "scope_not_given";
    return scopes.length === text.split(" ").filter(Boolean).length ? null : "scope_ignored";
  };

const kindOfHint = (text: string): string => {
  if (uuidPattern.test(text)) return "person_id";
  return text.length > 64 ? "opaque" : "user_name";
};

function describeOne(name: string, sent: unknown, { show, check, ifMissing = null }: Described): SentParameter {
  if (sent === undefined || sent === "") return { name, value: null, length: null, problem: ifMissing };
  if (typeof sent !== "string") return { name, value: null, length: null, problem: "repeated" };
  const value = show?.(sent) ?? null;
  return { name, value, length: value === null ? sent.length : null, problem: check?.(sent) ?? null };
}

function describe(sent: SentParameters, wanted: Wanted, others: Wanted): SentParameter[] {
  const known = { ...wanted, ...others };
  const unknown = Object.keys(sent).filter((name) => !Object.hasOwn(known, name) && plainName.test(name));
  return [
    ...Object.entries(wanted).map(([name, described]) => describeOne(name, sent[name], described)),
    ...Object.entries(others)
      .filter(([name]) => sent[name] !== undefined && sent[name] !== "")
      .map(([name, described]) => describeOne(name, sent[name], described)),
    ...unknown
      .slice(0, longest.unknown)
      .map((name) => ({ name, value: null, length: String(sent[name]).length, problem: "unknown" as const })),
  ];
}

function checkResponseMode(mode: string, redirectUri: unknown): SentProblem | null {
  const isKnown = responseModes.some((known) => known === mode);
  return isKnown && (mode !== "form_post" || /^https?:/i.test(String(redirectUri))) ? null : "response_mode";
}

const challengeMethods = ["S256", "plain"];

export function describeAuthorization(sent: SentParameters, client: Client): SentParameter[] {
  const hasChallenge = typeof sent["code_challenge"] === "string" && sent["code_challenge"] !== "";
  const requiresChallenge = client.isPkceRequired || client.authMethod === "none";
  return describe(
    sent,
    {
      client_id: { show: () => client.clientId },
      redirect_uri: {
        show: showUrl(client),
        check: (text) => (client.redirectUris?.includes(text) ? null : "redirect_uri_not_registered"),
        ifMissing: "missing",
      },
      response_type: {
        show: among("code", "token", "id_token", "none"),
        check: checkAmong("response_type", "code"),
        ifMissing: "missing",
      },
      scope: { show: showScope, check: checkScope(client) },
      state: { ifMissing: "state_missing" },
      nonce: {},
      code_challenge: {
        check: (text) => (text.length === 43 ? null : "code_challenge_length"),
        ifMissing: requiresChallenge ? "missing" : "code_challenge_deprecated",
      },
      code_challenge_method: {
        show: among(...challengeMethods),
        check: checkAmong("code_challenge_method", "S256"),
        ifMissing: hasChallenge ? "code_challenge_method" : null,
      },
    },
    {
      login_hint: { show: kindOfHint },
      prompt: {
        show: among("none", "login", "consent", "select_account", "create"),
        check: checkAmong("prompt", "none", "login", "select_account", "consent"),
      },
      max_age: {
        show: (text) => (/^\d{1,10}$/.test(text) ? text : null),
        check: (text) => (/^(0|[1-9]\d*)$/.test(text) ? null : "max_age"),
      },
      response_mode: {
        show: among("query", "fragment", "form_post", "jwt", "query.jwt", "web_message"),
        check: (text) => checkResponseMode(text, sent["redirect_uri"]),
      },
      ui_locales: {
        show: (text) => (/^[a-z]{2}(?:-[A-Z]{2})?(?: [a-z]{2}(?:-[A-Z]{2})?){0,9}$/.test(text) ? text : null),
      },
      id_token_hint: {},
      claims: {},
      acr_values: {},
      display: {},
      claims_locales: {},
      registration: {},
      request: {},
      request_uri: {},
      resource: {},
    },
  );
}

export function authenticationOf(sent: SentParameters, header: string | undefined): string {
  if (header !== undefined) return /^basic /i.test(header) ? "client_secret_basic" : "other";
  if (sent["client_secret"] !== undefined) return "client_secret_post";
  return sent["client_assertion"] === undefined ? "none" : "private_key_jwt";
}

function checkVerifier(text: string, code: Code | null): SentProblem | null {
  if (text.length < 43 || text.length > 128) return "code_verifier_length";
  if (code === null) return null;
  if (code.codeChallenge === undefined) return "code_verifier_unexpected";
  return hash("sha256", text, "base64url") === code.codeChallenge ? null : "code_verifier_differs";
}

/** `header` is the Authorization header. */
export function describeTokenRequest(
  sent: SentParameters,
  { client, code, header }: { client: Client; code: Code | null; header: string | undefined },
): SentParameter[] {
  const authentication = authenticationOf(sent, header);
  const isExchange = sent["grant_type"] === "authorization_code";
  return [
    {
      name: "client_authentication",
      value: authentication,
      length: null,
      problem: authentication === client.authMethod ? null : "client_authentication",
    },
    ...describe(
      sent,
      {
        grant_type: {
          show: among(...grantTypes, "password", "implicit"),
          check: checkAmong("grant_type", ...grantTypes),
          ifMissing: "missing",
        },
        ...(isExchange && {
          code: { ifMissing: "missing" },
          redirect_uri: {
            show: showUrl(client),
            check: (text: string) =>
              code?.redirectUri === undefined || code.redirectUri === text ? null : "redirect_uri_differs",
            ifMissing: "missing",
          },
          code_verifier: {
            check: (text: string) => checkVerifier(text, code),
            ifMissing: code?.codeChallenge === undefined ? null : "code_verifier_missing",
          },
        }),
      },
      {
        scope: { show: showScope, ...(!isExchange && { check: checkScope(client) }) },
        client_id: { show: (text) => (text === client.clientId ? text : null) },
        refresh_token: {},
        client_secret: {},
        client_assertion: {},
        client_assertion_type: {},
        resource: {},
        ...(!isExchange && { code: {}, redirect_uri: { show: showUrl(client) }, code_verifier: {} }),
      },
    ),
  ];
}

/** A message of the library, also thrown in provider/library.ts. */
export const differentMechanism =
  "the provided authentication mechanism does not match the registered client authentication method";

/** What the library says of a refusal for its own log. */
type LibraryRefusal = { error: string; error_detail?: string | undefined };

const byDetail: Readonly<Record<string, TokenFault>> = {
  "authorization code not found": "code_unknown",
  "authorization code is expired": "code_expired",
  "authorization code already consumed": "code_used",
  "authorization code redirect_uri mismatch": "redirect_uri_differs",
  "code_verifier must be provided": "code_verifier_missing",
  "code_verifier does not match code_challenge": "code_verifier_differs",
  "unsupported code_challenge_method": "code_verifier_unexpected",
  "refresh token not found": "refresh_token_unknown",
  "refresh token is expired": "refresh_token_expired",
  "refresh token already used": "refresh_token_used",
  "grant not found": "sign_on_ended",
  "grant is expired": "sign_on_ended",
  "accountId mismatch": "sign_on_ended",
  "authorization code invalid (referenced account not found)": "sign_on_ended",
  "refresh token invalid (referenced account not found)": "sign_on_ended",
  "invalid secret provided": "client_secret_wrong",
  "client assertion tokens must only be used once": "client_assertion_used",
  "no applicable key found in the JSON Web Key Set": "client_assertion_key",
  "signature verification failed": "client_assertion_key",
  [differentMechanism]: "client_authentication_differs",
};

const isRefresh = ({ oidc }: KoaContextWithOIDC): boolean => oidc.params?.["grant_type"] === "refresh_token";

export function findTokenFault(
  ctx: KoaContextWithOIDC,
  { error, error_detail: detail = "" }: LibraryRefusal,
): TokenFault | null {
  if (detail === "client mismatch") return isRefresh(ctx) ? "refresh_token_of_another_app" : "code_of_another_app";
  if (Object.hasOwn(byDetail, detail)) return byDetail[detail]!;
  const isAssertion = error === "invalid_client" && ctx.oidc.client?.clientAuthMethod === "private_key_jwt";
  return isAssertion ? "client_assertion_refused" : null;
}

/** Strangers learn neither whether a token exists nor whether an app has a secret. */
const publicFaults: Readonly<Partial<Record<TokenFault, TokenFault | null>>> = {
  code_of_another_app: "code_unknown",
  refresh_token_of_another_app: "refresh_token_unknown",
  client_secret_wrong: null,
  client_authentication_differs: null,
  client_assertion_used: null,
  client_assertion_key: null,
  client_assertion_refused: null,
  client_keys_unreadable: null,
};

const faults = new WeakMap<KoaContextWithOIDC, TokenFault>();

export function noteTokenFault(ctx: KoaContextWithOIDC, fault: TokenFault | null): void {
  if (fault !== null && !faults.has(ctx)) faults.set(ctx, fault);
}

export const tokenFaultOf = (ctx: KoaContextWithOIDC): TokenFault | null => faults.get(ctx) ?? null;

/** The reason as the response may give it. */
export function publicFaultOf(ctx: KoaContextWithOIDC): TokenFault | null {
  const fault = tokenFaultOf(ctx);
  return fault !== null && fault in publicFaults ? publicFaults[fault]! : fault;
}
