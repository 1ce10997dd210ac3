import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import * as client from "openid-client";
import { showFailure, showResult, showStart } from "./app-pages.ts";
import demo from "./demo.json" with { type: "json" };

export type DemoApp = { url: string; close(): Promise<void> };

type Attempt = { codeVerifier: string; state: string; nonce: string };
type Settings = { issuerUrl: string; baseUrl: string; platform: string; port: number };

const { clientId, clientSecret, scopes } = demo.apps[0]!;

/** Starts the Lernapp of the demo world: signs in with the service as any partner app would and shows what it got and read. */
export async function startDemoApp({ issuerUrl, baseUrl, platform, port: wantedPort }: Settings): Promise<DemoApp> {
  const readScopes = scopes
    .filter((scope) => scope.startsWith("urn:"))
    .map((scope) => scope.replace(demo.platform, platform));
  const attempts = new Map<string, Attempt>();
  const idTokens = new Map<string, string>();
  let found: Promise<client.Configuration> | undefined;

  const discover = () => {
    found ??= client.discovery(new URL(issuerUrl), clientId, undefined, client.ClientSecretBasic(clientSecret ?? ""), {
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to stand out; a development service speaks http
      execute: issuerUrl.startsWith("http:") ? [client.allowInsecureRequests] : [],
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
    const target = client.buildAuthorizationUrl(config, {
      redirect_uri: new URL("/callback", url).href,
      scope: ["openid", "profile", "school", "role", "groups", readScopes.at(-1)!].join(" "),
      code_challenge: await client.calculatePKCECodeChallenge(attempt.codeVerifier),
      code_challenge_method: "S256",
      state: attempt.state,
      nonce: attempt.nonce,
      ...(loginHint === null ? {} : { login_hint: loginHint }),
    });
    redirect(
      res,
      target.href,
      `attempt=${remember(attempts, attempt)}; Path=/callback; HttpOnly; SameSite=Lax; Max-Age=3600`,
    );
  }

  async function finishSignOn(url: URL, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const attempt = take(attempts, readCookie(req, "attempt"));
    if (attempt === undefined) {
      redirect(res, "/login");
      return;
    }
    const config = await discover();
    const { codeVerifier, state, nonce } = attempt;
    const tokens = await client.authorizationCodeGrant(config, url, {
      pkceCodeVerifier: codeVerifier,
      expectedState: state,
      expectedNonce: nonce,
    });
    const own = await client.clientCredentialsGrant(config, { scope: readScopes.join(" ") });
    const reads = await Promise.all([
      read(config, tokens.access_token, "/idm/schulconnex/v1/person-info"),
      read(config, own.access_token, "/idm/ep/v1/schools"),
    ]);
    res.setHeader("Set-Cookie", `session=${remember(idTokens, tokens.id_token ?? "")}; Path=/; HttpOnly; SameSite=Lax`);
    showResult(res, tokens.claims() ?? {}, reads);
  }

  async function read(config: client.Configuration, accessToken: string, path: string) {
    const answer = await client.fetchProtectedResource(config, accessToken, new URL(baseUrl + path), "GET");
    return { path, body: await answer.json() };
  }

  async function signOut(url: URL, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const idToken = take(idTokens, readCookie(req, "session"));
    const hint =
      idToken === undefined
        ? {}
        : { id_token_hint: idToken, post_logout_redirect_uri: `http://127.0.0.1:${url.port}/` };
    redirect(res, client.buildEndSessionUrl(await discover(), hint).href);
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(
      req.url ?? "/",
      `http://${req.headers.host === `localhost:${port}` ? "localhost" : "127.0.0.1"}:${port}`,
    );
    if (url.pathname === "/") showStart(res, issuerUrl);
    else if (url.pathname === "/login") await startSignOn(url, res);
    else if (url.pathname === "/callback") await finishSignOn(url, req, res);
    else if (url.pathname === "/logout") await signOut(url, req, res);
    else showFailure(res, 404, "There is no such page.");
  }

  const server = createServer((req, res) => {
    answer(req, res).catch((error: unknown) => showFailure(res, 502, explain(error)));
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(wantedPort, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
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

if (import.meta.main) {
  const { issuer, port } = parseArgs({
    options: {
      issuer: { type: "string", default: "http://localhost:3000" },
      port: { type: "string", default: "4000" },
    },
  }).values;
  const app = await startDemoApp({ issuerUrl: issuer, baseUrl: issuer, platform: demo.platform, port: Number(port) });
  console.log(`The demo app is at ${app.url} and signs in with ${issuer}`);
}
