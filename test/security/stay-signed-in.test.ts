import { expect, test } from "vitest";
import { makeStaff } from "../support/admin.ts";
import { makeBrowser, type Browser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { setSignInSettings } from "../support/sign-ins.ts";
import { giveLogin, type Login } from "../support/token.ts";

const service = await startService();
const make = makeMakers(service.db);
const school = await make.school();
const group = await make.group({ school, name: "10a" });
const settings = { schoolId: school, staySignedInDays: 30, staySignedInFromGrade: 5 };
await setSignInSettings(service.db, settings, { at: service.clock() });

async function addPupil() {
  const personId = await make.person({ school, groups: [group] });
  return { personId, ...(await giveLogin(service.db, personId)) };
}
const signIn = async (browser: Browser, login: Login, ticks: Record<string, string> = {}): Promise<Browser> => {
  await browser.submit(await browser.open("/sign-in?again&other"), "/sign-in", { ...login, ...ticks });
  return browser;
};
const open = () => makeBrowser(service.url);

/** Whether the cookies of the newest session outlive the browser. */
const outlive = (browser: Browser): boolean[] =>
  ["_session", "_browser"].map((name) =>
    /expires=/i.test(browser.setCookies().findLast((line) => line.startsWith(`${name}=`))!),
  );

async function describeSession(personId: string) {
  const { rows } = await service.db.pool.query<{ acr: string; hours: number }>(
    `SELECT payload->>'acr' AS acr, round(extract(epoch FROM expires_at - $2) / 3600)::int AS hours
     FROM oidc_artifact WHERE kind = 'Session' AND person_id = $1 ORDER BY payload->>'startedAt' DESC, expires_at`,
    [personId, service.clock()],
  );
  return rows[0];
}

test("a device that is said to be shared and one's own at once is shared: nothing outlives the browser or the hour", async () => {
  const pupil = await addPupil();
  const browser = await signIn(open(), pupil, { stay: "yes", shared: "yes" });
  expect([outlive(browser), await describeSession(pupil.personId)]).toEqual([
    [false, false],
    { acr: "shared-device", hours: 1 },
  ]);
  expect((await browser.open("/sign-in?again")).html).not.toMatch(/name="stay"[^>]* checked/);
});

test("the next person on the device of somebody who stayed does not stay without choosing so, and ends their session", async () => {
  const [pupil, next] = [await addPupil(), await addPupil()];
  const browser = await signIn(open(), pupil, { stay: "yes" });
  expect([outlive(browser), await describeSession(pupil.personId)]).toEqual([
    [true, true],
    { acr: "own-device", hours: 720 },
  ]);
  await signIn(browser, next);
  expect(outlive(browser)).toEqual([false, false]);
  expect([await describeSession(pupil.personId), await describeSession(next.personId)]).toEqual([
    undefined,
    { acr: "device", hours: 10 },
  ]);
});

test("a card that somebody found opens nothing that lasts for days, not even where its owner stays", async () => {
  const pupil = await addPupil();
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const cards = { enabled: true, grades: null, hours: null, networks: [], secondStep: "NONE", printSecondStep: false };
  expect((await call("PUT", `/schools/${school}/card-settings`, { body: cards })).status).toBe(204);
  const wish = { personIds: [pupil.personId], newPasswords: false, withQr: true };
  const made = await call("POST", `/schools/${school}/login-cards`, { body: wish });
  const [card] = (made.body as { cards: { url: string }[] }).cards;
  const browser = await signIn(open(), pupil, { stay: "yes" });
  await browser.submit(await browser.open(card!.url), "/card");
  expect([outlive(browser), await describeSession(pupil.personId)]).toEqual([
    [false, false],
    { acr: "device", hours: 10 },
  ]);
});

test("the session cookie of days alone opens nothing in another browser", async () => {
  const browser = await signIn(open(), await addPupil(), { stay: "yes" });
  const stolen = browser.cookies().filter(({ name }) => /^_session(\.sig)?$/.test(name));
  expect(stolen).toHaveLength(2);
  const cookie = stolen.map(({ name, value }) => `${name}=${value}`).join("; ");
  const response = await fetch(`${service.url}/account`, { headers: { cookie }, redirect: "manual" });
  expect(response.headers.get("location")).toContain("/sign-in");
});
