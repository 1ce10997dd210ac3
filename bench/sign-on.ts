// Sign-on against oidc-provider with its in-memory adapter: what the record in PostgreSQL costs.
import { createHash, randomBytes } from "node:crypto";
import { Agent, request } from "undici";
import type { ClientId } from "../src/access/index.ts";
import { giveLogin, passPages, type TestApp } from "../test/support/token.ts";
import { makeBrowser } from "../test/support/browser.ts";
import { makeMakers } from "../test/support/make.ts";
import { openBenchDatabase } from "./database.ts";
import { compare, measureFlow, measureRequests, type Rate, report, reportHead, startSubject } from "./harness.ts";

const concurrency = 16;
const seconds = Number(process.env["BENCH_SECONDS"] ?? 6);
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5);
const agent = new Agent({ connections: concurrency * 2 });
const scope = "urn:schultor:idm:v1:schools:read";

const ownEndpoints = { authorization: "/oauth2/auth", token: "/oauth2/token" };

/** Who signs in where. Shape: `endpoints` are paths, that of the authorization may end in a query of its own. */
export type Side = { url: string; app: TestApp; cookies: string; endpoints?: typeof ownEndpoints };

const tokenPath = ({ endpoints = ownEndpoints }: Pick<Side, "endpoints">) => endpoints.token;

const basic = ({ clientId, clientSecret }: TestApp) =>
  `Basic ${Buffer.from(`${clientId}:${clientSecret ?? ""}`).toString("base64")}`;

type Answer = { status: number; fields: Record<string, unknown> };

async function postToken(side: Side, fields: Record<string, string>): Promise<Answer> {
  const { statusCode, body } = await request(`${side.url}${tokenPath(side)}`, {
    dispatcher: agent,
    method: "POST",
    headers: { authorization: basic(side.app), "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(fields).toString(),
  });
  const text = await body.text();
  return { status: statusCode, fields: statusCode === 200 ? (JSON.parse(text) as Answer["fields"]) : { text } };
}

export const tokenRequest = (side: Omit<Side, "cookies">, query = "") => ({
  method: "POST" as const,
  path: `${tokenPath(side)}${query}`,
  headers: { authorization: basic(side.app), "content-type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams({ grant_type: "client_credentials", scope }).toString(),
});

type Asked = { address: string; verifier: string };

/** What an app sends a browser to, with PKCE. */
export function authorizationUrl({ url, app, endpoints = ownEndpoints }: Omit<Side, "cookies">): Asked {
  const verifier = randomBytes(32).toString("base64url");
  const query = new URLSearchParams({
    response_type: "code",
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    scope: "openid profile",
    state: randomBytes(8).toString("base64url"),
    nonce: randomBytes(8).toString("base64url"),
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const { authorization } = endpoints;
  return { address: `${url}${authorization}${authorization.includes("?") ? "&" : "?"}${query.toString()}`, verifier };
}

type Code = { code: string; verifier: string };

/** A code for a person with a session. */
export async function requestCode(side: Side): Promise<Code> {
  const { address, verifier } = authorizationUrl(side);
  const { statusCode, headers, body } = await request(address, {
    dispatcher: agent,
    headers: { cookie: side.cookies },
  });
  await body.dump();
  const back = new URL(String(headers["location"]), side.url);
  const code = back.searchParams.get("code");
  if (statusCode >= 400 || code === null) throw new Error(`no code: ${String(statusCode)} ${back.href}`);
  return { code, verifier };
}

export const redeemCode = (side: Side, { code, verifier }: Code): Promise<Answer> =>
  postToken(side, {
    grant_type: "authorization_code",
    code,
    redirect_uri: side.app.redirectUri,
    code_verifier: verifier,
  });

export const signOn = (side: Side) => async () => {
  const { status, fields } = await redeemCode(side, await requestCode(side));
  if (typeof fields["id_token"] !== "string") throw new Error(`no ID token: ${status} ${JSON.stringify(fields)}`);
};

/** Signs a person in once, so that every measured flow finds a session and a consent. */
async function openSession(side: Omit<Side, "cookies">, login: { username: string; password: string }): Promise<Side> {
  const browser = makeBrowser(side.url);
  const shown = await passPages(browser, await browser.open(authorizationUrl(side).address), login);
  if (!shown.url.startsWith(side.app.redirectUri))
    throw new Error(
      `the session was not opened: ${shown.url} ${shown.html.replace(/<[^>]+>|\s+/g, " ").slice(0, 500)}`,
    );
  return {
    ...side,
    cookies: browser
      .cookies()
      .map(({ name, value }: { name: string; value: string }) => `${name}=${value}`)
      .join("; "),
  };
}

/** As many people as flows at a time: a class that signs in, not one browser with sixteen tabs. */
export async function openSessions(
  url: string,
  app: TestApp,
  logins: { username: string; password: string }[],
): Promise<Side[]> {
  const sides: Side[] = [];
  for (const login of logins) sides.push(await openSession({ url, app }, login));
  return sides;
}

export async function benchSignOn(): Promise<void> {
  const database = await openBenchDatabase();
  const make = makeMakers(database.db);
  const school = await make.school();
  const app = await make.app({ clientId: "bench" as ClientId });
  await make.grant({ app: app.clientId, school, signOn: "EVERYBODY", sync: true });
  const people = await Promise.all(Array.from({ length: concurrency }, () => make.person({ school })));
  const logins = await Promise.all(people.map((person) => giveLogin(database.db, person)));

  const ours = await startSubject("service", "./subjects/service.ts", {
    DATABASE_URL: database.url,
    LOG_LEVEL: "warn",
  });
  const base = await startSubject("oidc-provider in memory", "./subjects/oidc-memory.ts", {});
  try {
    const baseApp: TestApp = {
      clientId: app.clientId,
      clientSecret: "bench-secret",
      redirectUri: "http://127.0.0.1:4000/callback",
    };
    console.log(reportHead);
    const measure = async (
      what: string,
      { connections, target }: { connections: number; target: number },
      run: (sides: Side[]) => Promise<Rate>,
    ) => {
      const [ourSides, baseSides] = [
        await openSessions(ours.url, app, logins),
        await openSessions(base.url, baseApp, logins),
      ];
      const sides = {
        ours: () => run(ourSides),
        base: () => run(baseSides),
        rounds,
        subjects: { ours, base },
        db: database.db,
      };
      const title = `${what}, ${String(connections)} connections`;
      console.log(report(await compare(title, target, sides)));
    };
    // No more of them: the baseline keeps 1,000 things, and the sessions of many would be gone in the middle.
    await measure("code + PKCE sign-on with a session", { connections: concurrency, target: 0.5 }, (sides) => {
      const flows = sides.map(signOn);
      return measureFlow((index) => flows[index % flows.length]!(), { connections: concurrency, seconds });
    });
    for (const load of [
      { connections: concurrency, target: 0.5 },
      { connections: 64, target: 0.65 },
    ]) {
      await measure("client credentials", load, ([side]) =>
        measureRequests(side!.url, { requests: [tokenRequest(side!)], connections: load.connections, seconds }),
      );
    }
    const [side] = await openSessions(ours.url, app, logins.slice(0, 1));
    const measureOne = (query: string) => () =>
      measureRequests(ours.url, { requests: [tokenRequest(side!, query)], connections: concurrency, seconds });
    // A request that picks a language takes the way through express.
    const ways = {
      ours: measureOne(""),
      base: measureOne("?lang=de"),
      rounds,
      subjects: { ours, base: ours },
      db: database.db,
    };
    console.log(
      report(
        await compare("client credentials answered before express, against through express, 16 connections", 1.1, ways),
      ),
    );
  } finally {
    await Promise.all([ours.stop(), base.stop()]);
    await agent.close();
    await database.close();
  }
}

if (import.meta.main) await benchSignOn();
