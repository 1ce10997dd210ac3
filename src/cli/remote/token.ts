import { AppError } from "../../platform/errors.ts";
import { isSafe } from "./address.ts";

type Credentials = { address: string; clientId: string; clientSecret: string };
type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const adminScope = /^urn:[^:\s]+:admin:v1:(read|write)$/;
/** A token that ends sooner is renewed before it is used. */
const spareMs = 30_000;

type Discovery = { tokenUrl: string; scopes: readonly string[] };

/** Source: OpenID Connect Discovery 1.0 section 4. */
async function discover(address: string, fetch: Fetch): Promise<Discovery> {
  const response = await fetch(`${address}/.well-known/openid-configuration`, {});
  const found = (await response.json().catch(() => null)) as Record<string, unknown> | null;
  const [endpoint, scopes] = [found?.["token_endpoint"], found?.["scopes_supported"]];
  const admin = Array.isArray(scopes) ? scopes.filter((scope) => adminScope.test(String(scope))).map(String) : [];
  if (!response.ok || typeof endpoint !== "string" || !URL.canParse(endpoint) || admin.length === 0)
    throw new Error(`${address} is not a Schultor service: it has no admin API.`);
  if (!isSafe(new URL(endpoint))) throw new Error(`${address} receives secrets without encryption. Nothing was sent.`);
  return { tokenUrl: endpoint, scopes: admin };
}

// Source: RFC 6749 section 2.3.1, which encodes both parts as a form does.
const basic = ({ clientId, clientSecret }: Credentials): string =>
  `Basic ${Buffer.from([clientId, clientSecret].map(encodeURIComponent).join(":")).toString("base64")}`;

type Token = { value: string; endsAt: number };
type Answer = { access_token?: string; expires_in?: number; error?: string; error_description?: string };

async function ask(credentials: Credentials, { tokenUrl, scopes }: Discovery, fetch: Fetch): Promise<Token> {
  const response = await fetch(tokenUrl, {
    method: "POST",
    headers: { authorization: basic(credentials) },
    body: new URLSearchParams({ grant_type: "client_credentials", scope: scopes.join(" ") }),
  });
  const answer = ((await response.json().catch(() => null)) ?? {}) as Answer;
  if (answer.access_token !== undefined)
    return { value: answer.access_token, endsAt: Date.now() + (answer.expires_in ?? 60) * 1000 - spareMs };
  const { error = "failed", error_description: description = "It gave no token." } = answer;
  const onlyReading = scopes.filter((scope) => scope.endsWith(":read"));
  if (error === "invalid_scope" && onlyReading.length < scopes.length)
    return ask(credentials, { tokenUrl, scopes: onlyReading }, fetch);
  const message =
    error === "invalid_client"
      ? `${credentials.address} refuses this client id or secret.`
      : error === "invalid_scope"
        ? `The app '${credentials.clientId}' has none of the scopes admin:read and admin:write.`
        : `${credentials.address} gave no token: ${description}`;
  throw new AppError(response.status < 500 ? "unauthenticated" : "unavailable", error, message);
}

export type TokenSource = {
  get(): Promise<string>;
  drop(): void;
};

/** Fetches the access token of one command line, and another when it ends. Source: RFC 6749 section 4.4. */
export function makeTokenSource(credentials: Credentials, fetch: Fetch): TokenSource {
  let discovery: Promise<Discovery> | undefined;
  let token: Promise<Token> | undefined;
  const fresh = async () => ask(credentials, await (discovery ??= discover(credentials.address, fetch)), fetch);
  return {
    async get() {
      const present = await token;
      if (present === undefined || present.endsAt <= Date.now()) token = fresh();
      return (await token!).value;
    },
    drop: () => (token = undefined),
  };
}
