import { isSafe } from "./address.ts";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type Discovery = {
  issuer: string;
  authorizationUrl: string;
  tokenUrl: string;
  revocationUrl: string;
  /** Those of the admin API. */
  scopes: readonly string[];
};

const adminScope = /^urn:[^:\s]+:admin:v1:(read|write)$/;

/** Source: OpenID Connect Discovery 1.0 section 4. */
export async function discover(address: string, fetch: Fetch): Promise<Discovery> {
  const response = await fetch(`${address}/.well-known/openid-configuration`, {});
  const found = (await response.json().catch(() => null)) as Record<string, unknown> | null;
  const supported = found?.["scopes_supported"];
  const scopes = Array.isArray(supported)
    ? supported.filter((scope) => adminScope.test(String(scope))).map(String)
    : [];
  const addressOf = (name: string): string => {
    const url = found?.[name];
    if (!response.ok || typeof url !== "string" || !URL.canParse(url) || scopes.length === 0)
      throw new Error(`${address} is not a Schultor service: it has no admin API.`);
    if (!isSafe(new URL(url))) throw new Error(`${address} receives secrets without encryption. Nothing was sent.`);
    return url;
  };
  // What is kept was typed for this address.
  const ownAddressOf = (name: string): string => {
    const url = addressOf(name);
    const { origin } = new URL(url);
    if (origin === new URL(address).origin) return url;
    throw new Error(
      `${address} receives secrets at ${origin}. Nothing was sent. If you trust it: schultor login ${origin}`,
    );
  };
  return {
    issuer: addressOf("issuer"),
    authorizationUrl: addressOf("authorization_endpoint"),
    tokenUrl: ownAddressOf("token_endpoint"),
    revocationUrl: ownAddressOf("revocation_endpoint"),
    scopes,
  };
}
