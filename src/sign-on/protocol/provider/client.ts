import { randomBytes } from "node:crypto";
import type { AdapterPayload, Client } from "oidc-provider";
import {
  type App,
  type AppAttribute,
  authMethodOf,
  commandLineClientId,
  listSecretHashes,
  scopeToWire,
} from "../../../access/index.ts";
import type { PublicKey } from "../../../platform/crypto/public-key.ts";
import { type GrantType, responseTypes } from "../contract.ts";

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
export function presentClient(app: App, { platform, now, keys }: Presented): AdapterPayload {
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
