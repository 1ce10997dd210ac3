import { decodeJwt } from "jose";
import { beforeAll, expect, test } from "vitest";
import { loadSharedSecrets } from "../../../src/sign-on/protocol/keys/shared-secrets.ts";
import { makeLoginHint } from "../../../src/sign-on/protocol/login-hint.ts";
import type { PersonId } from "../../../src/directory/index.ts";
import { readConfig } from "../../../src/config/index.ts";
import { makeBrowser, type Shown } from "../../support/browser.ts";
import {
  askFor,
  exchange,
  getUserTokens,
  giveLogin,
  type Login,
  passPages,
  signOn,
  type TestApp,
} from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld();
let other: PersonId;
let otherLogin: Login;
let key: Buffer;

beforeAll(async () => {
  const { make, school, service } = world;
  other = await make.person({ school });
  otherLogin = await giveLogin(service.db, other);
  const keys = readConfig({ NODE_ENV: "test" }).encryptionKeys;
  key = (await loadSharedSecrets(service.db, keys, new Date())).loginHint;
});

const asksToSwitch = (shown: Shown): boolean => shown.html.includes("/switch");
const ask = (app: TestApp, hint: string, more: Record<string, string> = {}) =>
  askFor(world.service, app, { params: { login_hint: hint, ...more } });

const kinds: [string, (app: TestApp) => string][] = [
  ["a hint of ours", (app) => makeLoginHint(key, other, app.clientId)],
  ["a person's id", () => other],
  ["a person's id in capitals", () => other.toUpperCase()],
  ["a user name", () => otherLogin.username],
  ["a user name in another spelling", () => ` ${otherLogin.username.toUpperCase()} `],
];

test.each(kinds)(
  "%s of another person never gives the present one's code: it asks to switch",
  async (_what, makeHint) => {
    const { service, login } = world;
    const app = await world.app();
    const { browser } = await getUserTokens(service, app, login);
    const asked = ask(app, makeHint(app));
    const shown = await browser.open(asked.address);
    expect(asksToSwitch(shown)).toBe(true);
    const none = await browser.open(ask(app, makeHint(app), { prompt: "none" }).address);
    expect(new URL(none.url).searchParams.get("error")).toBe("login_required");

    const back = await passPages(browser, await browser.submit(shown, "/switch"), otherLogin);
    const { body } = await exchange(service, app, { browser, asked, back: new URL(back.url) });
    expect(decodeJwt(body.id_token!).sub).toBe(other);
  },
);

test.each(kinds)("%s of the present person goes through silently", async (_what, makeHint) => {
  const { service } = world;
  const app = await world.app();
  const { browser } = await getUserTokens(service, app, otherLogin);
  expect((await browser.open(ask(app, makeHint(app)).address)).url).toContain("code=");
});

test("with nobody signed in, signing in as another than the hinted one ends at the question to switch", async () => {
  const { service, login } = world;
  const app = await world.app();
  const browser = makeBrowser(service.url);
  const shown = await browser.open(ask(app, makeLoginHint(key, other, app.clientId)).address);
  const wrong = await browser.submit(shown, "/login", login);
  expect(asksToSwitch(wrong)).toBe(true);
  expect((await passPages(browser, await browser.submit(wrong, "/switch"), otherLogin)).url).toContain("code=");
});

test("a hint made for another app, or one that means nobody, asks once and then accepts who signs in", async () => {
  const { service, login } = world;
  const [app, stranger] = [await world.app(), await world.app()];
  for (const hint of [
    makeLoginHint(key, other, stranger.clientId),
    "nobody@example.org",
    crypto.randomUUID(),
    "a\u0301",
    "x".repeat(512),
  ]) {
    const { browser } = await getUserTokens(service, app, login);
    const shown = await browser.open(ask(app, hint).address);
    expect(asksToSwitch(shown)).toBe(true);
    expect((await passPages(browser, await browser.submit(shown, "/switch"), login)).url).toContain("code=");
  }
});

test("the hint says nothing about the person", () => {
  const [first, second] = [makeLoginHint(key, other, "app"), makeLoginHint(key, other, "app")];
  expect(first).not.toBe(second);
  expect(Buffer.from(first, "base64url").toString("latin1")).not.toContain(other);
});

test("switching ends the other person's session and what hangs on it", async () => {
  const { service, login } = world;
  const app = await world.app();
  const before = await getUserTokens(service, app, login);
  const shown = await before.browser.open(ask(app, other).address);
  await before.browser.submit(shown, "/switch");
  const response = await fetch(`${service.url}/oauth2/userinfo`, {
    headers: { authorization: `Bearer ${before.access_token}` },
  });
  expect(response.status).toBe(401);
  expect(
    (await signOn(service, app, otherLogin, { browser: before.browser })).back.searchParams.get("code"),
  ).toBeTruthy();
});

test("cancelling the switch keeps the session and tells the app", async () => {
  const { service, login } = world;
  const app = await world.app();
  const { browser } = await getUserTokens(service, app, login);
  const cancelled = await browser.submit(await browser.open(ask(app, other).address), "/cancel");
  expect(new URL(cancelled.url).searchParams.get("error")).toBe("access_denied");
  expect((await browser.open(askFor(service, app).address)).url).toContain("code=");
});
