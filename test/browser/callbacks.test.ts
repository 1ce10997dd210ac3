import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { components } from "../../generated/openapi/admin.ts";
import type { SchoolId } from "../../src/directory/index.ts";
import { makeStaff } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { serve } from "../support/serve.ts";
import { makeTestClock, startService } from "../support/service.ts";
import { setLogin } from "../support/sign-ins.ts";
import { askFor, giveLogin } from "../support/token.ts";
import { useBrowser } from "./support/browser.ts";
import { logIn, press } from "./support/steps.ts";

type Cards = components["schemas"]["MadeLoginCards"];

const { newPage } = useBrowser();
// Browsers judge cookies by the real time.
const service = await startService({ clock: makeTestClock(new Date()) });
const make = makeMakers(service.db);
const schools: [SchoolId, SchoolId] = [await make.school(), await make.school()];
const [school] = schools;

/** The app goes on from its callbacks to another origin of it. */
const second = await serve((_req, res) => {
  res.setHeader("Content-Type", "text/html").end('<!doctype html><link rel="icon" href="data:,">app');
}, "127.0.0.2");
const first = await serve((req, res) => {
  res.writeHead(302, { Location: `${second}${req.url!.replace("?", "/arrived?")}` }).end();
});

const scopes = ["openid" as const, "school" as const];
const [redirectUris, postLogoutRedirectUris] = [[`${first}/callback`], [`${first}/bye`]];
const app = await make.app({ scopes, redirectUris, postLogoutRedirectUris });
for (const each of schools) await make.grant({ app: app.clientId, school: each });

const makeLogin = async (of: [SchoolId, ...SchoolId[]] = [school]) =>
  giveLogin(service.db, await make.person({ schools: of }));

const ask = (params: Record<string, string> = {}): string => askFor(service, app, { scopes, params }).address;
const agree = (page: Page) => press(page, /^Yes/);
const expectArrived = (page: Page, path = "callback") => page.waitForURL(`${second}/${path}/arrived?**`);

async function open(address = ask()): Promise<Page> {
  const page = await newPage({ locale: "en" });
  await page.goto(address);
  return page;
}

test("a login and a consent lead to an app that goes on to another origin", async () => {
  const login = await makeLogin();
  const page = await open();
  await logIn(page, login);
  await agree(page);
  await expectArrived(page);
  await page.goto(ask({ prompt: "login" }));
  await logIn(page, login);
  await expectArrived(page);
});

test("a choice of the school does, and one to cancel", async () => {
  const page = await open();
  await logIn(page, await makeLogin(schools));
  await page
    .getByRole("button", { name: /^School/ })
    .first()
    .click();
  await agree(page);
  await expectArrived(page);
  await page.goto(ask({ prompt: "login" }));
  await press(page, "Cancel");
  await expectArrived(page);
  expect(page.url()).toContain("error=access_denied");
});

test("a new password does", async () => {
  const [personId, username, password] = [await make.person({ school }), "new.one", "first-password"];
  await setLogin(service.db, { personId, username, password, mustChange: true }, { at: service.clock() });
  const page = await open();
  await logIn(page, { username, password });
  await page.locator("#repeated").fill("Eine Wiese am See");
  await page.locator("#password").fill("Eine Wiese am See");
  await page.locator("main form button.primary").click();
  await agree(page);
  await expectArrived(page);
});

async function makeCard(secondStep: "NONE" | "PIN" | "PICTURE"): Promise<Cards["cards"][number]> {
  const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const rules = { enabled: true, grades: null, hours: null, networks: [], printSecondStep: false, secondStep };
  await admin.call("PUT", `/schools/${school}/card-settings`, { body: rules });
  const personId = await make.person({ school });
  await giveLogin(service.db, personId);
  const body = { personIds: [personId], newPasswords: false, withQr: true };
  return ((await admin.call("POST", `/schools/${school}/login-cards`, { body })).body as Cards).cards[0]!;
}

test("a card does", async () => {
  const { url } = await makeCard("NONE");
  const page = await open();
  await page.goto(url!);
  await page.locator("main form button.primary").click();
  await agree(page);
  await expectArrived(page);
});

test.each(["PIN", "PICTURE"] as const)("a card that asks for a %s does, also after a wrong answer", async (step) => {
  const { url, picture, pin } = await makeCard(step);
  const answer = async (right: boolean) => {
    if (step === "PICTURE")
      return page.locator(`button[value=${right ? picture! : picture === "sun" ? "moon" : "sun"}]`).click();
    await page.locator("#answer").fill(right ? pin! : pin === "0000" ? "1111" : "0000");
    await page.locator("main form button.primary").click();
  };
  const page = await open();
  await page.goto(url!);
  await answer(false);
  await page.locator("#problem").waitFor();
  await answer(true);
  await agree(page);
  await expectArrived(page);
});

test("signing out does", async () => {
  const page = await open();
  await logIn(page, await makeLogin());
  await agree(page);
  await expectArrived(page);
  const back = { client_id: app.clientId, post_logout_redirect_uri: `${first}/bye`, state: "s" };
  await page.goto(`${service.url}/oauth2/sessions/logout?${new URLSearchParams(back).toString()}`);
  await press(page, "Yes, sign out");
  await expectArrived(page, "bye");
});
