import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import createClient from "openapi-fetch";
import * as client from "openid-client";
import type { paths as IdmPaths } from "../generated/openapi/idm.ts";
import type { paths as SchulconnexPaths } from "../generated/openapi/schulconnex.ts";
import { makePages } from "./app-pages.ts";
import type demo from "./demo.json";

/** An app as the demo world registers it. */
export type Registered = (typeof demo)["apps"][number];

export type PartnerApp = { clientId: string; name: string; url: string; close(): Promise<void> };

type Attempt = { codeVerifier: string; state: string; nonce: string };
type Settings = { issuerUrl: string; baseUrl: string; platform: string; demoPlatform: string; port: number };
type Read = { path: string; body: unknown };

const bearer = (accessToken: string) => ({ Authorization: `Bearer ${accessToken}` });

/** Starts one app: it signs people in with the service as any partner's app would and shows what it got and read. */
export async function startPartnerApp(app: Registered, settings: Settings): Promise<PartnerApp> {
  const { clientId, clientSecret, name } = app;
  const { issuerUrl, baseUrl } = settings;
  const scopes = app.scopes.map((scope) => scope.replace(`urn:${settings.demoPlatform}:`, `urn:${settings.platform}:`));
  const readScopes = scopes.filter((scope) => scope.startsWith("urn:"));
  const peopleScope = readScopes.find((scope) => scope.endsWith(":people:read"));
  const signOnScopes = scopes.filter((scope) => !scope.startsWith("urn:") && scope !== "offline_access");
  // All apps are at one host, and cookies are shared by its ports.
  const cookies = { attempt: `attempt-${clientId}`, session: `session-${clientId}` };
  const pages = makePages(name);
  const attempts = new Map<string, Attempt>();
  const idTokens = new Map<string, string>();
  let found: Promise<client.Configuration> | undefined;

  const discover = () => {
    const authentication = clientSecret === null ? client.None() : client.ClientSecretBasic(clientSecret);
    found ??= client.discovery(new URL(issuerUrl), clientId, undefined, authentication, {
      execute: [
        // Without it the library takes ID tokens of the token endpoint on trust.
        client.enableNonRepudiationChecks,
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- a development service speaks http
        ...(issuerUrl.startsWith("http:") ? [client.allowInsecureRequests] : []),
      ],
    });
    found.catch(() => (found = undefined));
    return found;
  };

  async function startSignOn(url: URL, res: ServerResponse): Promise<void> {
    const config = await discover();
    const attempt = {
      codeVerifier: client.randomPKCECodeVerifier(),
      state: client.randomState(),
      nonce: client.randomNonce(),
    };
    const loginHint = url.searchParams.get("login_hint");
    const challenge = await client.calculatePKCECodeChallenge(attempt.codeVerifier);
    const target = client.buildAuthorizationUrl(config, {
      redirect_uri: new URL("/callback", url).href,
      scope: [...signOnScopes, ...(peopleScope === undefined ? [] : [peopleScope])].join(" "),
      state: attempt.state,
      nonce: attempt.nonce,
      ...(app.pkceRequired && { code_challenge: challenge, code_challenge_method: "S256" }),
      ...(loginHint !== null && { login_hint: loginHint }),
    });
    const key = remember(attempts, attempt);
    redirect(res, target.href, `${cookies.attempt}=${key}; Path=/callback; HttpOnly; SameSite=Lax; Max-Age=3600`);
  }

  async function finishSignOn(url: URL, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const attempt = take(attempts, readCookie(req, cookies.attempt));
    if (attempt === undefined) {
      redirect(res, "/login");
      return;
    }
    const config = await discover();
    const { codeVerifier, state, nonce } = attempt;
    const tokens = await client.authorizationCodeGrant(config, url, {
      expectedState: state,
      expectedNonce: nonce,
      ...(app.pkceRequired && { pkceCodeVerifier: codeVerifier }),
    });
    const reads = await Promise.all([...readAsPerson(tokens.access_token), readAsApp(config)]);
    const key = remember(idTokens, tokens.id_token ?? "");
    res.setHeader("Set-Cookie", `${cookies.session}=${key}; Path=/; HttpOnly; SameSite=Lax`);
    pages.showResult(res, tokens.claims() ?? {}, reads.flat());
  }

  function readAsPerson(accessToken: string): Promise<Read>[] {
    if (peopleScope === undefined) return [];
    const schulconnex = createClient<SchulconnexPaths>({ baseUrl, headers: bearer(accessToken) });
    return [bodyOf("/idm/schulconnex/v1/person-info", schulconnex.GET("/idm/schulconnex/v1/person-info"))];
  }

  async function readAsApp(config: client.Configuration): Promise<Read[]> {
    if (clientSecret === null) return [];
    const { access_token: accessToken } = await client.clientCredentialsGrant(config, { scope: readScopes.join(" ") });
    const idm = createClient<IdmPaths>({ baseUrl, headers: bearer(accessToken) });
    return [await bodyOf("/idm/ep/v1/schools", idm.GET("/idm/ep/v1/schools"))];
  }

  async function signOut(url: URL, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const idToken = take(idTokens, readCookie(req, cookies.session));
    const comesBack = "postLogoutRedirectUris" in app;
    const hint = {
      ...(idToken !== undefined && { id_token_hint: idToken }),
      ...(idToken !== undefined && comesBack && { post_logout_redirect_uri: `http://127.0.0.1:${url.port}/` }),
    };
    redirect(res, client.buildEndSessionUrl(await discover(), hint).href);
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const host = req.headers.host === `localhost:${port}` ? "localhost" : "127.0.0.1";
    const url = new URL(req.url ?? "/", `http://${host}:${port}`);
    if (url.pathname === "/") pages.showStart(res, issuerUrl);
    else if (url.pathname === "/login") await startSignOn(url, res);
    else if (url.pathname === "/callback") await finishSignOn(url, req, res);
    else if (url.pathname === "/logout") await signOut(url, req, res);
    else pages.showFailure(res, 404, "There is no such page.");
  }

  const server = createServer((req, res) => {
    answer(req, res).catch((error: unknown) => pages.showFailure(res, 502, explain(error)));
  });
  await new Promise<void>((resolve, reject) =>
    server.once("error", reject).listen(settings.port, "127.0.0.1", resolve),
  );
  const { port } = server.address() as AddressInfo;
  return {
    clientId,
    name,
    url: `http://127.0.0.1:${port}/`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** What a call answers: what it asked for, or the problem. */
async function bodyOf(path: string, call: Promise<{ data?: unknown; error?: unknown }>): Promise<Read> {
  const { data, error } = await call;
  return { path, body: data ?? error };
}

function explain(error: unknown): string {
  if (error instanceof client.AuthorizationResponseError || error instanceof client.ResponseBodyError) {
    return `The service answered: ${error.error}${error.error_description ? ` (${error.error_description})` : ""}`;
  }
  return error instanceof Error ? error.message : String(error);
}

function redirect(res: ServerResponse, to: string, cookie?: string): void {
  res
    .writeHead(302, {
      Location: to,
      "Cache-Control": "no-store",
      ...(cookie === undefined ? {} : { "Set-Cookie": cookie }),
    })
    .end();
}

function remember<T>(store: Map<string, T>, value: T): string {
  const key = randomBytes(16).toString("base64url");
  store.set(key, value);
  const oldest = store.keys().next().value;
  if (store.size > 1000 && oldest !== undefined) store.delete(oldest);
  return key;
}

function take<T>(store: Map<string, T>, key: string | undefined): T | undefined {
  const value = store.get(key ?? "");
  store.delete(key ?? "");
  return value;
}

function readCookie(req: IncomingMessage, name: string): string | undefined {
  return new RegExp(`(?:^|; )${name}=([^;]*)`).exec(req.headers.cookie ?? "")?.[1];
}
