import { decodeJwt } from "jose";
import { beforeEach, expect, test } from "vitest";
import type { components } from "../../generated/openapi/admin.ts";
import { changeDirectory, type CalledUri } from "../../src/access/index.ts";
import { movePerson, type PersonId } from "../../src/directory/index.ts";
import { makeStaff } from "../support/admin.ts";
import { makeBrowser, type Browser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import {
  askFor,
  exchange,
  getUserTokens,
  giveLogin,
  passPages,
  postToken,
  type Login,
  type TestApp,
  type TokenBody,
} from "../support/token.ts";

type Schemas = components["schemas"];

const service = await startService();
const { db } = service;
const make = makeMakers(db);
const [school, other] = [await make.school(), await make.school()];
const group = await make.group({ school });
const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const cards = `/schools/${school}/login-cards`;
const settings = { enabled: true, grades: null, hours: null, networks: [], secondStep: "NONE", printSecondStep: false };
const setEnabled = (enabled: boolean) =>
  call("PUT", `/schools/${school}/card-settings`, { body: { ...settings, enabled } });

const scopes = ["openid", "offline_access"] as const;
let pupil: PersonId;
let login: Login;
let app: TestApp;
let card: Schemas["MadeLoginCard"];

async function makeCard(): Promise<Schemas["MadeLoginCard"]> {
  const sent = await call("POST", cards, { body: { personIds: [pupil], newPasswords: false, withQr: true } });
  return (sent.body as Schemas["MadeLoginCards"]).cards[0]!;
}

beforeEach(async () => {
  expect((await setEnabled(true)).status).toBe(204);
  pupil = await make.person({ schools: [school, other], groups: [group] });
  login = await giveLogin(db, pupil);
  app = await make.app({ backchannelLogoutUri: "https://app.example/logout" as CalledUri });
  await make.grant({ app: app.clientId, school: other });
  card = await makeCard();
});

const scan = async (browser: Browser) => browser.submit(await browser.open(card.url!), "/card");

/** A browser that the card signed in, and the tokens of an app that it was used for. */
async function signInByCard(): Promise<TokenBody & { browser: Browser }> {
  const browser = makeBrowser(service.url);
  await scan(browser);
  return getUserTokens(service, app, login, { scopes, browser, params: { acr_values: "any" } });
}

/** The same for an app that waited for the card. */
async function signOnByCard(): Promise<TokenBody & { browser: Browser }> {
  const browser = makeBrowser(service.url);
  const asked = askFor(service, app, { scopes });
  await browser.open(asked.address);
  const back = await passPages(browser, await scan(browser), login);
  const { body } = await exchange(service, app, { browser, asked, back: new URL(back.url) });
  return { ...body, browser };
}

async function attack({ browser, access_token: token, refresh_token: refresh }: TokenBody & { browser: Browser }) {
  const headers = { authorization: `Bearer ${token}` };
  return {
    tiles: (await browser.open("/")).html.includes("/oauth2/sessions/logout"),
    code: new URL((await browser.open(askFor(service, app, { scopes }).address)).url).searchParams.has("code"),
    userinfo: (await fetch(`${service.url}/oauth2/userinfo`, { headers })).status,
    refresh: (await postToken(service, app, { grant_type: "refresh_token", refresh_token: refresh! })).status,
  };
}

const everything = { tiles: true, code: true, userinfo: 200, refresh: 200 };
const nothing = { tiles: false, code: false, userinfo: 401, refresh: 400 };
const endSignIns = () => service.runJob("sign-on.endSignIns");
const revoke = async () => call("POST", `${cards}/revocation`, { body: { groupId: group } });

test.each([
  ["revoked", () => call("DELETE", `${cards}/${card.cardId!}`)],
  ["revoked with those of its class", revoke],
  ["replaced by a new one", makeCard],
  ["switched off with all cards of the school", () => setEnabled(false)],
  [
    "lost with the person's place at the school",
    () => changeDirectory(db, { at: service.clock() }, (it) => movePerson(it, { personId: pupil, to: other })),
  ],
])("what a card opened ends when it is %s, what a password opened does not", async (_how, end) => {
  const typed = await getUserTokens(service, app, login, { scopes });
  const opened = [await signInByCard(), await signOnByCard()];
  expect(await Promise.all(opened.map(attack))).toEqual(opened.map(() => everything));
  await end();
  expect(await Promise.all(opened.map(attack))).toEqual(opened.map(() => nothing));
  await endSignIns();
  const told = await db.prisma.logoutNotice.findMany({ where: { personId: pupil }, select: { clientId: true } });
  expect(told).toEqual(opened.map(() => ({ clientId: app.clientId })));
  expect(await attack(typed)).toMatchObject({ userinfo: 200, tiles: true, code: true });
});

test("offline access that a card gave ends with it, when the session has long ended", async () => {
  const opened = await signInByCard();
  expect(decodeJwt(opened.id_token!)["acr"]).toBe("urn:schultor:acr:card");
  await db.prisma.oidcArtifact.deleteMany({ where: { personId: pupil, kind: "Session" } });
  expect(await attack(opened)).toMatchObject({ tiles: false, refresh: 200 });
  const { refresh_token: next } = await signOnByCard();
  const again = await postToken(service, app, { grant_type: "refresh_token", refresh_token: next! });
  await revoke();
  const late = await postToken(service, app, { grant_type: "refresh_token", refresh_token: again.body.refresh_token! });
  expect(late.status).toBe(400);
});

test("a sign-in that is under way when its card is revoked opens nothing", async () => {
  const browser = makeBrowser(service.url);
  await browser.open(askFor(service, app, { scopes }).address);
  const consent = await scan(browser);
  expect(consent.html).toContain("/consent");
  await revoke();
  expect((await browser.submit(consent, "/consent")).url).not.toContain("code=");
  expect((await browser.open("/")).html).not.toContain("/oauth2/sessions/logout");
});
