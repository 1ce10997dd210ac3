import type * as OpenidClient from "openid-client";
import { createLocalJWKSet, errors, jwtVerify, type JWTVerifyOptions, type JWTPayload } from "jose";
import type { Clock } from "../platform/clock.ts";
import type { Claims } from "./claims.ts";
import { findJsonExcess } from "../platform/text/outside-json.ts";
import { UpstreamError, type FailureCode } from "./failures.ts";
import { mostValues } from "./guarded-fetch.ts";
import { signatureAlgorithms } from "../platform/crypto/public-key.ts";
import type { KeySet, Metadata } from "./metadata.ts";
import type { ReadyConnection } from "./ready-connection.ts";

// Loaded with the first round trip: most commands of the command line need none.
const library = (): Promise<typeof OpenidClient> => import("openid-client");

export const skewSeconds = 60;
/** How old an ID token or a logout token may be. */
const longestAgeSeconds = 600;

export type Known = ReadyConnection & { metadata: Metadata };
type Calls = { fetch: OpenidClient.CustomFetch; clock: Clock; allowHttp: boolean };

/**
 * Without the escapes of "-", "_", "." and "~" that the library writes: secrets are full of these, and many providers
 * compare what was sent without decoding it. Source: RFC 6749 section 2.3.1.
 */
const sendBasic =
  (clientSecret: string): OpenidClient.ClientAuth =>
  (_provider, { client_id: clientId }, _body, headers) => {
    headers.set("authorization", `Basic ${btoa([clientId, clientSecret].map(encodeURIComponent).join(":"))}`);
  };

async function configure(connection: Known, { fetch, clock, allowHttp }: Calls): Promise<OpenidClient.Configuration> {
  const client = await library();
  const { metadata, clientId, clientSecret, authMethod } = connection;
  const authenticate = authMethod === "client_secret_basic" ? sendBasic : client.ClientSecretPost;
  const times = {
    [client.clockTolerance]: skewSeconds,
    [client.clockSkew]: Math.round((clock().getTime() - Date.now()) / 1000),
  };
  const configuration = new client.Configuration(metadata, clientId, times, authenticate(clientSecret));
  configuration[client.customFetch] = fetch;
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- in development only
  if (allowHttp) client.allowInsecureRequests(configuration);
  return configuration;
}

type Request = Record<"redirect_uri" | "scope" | "state" | "nonce" | "code_challenge", string> &
  Partial<Record<"prompt" | "max_age" | "login_hint" | "ui_locales" | "hd", string>>;

export async function authorizationUrl(connection: Known, calls: Calls, request: Request): Promise<URL> {
  const client = await library();
  const parameters = { ...request, code_challenge_method: "S256" };
  return client.buildAuthorizationUrl(await configure(connection, calls), parameters);
}

export async function endSessionUrl(connection: Known, calls: Calls, parameters: Record<string, string>): Promise<URL> {
  const client = await library();
  return client.buildEndSessionUrl(await configure(connection, calls), parameters);
}

export const challengeOf = async (verifier: string): Promise<string> =>
  (await library()).calculatePKCECodeChallenge(verifier);

type Expected = {
  redirectUri: string;
  state: string;
  nonce: string;
  verifier: string;
};
export type Tokens = { idToken: string; idClaims: Claims & { sub: string }; accessToken: string };

/** Exchanges the code. The signature of the ID token is not checked yet. Errors: UpstreamError. */
export async function exchangeCode(
  connection: Known,
  calls: Calls,
  { params, redirectUri, state, nonce, verifier }: Expected & { params: URLSearchParams },
): Promise<Tokens> {
  const client = await library();
  const current = new URL(redirectUri);
  current.search = params.toString();
  const checks = {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  };
  try {
    const tokens = await client.authorizationCodeGrant(await configure(connection, calls), current, checks);
    return { idToken: tokens.id_token!, idClaims: tokens.claims()!, accessToken: tokens.access_token };
  } catch (error) {
    throw toUpstreamError(error);
  }
}

/** Errors: UpstreamError, also where userinfo is about another account. */
export async function readUserinfo(
  connection: Known,
  calls: Calls,
  { accessToken, idClaims }: Tokens,
): Promise<Claims> {
  try {
    const client = await library();
    return await client.fetchUserInfo(await configure(connection, calls), accessToken, idClaims.sub);
  } catch (error) {
    const failure = toUpstreamError(error);
    // Only the access token is sent there, and not the secret.
    if (failure.code !== "SECRET_REFUSED") throw failure;
    throw new UpstreamError("INVALID_RESPONSE", `userinfo: ${failure.detail}`, { cause: error });
  }
}

/** Refuses the response of another provider, also where it is an error. Source: RFC 9207. Errors: INVALID_RESPONSE. */
export function refuseOtherIssuer({ issuer, metadata }: Known, params: URLSearchParams): void {
  const named = params.getAll("iss");
  if (named.some((one) => one !== issuer))
    throw new UpstreamError("INVALID_RESPONSE", "the response is of another issuer");
  if (named.length === 0 && metadata.authorization_response_iss_parameter_supported === true)
    throw new UpstreamError("INVALID_RESPONSE", "the response does not name its issuer");
}

/** The library compares `azp` only where `aud` is a list of several. Errors: INVALID_RESPONSE. */
export function refuseOtherParty({ clientId }: Known, { azp }: Claims): void {
  if (azp !== undefined && azp !== clientId)
    throw new UpstreamError("INVALID_RESPONSE", "the ID token was issued to another party");
}

/** The codes of RFC 6749 and OpenID Connect Core, by what they mean here. */
const meanings: Readonly<Record<string, FailureCode>> = {
  invalid_client: "SECRET_REFUSED",
  unauthorized_client: "SECRET_REFUSED",
  invalid_grant: "EXPIRED",
  invalid_scope: "SCOPE_REFUSED",
  access_denied: "CANCELLED",
  login_required: "LOGIN_REQUIRED",
  interaction_required: "LOGIN_REQUIRED",
  consent_required: "LOGIN_REQUIRED",
  account_selection_required: "LOGIN_REQUIRED",
  temporarily_unavailable: "UPSTREAM_DOWN",
  server_error: "UPSTREAM_DOWN",
};

const plainCode = /^[a-z_]{1,50}$/;

function toUpstreamError(error: unknown): UpstreamError {
  const chain = causesOf(error);
  const own = chain.find((one) => one instanceof UpstreamError);
  if (own !== undefined) return own;
  const [first] = chain as { error?: unknown; code?: string }[];
  if (typeof first?.error === "string" && plainCode.test(first.error))
    return new UpstreamError(meanings[first.error] ?? "INVALID_RESPONSE", first.error, { cause: error });
  if (chain.some((one) => one instanceof Response && one.status === 401))
    return new UpstreamError("SECRET_REFUSED", "answered 401", { cause: error });
  const isOfClock = first?.code === "OAUTH_JWT_TIMESTAMP_CHECK_FAILED";
  return new UpstreamError(isOfClock ? "CLOCK" : "INVALID_RESPONSE", first?.code, { cause: error });
}

function causesOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let one = error; one !== undefined && one !== null && chain.length < 5; one = (one as Error).cause)
    chain.push(one);
  return chain;
}

const sets = new WeakMap<KeySet, ReturnType<typeof createLocalJWKSet>>();

function setOf(keys: KeySet): ReturnType<typeof createLocalJWKSet> {
  const known = sets.get(keys);
  if (known !== undefined) return known;
  const made = createLocalJWKSet(keys);
  sets.set(keys, made);
  return made;
}

export type FindKeys = (than: { newer: boolean }) => Promise<KeySet>;

/**
 * Checks signature, issuer, audience and times. Keys that do not fit are read again once, if those known are not new.
 * Errors: CLOCK, INVALID_RESPONSE, UPSTREAM_DOWN.
 */
export async function verifyToken(
  { issuer, clientId, metadata }: Known,
  { token, findKeys, now, requiredClaims }: { token: string; findKeys: FindKeys; now: Date; requiredClaims: string[] },
): Promise<JWTPayload & { header: { typ?: string | undefined } }> {
  const excess = findJsonExcess(Buffer.from(token.split(".")[1] ?? "", "base64url"), mostValues);
  if (excess !== null) throw new UpstreamError("INVALID_RESPONSE", `the token ${excess}`);
  const options: JWTVerifyOptions = {
    issuer,
    audience: clientId,
    algorithms: metadata.id_token_signing_alg_values_supported.filter((one) => signatureAlgorithms.includes(one)),
    clockTolerance: skewSeconds,
    maxTokenAge: longestAgeSeconds,
    currentDate: now,
    requiredClaims,
  };
  const verify = async (newer: boolean) => {
    const { payload, protectedHeader } = await jwtVerify(token, setOf(await findKeys({ newer })), options);
    return { ...payload, header: { typ: protectedHeader.typ } };
  };
  try {
    return await verify(false).catch((error: unknown) => {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed)
        return verify(true);
      throw error;
    });
  } catch (error) {
    if (error instanceof UpstreamError) throw error;
    throw new UpstreamError(isOfTime(error) ? "CLOCK" : "INVALID_RESPONSE", codeOf(error), { cause: error });
  }
}

const isOfTime = (error: unknown): boolean =>
  error instanceof errors.JWTExpired ||
  (error instanceof errors.JWTClaimValidationFailed &&
    ["iat", "nbf", "exp"].includes(error.claim) &&
    error.reason === "check_failed");

const codeOf = (error: unknown): string => (error instanceof errors.JOSEError ? error.code : "");
