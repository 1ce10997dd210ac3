import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import type { PersonId } from "../../../src/directory/index.ts";
import { withPrismaTransaction } from "../../../src/platform/database/db.ts";
import { giveRole } from "../../../src/staff/index.ts";
import { makeAdminClient, makeStaff, refusalOf } from "../../support/admin.ts";
import { makeBrowser, type Browser } from "../../support/browser.ts";
import { makeMakers } from "../../support/make.ts";
import { confirmPath, setUpTotp, totpCode } from "../../support/second-factor.ts";
import { makeTestClock, startService, type TestService } from "../../support/service.ts";
import { askFor, exchange, getUserTokens, giveLogin, postToken, signOn, type Login } from "../../support/token.ts";
import { testDatabase } from "../../support/database.ts";

const clock = makeTestClock();
const db = await testDatabase();
const offered = await startService({ clock, db });
const required = await startService({ clock, db, env: { STAFF_SECOND_FACTOR: "required" } });
const make = makeMakers(db);
const school = await make.school();
const scopes = ["openid", "admin:read", "offline_access"] as const;
const app = await make.app({ scopes: ["openid", "offline_access", "admin:read", "admin:write"] });
await make.grant({ app: app.clientId, school });

async function makeAdmin(): Promise<{ personId: PersonId; login: Login }> {
  const personId = await make.person({ school, role: "TEACHER" });
  await withPrismaTransaction(db, (tx) =>
    giveRole(
      tx,
      { role: "SCHOOL_ADMIN", holder: { personId }, schoolIds: [school] },
      { giver: null, origin: { at: clock() } },
    ),
  );
  return { personId, login: await giveLogin(db, personId) };
}

async function signIn(service: TestService, login: Login): Promise<Browser> {
  const browser = makeBrowser(service.url);
  await browser.submit(await browser.open("/sign-in"), "/sign-in", login);
  return browser;
}

async function enrol(service: TestService, login: Login) {
  const browser = await signIn(service, login);
  const { secret } = await setUpTotp(browser, clock);
  clock.forwardSeconds(30);
  return { browser, next: () => totpCode(secret, clock()) };
}

const me = (service: TestService, token: string) => makeAdminClient(service, token)("GET", "/me");
const forbidden = [403, "insufficient_scope"];

test("who has a second factor is asked for it when an app asks for a scope of the admin API, and only then", async () => {
  const { login } = await makeAdmin();
  const { next } = await enrol(offered, login);
  const plain = await getUserTokens(offered, app, login, { scopes: ["openid"] });
  expect(decodeJwt(plain.id_token!)).not.toHaveProperty("amr");

  const { browser } = plain;
  const asked = askFor(offered, app, { scopes });
  const page = await browser.open(asked.address);
  expect(page.html).toMatch(/action="\/interaction\/[^"]+\/second-factor"/);
  const wrong = await browser.submit(page, "/second-factor", { code: "000000" });
  expect(wrong.status).toBe(422);
  const consent = await browser.submit(wrong, "/second-factor", { code: next() });
  const back = new URL((await browser.submit(consent, "/consent")).url);
  const { body } = await exchange(offered, app, { browser, asked, back });
  expect(decodeJwt(body.id_token!)).toMatchObject({ amr: ["pwd", "otp", "mfa"] });
  expect((await me(offered, body.access_token)).status).toBe(200);
  expect((await me(required, body.access_token)).status).toBe(200);

  const { body: refreshed } = await postToken(offered, app, {
    grant_type: "refresh_token",
    refresh_token: body.refresh_token!,
  });
  expect(decodeJwt(refreshed.id_token!)).toMatchObject({ amr: ["pwd", "otp", "mfa"] });
  expect((await me(required, refreshed.access_token)).status).toBe(200);
});

test("a session made with the second factor at the platform is enough", async () => {
  const { login } = await makeAdmin();
  const { next } = await enrol(offered, login);
  const browser = makeBrowser(offered.url);
  const asked = await browser.submit(await browser.open("/sign-in"), "/sign-in", login);
  await browser.submit(asked, confirmPath, { code: next() });
  const tokens = await getUserTokens(offered, app, login, { scopes, browser });
  expect((await me(offered, tokens.access_token)).status).toBe(200);
});

test("no page may be shown: the app is told that one is needed", async () => {
  const { login } = await makeAdmin();
  await enrol(offered, login);
  const { browser } = await getUserTokens(offered, app, login, { scopes: ["openid"] });
  const { back } = await signOn(offered, app, login, { scopes, browser, params: { prompt: "none" } });
  expect(back.searchParams.get("error")).toBe("interaction_required");
  expect(back.searchParams.get("code")).toBeNull();
});

test("what was issued before the second factor was set up is of no use for the admin API, nor exchanged or renewed", async () => {
  const { login } = await makeAdmin();
  const tokens = await getUserTokens(offered, app, login, { scopes });
  const waiting = await signOn(offered, app, login, { scopes, browser: tokens.browser });
  expect(waiting.back.searchParams.get("code")).not.toBeNull();
  expect((await me(offered, tokens.access_token)).status).toBe(200);
  await enrol(offered, login);

  expect(refusalOf(await me(offered, tokens.access_token))).toEqual(forbidden);
  expect((await exchange(offered, app, waiting)).body.error).toBe("invalid_grant");
  const renewed = await postToken(offered, app, { grant_type: "refresh_token", refresh_token: tokens.refresh_token! });
  expect(renewed.body.error).toBe("invalid_grant");
});

test("required: who has none sets one up and comes back; a token without one is refused", async () => {
  const { login } = await makeAdmin();
  const tokens = await getUserTokens(offered, app, login, { scopes });
  expect(refusalOf(await me(required, tokens.access_token))).toEqual(forbidden);

  const browser = await signIn(required, login);
  const asked = askFor(required, app, { scopes });
  const page = await browser.open(asked.address);
  const [, setUp] = /href="(\/sign-in\/second-factor\?return=[^"]+)"/.exec(page.html)!;
  const again = await browser.submit(page, "/second-factor");
  expect(again.html).toContain(setUp);
  const next = new URL(setUp!, required.url).searchParams.get("return")!;
  const { shown } = await setUpTotp(browser, clock, { next });
  expect(shown.html).toContain(`href="${next}"`);
  const consented = await browser.submit(await browser.open(next), "/second-factor");
  const back = new URL(consented.url);
  expect(back.searchParams.get("code")).not.toBeNull();
  const { body } = await exchange(required, app, { browser, asked, back });
  expect((await me(required, body.access_token)).status).toBe(200);
});

test("required: an app that works as itself needs none", async () => {
  const { call } = await makeStaff(required, "OPERATOR");
  expect((await call("GET", "/me")).status).toBe(200);
});
