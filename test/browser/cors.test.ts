import type { Page } from "playwright-core";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { startWorld } from "../api/sign-on/world.ts";
import { serve } from "../support/serve.ts";
import { makeTestClock } from "../support/service.ts";
import { getUserTokens, type TestApp, type TokenBody } from "../support/token.ts";
import { openChromium } from "./support/browser.ts";

// What pages may read of the service is decided by the browser.
const world = startWorld({}, makeTestClock(new Date()));
let app: TestApp;
let tokens: TokenBody;
let own: string;
let hostile: Record<"another port" | "another host", string>;

const startOrigin = (host: "localhost" | "127.0.0.1"): Promise<string> =>
  serve((_req, res) => res.setHeader("content-type", "text/html").end("<title>page</title>"), host);

beforeAll(async () => {
  own = await startOrigin("localhost");
  hostile = { "another port": await startOrigin("localhost"), "another host": await startOrigin("127.0.0.1") };
  app = await world.app({ type: "PUBLIC", redirectUris: [`${own}/callback`] });
  tokens = await getUserTokens(world.service, app, world.login, { scopes: ["openid", "offline_access"] });
});

/** Opens a page of the origin with the cookies of a person who is signed in. */
async function openPage(origin: string): Promise<Page> {
  // Not that of useBrowser(), because blocked reads are errors in the console.
  const page = await (await openChromium()).newPage();
  onTestFinished(() => page.close());
  page.setDefaultTimeout(120_000);
  await page.goto(`${world.service.url}/sign-in`);
  await page.locator("#username").fill(world.login.username);
  await page.locator("#password").fill(world.login.password);
  await page.getByRole("button", { name: /^(Anmelden|Sign in)$/ }).click();
  await page.waitForURL(`${world.service.url}/`);
  await page.goto(origin);
  return page;
}

type Init = { method?: string; headers?: Record<string, string>; body?: string };

/** What the page reads, with credentials as keycloak-js sends them; null if the browser keeps it from the page. */
const read = (page: Page, path: string, init: Init = {}) =>
  page.evaluate<Record<string, unknown> | null>(
    `fetch(${JSON.stringify(world.service.url + path)}, ${JSON.stringify({ ...init, credentials: "include" })})
      .then((response) => response.json(), () => null)`,
  );

const withToken = (): Init => ({ headers: { authorization: `Bearer ${tokens.access_token}` } });
const asForm = (fields: Record<string, string>): Init => ({
  method: "POST",
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams(fields).toString(),
});
const refresh = (): Init =>
  asForm({ client_id: app.clientId, grant_type: "refresh_token", refresh_token: tokens.refresh_token! });

test("a page of the app reads discovery, keys, userinfo and tokens, with credentials", async () => {
  const page = await openPage(own);
  expect(await read(page, "/.well-known/openid-configuration")).toMatchObject({ issuer: world.service.url });
  expect(await read(page, "/.well-known/jwks.json")).toMatchObject({ keys: expect.any(Array) as unknown });
  expect(await read(page, "/oauth2/userinfo", withToken())).toMatchObject({ sub: world.pupil });
  expect(await read(page, "/oauth2/userinfo", asForm({ access_token: tokens.access_token }))).toMatchObject({
    sub: world.pupil,
  });
  const refreshed = await read(page, "/oauth2/token", refresh());
  expect(refreshed).toMatchObject({ access_token: expect.any(String) as string });
  tokens = { ...tokens, ...refreshed };
});

test("a page reads the API with the headers that its libraries add", async () => {
  const page = await openPage(own);
  const added = { "x-requested-with": "XMLHttpRequest", "cache-control": "no-cache", baggage: "a=b" };
  const traced = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
  const headers = { authorization: "Bearer none", "content-type": "application/json", ...added, ...traced };
  const answer = await page.evaluate(
    `fetch(${JSON.stringify(`${world.service.url}/idm/ep/v1/schools`)}, ${JSON.stringify({ headers })})
      .then((response) => response.status, () => null)`,
  );
  expect(answer).toBe(401);
});

test.each(["another port", "another host"] as const)(
  "a hostile page at %s reads only what is public, though the person is signed in and the tokens are stolen",
  async (where) => {
    const page = await openPage(hostile[where]);
    expect(await read(page, "/.well-known/openid-configuration")).toMatchObject({ issuer: world.service.url });
    expect(await read(page, "/oauth2/userinfo")).toBeNull();
    expect(await read(page, "/oauth2/userinfo", withToken())).toBeNull();
    expect(await read(page, "/oauth2/userinfo", asForm({ access_token: tokens.access_token }))).toBeNull();
    expect(await read(page, "/oauth2/token", refresh())).toBeNull();
    const silent = `/oauth2/auth?client_id=${app.clientId}&response_type=code&scope=openid&prompt=none`;
    expect(await read(page, silent)).toBeNull();
    expect(await read(page, "/")).toBeNull();
  },
);
