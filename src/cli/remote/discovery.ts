import { UsageError } from "../option.ts";

const isLoopback = (host: string): boolean => host === "localhost" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);

const isSafe = ({ protocol, hostname }: URL): boolean =>
  protocol === "https:" || (protocol === "http:" && isLoopback(hostname));

/** Reads the address of a service. Errors: UsageError for one that is none, or that is not encrypted. */
export function readAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(`'${text}' is not an address such as https://portal.example.`);
  if (url.username + url.password + url.search + url.hash !== "")
    throw new UsageError("The address must not contain a user name, '?' or '#'.");
  if (!isSafe(url)) throw new UsageError("The address must begin with https. http is allowed for this machine only.");
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type Discovery = {
  issuer: string;
  authorizationUrl: string;
  tokenUrl: string;
  revocationUrl: string;
  /** The scopes of the admin API. */
  scopes: readonly string[];
};

const adminScope = /^urn:[^:\s]+:admin:v1:(read|write)$/;

/** Source: OpenID Connect Discovery 1.0 section 4. */
export async function discover(address: string, fetch: Fetch): Promise<Discovery> {
  const response = await fetch(`${address}/.well-known/openid-configuration`, {});
  const metadata = (await response.json().catch(() => null)) as Record<string, unknown> | null;
  const supported = metadata?.["scopes_supported"];
  const scopes = Array.isArray(supported)
    ? supported.filter((scope) => adminScope.test(String(scope))).map(String)
    : [];
  const addressOf = (name: string): string => {
    const url = metadata?.[name];
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
