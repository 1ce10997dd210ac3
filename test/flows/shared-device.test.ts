import { expect, test } from "vitest";
import { makeStaff } from "../support/admin.ts";
import { type Browser, makeBrowser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { setUpTotp } from "../support/second-factor.ts";
import { startService } from "../support/service.ts";
import { askFor, exchange, giveLogin, passPages, type TestApp } from "../support/token.ts";
import type { components } from "../../generated/openapi/admin.ts";

const service = await startService();
const make = makeMakers(service.db);
const school = await make.school();
const person = (firstCall: string) =>
  make.person({ school, name: { firstFull: firstCall, firstCall, last: "Muster" } });
const [bo, ada] = [await person("Bo"), await person("Ada")];
const logins = { bo: await giveLogin(service.db, bo), ada: await giveLogin(service.db, ada) };
const backUri = "https://app.example/";
const app = await make.app({ loginUrl: "https://app.example/login", postLogoutRedirectUris: [backUri] });
await make.grant({ app: app.clientId, school });
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });

/** The names of the cookies that a browser keeps when it is closed. */
const lastingOf = (lines: readonly string[]): string[] =>
  lines
    .filter((line) => {
      const maxAge = /;\s*max-age=(-?\d+)/i.exec(line)?.[1];
      const expires = /;\s*expires=([^;]*)/i.exec(line)?.[1];
      return maxAge !== undefined ? Number(maxAge) > 0 : expires !== undefined && Date.parse(expires) > Date.now();
    })
    .map((line) => line.slice(0, line.indexOf("=")));

async function scanCard(browser: Browser): Promise<void> {
  const body = { personIds: [ada], newPasswords: false, withQr: true };
  const { body: made } = await admin.call("POST", `/schools/${school}/login-cards`, { body });
  await browser.open((made as components["schemas"]["MadeLoginCards"]).cards[0]!.url!);
  await browser.submit(await browser.open("/card"), "/card");
}

async function signOnShared(browser: Browser, of: TestApp, params: Record<string, string>) {
  const asked = askFor(service, of, { params });
  const page = await browser.open(asked.address);
  const refused = await browser.submit(page, "/login", { ...logins.ada, password: "wrong", shared: "yes" });
  const back = await passPages(browser, await browser.submit(refused, "/login", { ...logins.ada, shared: "yes" }), {
    ...logins.ada,
  });
  const { body } = await exchange(service, of, { browser, asked, back: new URL(back.url) });
  return body;
}

test("on a shared device no cookie outlives the browser: sign-on, account, card, second factor and logout", async () => {
  const { call } = admin;
  const cards = { enabled: true, grades: null, hours: null, networks: [], secondStep: "NONE", printSecondStep: false };
  expect((await call("PUT", `/schools/${school}/card-settings`, { body: cards })).status).toBe(204);
  const browser = makeBrowser(service.url);
  const { id_token } = await signOnShared(browser, app, { login_hint: logins.ada.username });
  expect(id_token).toBeTruthy();
  const tiles = await browser.open("/?lang=en");
  expect(tiles.html).toContain("Others use this device too");
  const hint = /login_hint=([\w-]+)/.exec(tiles.html)?.[1] ?? "";
  await browser.open(askFor(service, app, { params: { login_hint: hint, prompt: "login" } }).address);
  expect((await browser.open("/account")).status).toBe(200);
  const query = new URLSearchParams({ id_token_hint: id_token!, post_logout_redirect_uri: backUri }).toString();
  const confirm = await browser.open(`/oauth2/sessions/logout?${query}`);
  expect((await browser.submit(confirm, "/confirm", { logout: "yes" })).url).toBe(backUri);

  await browser.open(askFor(service, app).address);
  await scanCard(browser);
  expect((await browser.open("/account")).html).toContain("Ada");
  await browser.submit(await browser.open("/sign-in?again&other"), "/sign-in", { ...logins.ada, shared: "yes" });
  await browser.submit(await browser.open("/account"), "/account/sign-out");

  await browser.submit(await browser.open("/sign-in?other"), "/sign-in", { ...logins.ada, shared: "yes" });
  await setUpTotp(browser, service.clock);
  expect(browser.setCookies().length).toBeGreaterThan(30);
  expect([...new Set(lastingOf(browser.setCookies()))]).toEqual([]);
});

test("the choice of a shared device replaces what the browser kept of its owner", async () => {
  const browser = makeBrowser(service.url);
  const signIn = async (fields: Record<string, string>) =>
    browser.submit(await browser.open("/sign-in?again&other"), "/sign-in", fields);
  await signIn(logins.bo);
  const before = browser.setCookies().length;
  const kept = new Set(lastingOf(browser.setCookies()));
  expect([...kept].sort()).toEqual(["_device", "_last_sign_in"]);
  await signIn({ ...logins.bo, shared: "yes" });
  const after = browser.setCookies().slice(before);
  expect(lastingOf(after)).toEqual([]);
  const replaced = after.map((line) => line.slice(0, line.indexOf("=")));
  expect([...kept].filter((name) => !replaced.includes(name))).toEqual([]);
});
