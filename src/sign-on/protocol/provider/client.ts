import { randomBytes } from "node:crypto";
import { type AdapterPayload, type Client, errors, type KoaContextWithOIDC, Provider } from "oidc-provider";
import { authMethodOf, commandLineClientId, listSecretHashes, scopeToWire } from "../../../access/index.ts";
import type { App, AppAttribute } from "../../../access/index.ts";
import { type PublicKey, readKeySet } from "../../../platform/crypto/public-key.ts";
import { type GrantType, responseTypes, type OperationId } from "../contract.ts";
import { decodeProtectedHeader } from "jose";
import { countedAddress } from "../../../accounts/index.ts";
import { hashId, type Key } from "../storage/artifact.ts";
import { listScopes } from "../scopes.ts";
import { noteTokenFault } from "../diagnosis.ts";
import { readOnce, questions, getRequest } from "../storage/request.ts";
import type { ProviderDeps } from "../deps.ts";
import { setParameters } from "./library.ts";
import { checkParameters } from "../mount.ts";
import type { Clock } from "../../../platform/clock.ts";
import { makeTurns } from "../../../platform/concurrency/turns.ts";
import type { GuardedSender } from "../../../platform/outbound/guarded-request.ts";

export const appMetadata = [
  "pkce_required",
  "secret_sha256",
  "default_scope",
  "scope_platforms",
  "attributes",
  "has_own_ids",
  "has_own_sids",
] as const;

// Random, so that no secret equals it.
const placeholder = randomBytes(32).toString("base64url");

/** The platform names that the app may write into scopes. */
export const scopePlatformsOf = (client: Client | undefined): readonly string[] =>
  (client?.["scope_platforms"] ?? []) as readonly string[];

export const attributesOf = (client: Client | undefined): readonly AppAttribute[] =>
  (client?.["attributes"] ?? []) as readonly AppAttribute[];

type Presented = { platform: string; now: Date; keys: readonly PublicKey[] };

/** `client_secret` only says that there is one; presented secrets are compared with the hashes in `secret_sha256`. */
function presentClient(app: App, { platform, now, keys }: Presented): AdapterPayload {
  const method = authMethodOf(app);
  const toWire = (scopes: App["scopes"]) => scopes.map((scope) => scopeToWire(platform, scope)).join(" ");
  return {
    client_id: app.clientId,
    client_name: app.name,
    ...(app.secretHash && {
      client_secret: placeholder,
      secret_sha256: listSecretHashes(app, now).map((hash) => hash.toString("base64url")),
    }),
    token_endpoint_auth_method: method,
    ...(method === "private_key_jwt" && { jwks: { keys: [...keys] } }),
    application_type: isNative(app) ? "native" : "web",
    pkce_required: app.pkceRequired,
    has_own_ids: app.sector !== null,
    // Not during a move: the app still has the sessions from before.
    has_own_sids: app.subjectType !== "SHARED",
    redirect_uris: app.redirectUris,
    post_logout_redirect_uris: app.postLogoutRedirectUris,
    response_types: app.redirectUris.length > 0 ? responseTypes : [],
    grant_types: listGrantTypes(app),
    ...(app.scopes.length > 0 && { scope: toWire(app.scopes) }),
    ...(app.defaultScopes.length > 0 && { default_scope: toWire(app.defaultScopes) }),
    scope_platforms: app.scopePlatform === null ? [platform] : [platform, app.scopePlatform],
    attributes: app.attributes,
    id_token_signed_response_alg: app.idTokenAlgorithm,
    ...(app.backchannelLogoutUri && {
      backchannel_logout_uri: app.backchannelLogoutUri,
      backchannel_logout_session_required: true,
    }),
  };
}

/** The library asks the person at each sign-on to such an app, and compares loopback addresses without the port. */
const isNative = ({ clientId, redirectUris }: App): boolean =>
  clientId === commandLineClientId || !redirectUris.every((uri) => /^https?:/.test(uri));

function listGrantTypes({ type, redirectUris, scopes }: App): GrantType[] {
  const mayUse: Record<GrantType, boolean> = {
    authorization_code: redirectUris.length > 0,
    refresh_token: scopes.includes("offline_access"),
    client_credentials: type !== "PUBLIC",
  };
  return (Object.keys(mayUse) as GrantType[]).filter((grant) => mayUse[grant]);
}

/** A public app's pages may call the endpoints from the origins of its redirect URIs. */
export function isOriginOf(client: Pick<Client, "clientAuthMethod" | "redirectUris">, origin: string): boolean {
  if (client.clientAuthMethod !== "none") return false;
  return (client.redirectUris ?? []).some((uri) => URL.parse(uri)?.origin === origin);
}

const operationOf: Record<string, OperationId> = {
  token: "issueToken",
  introspection: "introspectToken",
  revocation: "revokeToken",
};

const clientIdShape = /^[A-Za-z0-9_-]{1,64}$/;

/** Finds an app for the library, at the token endpoint together with the presented code or refresh token. */
export function makeFindClient({ store, clock, platform, contract, findClientKeys, readAddress }: ProviderDeps) {
  return async (clientId: string) => {
    const { ctx } = Provider;
    // The first thing that the library calls after reading a form.
    const { oidc } = (ctx ?? {}) as Partial<KoaContextWithOIDC>;
    const operation = operationOf[oidc?.route ?? ""];
    if (operation) checkParameters(contract.checkRequest[operation], oidc?.body ?? {});
    if (operation === "issueToken") dropIgnoredScopes(ctx as KoaContextWithOIDC);
    if (!clientIdShape.test(clientId)) return undefined;
    const app = await (ctx
      ? readOnce(getRequest().memory, questions.app(clientId), () => findAppWithToken(ctx, clientId))
      : store.findApp(clientId));
    if (!app) return undefined;
    if (app.suspendedAt !== null && (operation === "issueToken" || operation === "introspectToken")) {
      noteTokenFault(ctx as KoaContextWithOIDC, "app_suspended");
      throw new errors.UnauthorizedClient("the app is suspended");
    }
    const { keys, areMissing } = await findClientKeys(app, ctx && operation ? readAssertion(ctx) : null);
    if (areMissing) noteTokenFault(ctx as KoaContextWithOIDC, "client_keys_unreadable");
    return presentClient(app, { platform, now: clock(), keys });
  };

  function readAssertion({ req, oidc }: KoaContextWithOIDC) {
    const assertion = oidc.body?.["client_assertion"];
    if (typeof assertion !== "string") return null;
    try {
      return { kid: decodeProtectedHeader(assertion).kid, address: countedAddress(readAddress(req)) };
    } catch {
      return null;
    }
  }

  // The library asks for the presented code or refresh token next.
  async function findAppWithToken(ctx: KoaContextWithOIDC, clientId: string): Promise<App | null> {
    const presented = readToken(ctx);
    if (!presented) return store.findApp(clientId);
    const { memory } = getRequest();
    const { app } = await readOnce(memory, questions.token(presented), () =>
      store.findToken({ ...presented, clientId }),
    );
    return app;
  }
}

function dropIgnoredScopes(ctx: KoaContextWithOIDC): void {
  const scope = ctx.oidc.params?.["scope"];
  if (typeof scope === "string") setParameters(ctx, { scope: listScopes(scope).join(" ") || undefined });
}

function readToken({ oidc }: KoaContextWithOIDC): Key | null {
  if (oidc.route !== "token") return null;
  const { grant_type: grantType, code, refresh_token: refreshToken } = (oidc.body ?? {}) as Record<string, unknown>;
  if (grantType === "authorization_code" && typeof code === "string")
    return { kind: "AuthorizationCode", idHash: hashId(code) };
  if (grantType === "refresh_token" && typeof refreshToken === "string")
    return { kind: "RefreshToken", idHash: hashId(refreshToken) };
  return null;
}

export function readClientId(ctx: KoaContextWithOIDC): string | null {
  const clientId = ctx.oidc.route === "authorization" ? ctx.query["client_id"] : undefined;
  return typeof clientId === "string" && clientIdShape.test(clientId) ? clientId : null;
}

/** `areMissing`: the address of the key set failed, and the stored keys lack the key that signed the assertion. */
type ClientKeys = { keys: readonly PublicKey[]; areMissing: boolean };

/** The public keys of an app, those at its `jwksUri` only if an assertion was signed with the key `kid`. */
export type FindClientKeys = (app: App, assertion: Assertion | null) => Promise<ClientKeys>;

/** A client assertion: the id of its key, and the address that it was sent from. */
type Assertion = { kid: string | undefined; address: string };

type KeySet = {
  keys: readonly PublicKey[];
  /** When the keys were read, and when that was tried last. */
  readAt: number;
  triedAt: number;
};

const seconds = { fresh: 300, keptOnFailure: 3600 };
/** How often a set is read again; forged assertions of one address take no turn from the app's own. */
const turnsOfAssertions = { windowSeconds: 10, each: 1, sources: 5 };
const mostKeySets = 1000;
const most = { bytes: 65_536, keys: 50 };

/**
 * Reads the key sets of apps and keeps each for five minutes. A key that is unknown, as after a rotation, has it read
 * again; at most every ten seconds for an address, so that forged assertions do not make this service call another one.
 * If a set cannot be read, its keys stay valid for an hour.
 */
export function makeFindClientKeys(get: GuardedSender["get"], clock: Clock): FindClientKeys {
  const known = new Map<string, KeySet>();
  const running = new Map<string, Promise<KeySet>>();
  const turns = makeTurns(clock, turnsOfAssertions);

  async function read(uri: string, before: KeySet | undefined): Promise<KeySet> {
    const now = clock().getTime() / 1000;
    const keys = await fetchKeys(get, uri).catch(() => null);
    const lastKeys = before !== undefined && now - before.readAt < seconds.keptOnFailure ? before : null;
    const keySet =
      keys === null
        ? { keys: lastKeys?.keys ?? [], readAt: lastKeys?.readAt ?? 0, triedAt: now }
        : { keys, readAt: now, triedAt: now };
    known.delete(uri);
    known.set(uri, keySet);
    if (known.size > mostKeySets) known.delete(known.keys().next().value!);
    return keySet;
  }

  function readOnce(uri: string, before: KeySet | undefined): Promise<KeySet> {
    const started = running.get(uri) ?? read(uri, before).finally(() => running.delete(uri));
    running.set(uri, started);
    return started;
  }

  return async (app, assertion) => {
    const { publicKeys, jwksUri } = app;
    if (assertion === null || authMethodOf(app) !== "private_key_jwt") return { keys: publicKeys, areMissing: false };
    if (jwksUri === null) return { keys: readKeySet(publicKeys), areMissing: false };
    const before = known.get(jwksUri);
    const now = clock().getTime() / 1000;
    const isCurrent = before !== undefined && now - before.readAt < seconds.fresh && hasKey(before, assertion);
    const mayRead = !isCurrent && (turns.take(jwksUri, assertion.address) || before === undefined);
    const keySet = mayRead || running.has(jwksUri) ? await readOnce(jwksUri, before) : before!;
    if (mayRead && keySet.readAt !== keySet.triedAt) turns.close(jwksUri);
    return { keys: keySet.keys, areMissing: keySet.readAt !== keySet.triedAt && !hasKey(keySet, assertion) };
  };
}

const hasKey = ({ keys }: KeySet, { kid }: Assertion): boolean =>
  kid !== undefined && keys.some((key) => key.kid === kid);

async function fetchKeys(get: GuardedSender["get"], uri: string): Promise<readonly PublicKey[]> {
  const headers = { accept: "application/json, application/jwk-set+json" };
  const { status, start } = await get(new URL(uri), { headers, mostBytes: most.bytes });
  if (status !== 200) throw new Error(`the key set was answered with ${status}`);
  const { keys } = JSON.parse(start.toString()) as { keys: unknown[] };
  return readKeySet(keys.slice(0, most.keys));
}

export type WithoutPkce = { isAllowed: boolean; deprecatedAt: Date; sunsetAt: Date };

const mayGoWithout = (client: Client): boolean =>
  client["pkce_required"] !== true && client.clientAuthMethod !== "none";

export function makeRequirePkce({ isAllowed }: WithoutPkce) {
  return (_ctx: KoaContextWithOIDC, client: Client): boolean => {
    if (isAllowed && mayGoWithout(client)) return false;
    throw new errors.InvalidRequest(
      "PKCE is required: send code_challenge, the SHA-256 of a code_verifier in base64url, and code_challenge_method=S256",
    );
  };
}

/** Marks the responses of the flow as deprecated. Source: RFC 9745, RFC 8594. */
export function makeMarkDeprecated({ deprecatedAt, sunsetAt }: WithoutPkce, issuerUrl: string) {
  const page = `<${issuerUrl}/docs/sign-on-without-pkce>`;
  const headers = {
    Deprecation: `@${Math.floor(deprecatedAt.getTime() / 1000)}`,
    Sunset: sunsetAt.toUTCString(),
    Link: `${page}; rel="deprecation"; type="text/html", ${page}; rel="sunset"; type="text/html"`,
  };
  return (ctx: KoaContextWithOIDC): void => {
    if (isWithoutPkce(ctx)) ctx.set(headers);
  };
}

function isWithoutPkce({ oidc, status }: KoaContextWithOIDC): boolean {
  const { client, params, route, entities } = oidc;
  if (client === undefined || !mayGoWithout(client)) return false;
  if (route === "authorization" || route === "resume")
    return status < 400 && params?.["response_type"] === "code" && params["code_challenge"] === undefined;
  const code = entities.AuthorizationCode;
  return route === "token" && status === 200 && code !== undefined && code.codeChallenge === undefined;
}
