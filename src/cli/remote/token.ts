import { commandLineClientId } from "../../access/token.ts";
import { AppError } from "../../platform/errors.ts";
import { discover, type Discovery, type Fetch } from "./discovery.ts";

/** What a person's login in the browser gave; the refresh token is replaced at each use. */
export type Login = { refreshToken: string };

/** An app with its secret, or a person. `keep` stores the login that replaces the one that was used. */
export type Credentials = { address: string; clientId: string } & (
  { clientSecret: string } | { login: Login; person: string; keep(login: Login): Promise<void> }
);

/** As whom commands act. */
export const actorOf = (credentials: Credentials): string =>
  "login" in credentials ? credentials.person : credentials.clientId;

/** A token that ends sooner is renewed before it is used. */
const spareMs = 30_000;

// Source: RFC 6749 section 2.3.1, which encodes both parts as a form does.
const basic = (clientId: string, clientSecret: string): string =>
  `Basic ${Buffer.from([clientId, clientSecret].map(encodeURIComponent).join(":")).toString("base64")}`;

type Token = { value: string; endsAt: number };
type Answer = {
  access_token?: string;
  refresh_token?: string;
  expires_in?: number;
  error?: string;
  error_description?: string;
};

async function post(fetch: Fetch, url: string, init: RequestInit): Promise<Answer & { status: number }> {
  const response = await fetch(url, { method: "POST", ...init });
  const answer = ((await response.json().catch(() => null)) ?? {}) as Answer;
  return { ...answer, status: response.status };
}

const presentToken = ({ access_token: value, expires_in: seconds = 60 }: Answer): Token | null =>
  value === undefined ? null : { value, endsAt: Date.now() + seconds * 1000 - spareMs };

function refuse(address: string, { status, error = "failed", error_description: text }: Answer & { status: number }) {
  const message = `${address} gave no token: ${text ?? "It gave no reason."}`;
  return new AppError(status < 500 ? "unauthenticated" : "unavailable", error, message);
}

type TokenEndpoint = Pick<Discovery, "tokenUrl" | "scopes">;
type App = { address: string; clientId: string; clientSecret: string };

async function askAsApp(app: App, { tokenUrl, scopes }: TokenEndpoint, fetch: Fetch): Promise<Token> {
  const { address, clientId, clientSecret } = app;
  const answer = await post(fetch, tokenUrl, {
    headers: { authorization: basic(clientId, clientSecret) },
    body: new URLSearchParams({ grant_type: "client_credentials", scope: scopes.join(" ") }),
  });
  const token = presentToken(answer);
  if (token !== null) return token;
  const { error, status } = answer;
  const onlyReading = scopes.filter((scope) => scope.endsWith(":read"));
  if (error === "invalid_scope" && onlyReading.length < scopes.length)
    return askAsApp(app, { tokenUrl, scopes: onlyReading }, fetch);
  if (error === "invalid_client" && status < 500)
    throw new AppError("unauthenticated", error, `${address} refuses this client id or secret.`);
  if (error === "invalid_scope")
    throw new AppError(
      "unauthenticated",
      error,
      `The app '${clientId}' has none of the scopes admin:read and admin:write.`,
    );
  throw refuse(address, answer);
}

/** Exchanges what a person's login gave: a code, or the refresh token before. */
export async function exchange(
  address: string,
  { tokenUrl }: Discovery,
  grant: Record<string, string>,
  fetch: Fetch,
): Promise<{ token: Token; login: Login }> {
  const answer = await post(fetch, tokenUrl, {
    body: new URLSearchParams({ client_id: commandLineClientId, ...grant }),
  });
  const token = presentToken(answer);
  const { refresh_token: refreshToken } = answer;
  if (token !== null && refreshToken !== undefined) return { token, login: { refreshToken } };
  if (answer.error !== "invalid_grant") throw refuse(address, answer);
  const message = `Your login at ${address} has ended. Log in again: schultor login ${address}`;
  throw new AppError("unauthenticated", "login_ended", message);
}

/** Ends a person's login with all its tokens. Source: RFC 7009 section 2.1. */
export async function revoke(address: string, refreshToken: string, fetch: Fetch): Promise<void> {
  const { revocationUrl } = await discover(address, fetch);
  const body = new URLSearchParams({ client_id: commandLineClientId, token: refreshToken });
  const answer = await post(fetch, revocationUrl, { body });
  if (answer.status !== 200) throw new Error(`${address} did not end the login: it answered ${answer.status}.`);
}

export type TokenSource = {
  get(): Promise<string>;
  drop(): void;
};

/** Fetches the access token of one command line, and another when it ends. Source: RFC 6749 sections 4.4 and 6. */
export function makeTokenSource(credentials: Credentials, fetch: Fetch): TokenSource {
  const { address, clientId } = credentials;
  let discovery: Promise<Discovery> | undefined;
  let token: Promise<Token> | undefined;
  const fresh = async (): Promise<Token> => {
    const endpoints = await (discovery ??= discover(address, fetch));
    if ("clientSecret" in credentials)
      return askAsApp({ address, clientId, clientSecret: credentials.clientSecret }, endpoints, fetch);
    const grant = { grant_type: "refresh_token", refresh_token: credentials.login.refreshToken };
    const renewed = await exchange(address, endpoints, grant, fetch);
    credentials.login = renewed.login;
    await credentials.keep(renewed.login);
    return renewed.token;
  };
  return {
    async get() {
      const present = await token;
      if (present === undefined || present.endsAt <= Date.now()) token = fresh();
      return (await token!).value;
    },
    drop: () => (token = undefined),
  };
}
