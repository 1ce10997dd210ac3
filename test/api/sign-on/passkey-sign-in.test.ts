import { decodeJwt } from "jose";
import { beforeAll, expect, test } from "vitest";
import type { GroupId, PersonId, SchoolId } from "../../../src/directory/index.ts";
import { makeStaff } from "../../support/admin.ts";
import { makeBrowser, type Browser, type Shown } from "../../support/browser.ts";
import { makeMakers } from "../../support/make.ts";
import { makePasskey, optionsOf, useBy } from "../../support/passkey.ts";
import { giveRoleTo } from "../../support/portal.ts";
import { confirmPath, readRecoveryCodes, setUpPath, setUpTotp, totpCode } from "../../support/second-factor.ts";
import { makeTestClock, startService } from "../../support/service.ts";
import { setSignInSettings } from "../../support/sign-ins.ts";
import { askFor, exchange, giveLogin, type Login, type TestApp } from "../../support/token.ts";
import { makeConnectionRow } from "../../support/upstream-rows.ts";
import { makeAuthenticator } from "../../support/authenticator.ts";

const clock = makeTestClock();
const service = await startService({ clock });
const { db } = service;
const make = makeMakers(db);
const offerPath = "/sign-in/passkey";

let school: SchoolId;
let grade8: GroupId;
let app: TestApp;

beforeAll(async () => {
  school = await make.school();
  grade8 = await make.group({ school, name: "8b" });
  app = await make.app();
  await make.grant({ app: app.clientId, school });
});

type Person = Login & { personId: PersonId };

async function makePerson(wishes: Parameters<typeof make.person>[0] = { school, role: "TEACHER" }): Promise<Person> {
  const personId = await make.person(wishes);
  return { personId, ...(await giveLogin(db, personId)) };
}

const makePupil = () => makePerson({ school, groups: [grade8] });
const open = () => makeBrowser(service.url);
const pathOf = ({ url }: Shown): string => new URL(url).pathname;
const isSignedIn = async (browser: Browser): Promise<boolean> => (await browser.once("/account")).status === 200;
const actionsOf = async (personId: PersonId): Promise<string[]> =>
  (await db.prisma.audit.findMany({ where: { personId }, orderBy: { id: "asc" } })).map(({ action }) => action);
/** A sign-in with the password in a browser whose device can have a passkey. */
const signInWith = async (browser: Browser, login: Login, path = "/sign-in", fields: Record<string, string> = {}) =>
  browser.submit(await browser.open(path), "/sign-in", { ...login, passkeys: "yes", ...fields });

async function acceptOffer(browser: Browser, page: Shown, label = "") {
  const authenticator = makeAuthenticator({ origin: service.url, rpId: "localhost" });
  const passkey = JSON.stringify(authenticator.register(optionsOf(page)));
  return { authenticator, shown: await browser.submit(page, offerPath, { passkey, label }) };
}

test("a passkey signs in without a user name, to the tiles and to an app, as two factors", async () => {
  const teacher = await makePerson();
  const authenticator = await makePasskey(service, teacher);
  const browser = open();
  expect(pathOf(await useBy(browser, await browser.open("/sign-in"), authenticator))).toBe("/");
  expect(await isSignedIn(browser)).toBe(true);

  const other = open();
  const asked = askFor(service, app, { params: { acr_values: "urn:schultor:acr:mfa" } });
  const shown = await useBy(other, await other.open(asked.address), authenticator);
  const back = await other.submit(shown, "/consent");
  const { body } = await exchange(service, app, { browser: other, asked, back: new URL(back.url) });
  const { acr, amr, sub } = decodeJwt((body as { id_token: string }).id_token);
  expect({ acr, amr, sub: sub !== undefined }).toEqual({ acr: "urn:schultor:acr:mfa", amr: undefined, sub: true });
  const sessions = await db.prisma.oidcArtifact.findMany({ where: { personId: teacher.personId, kind: "Session" } });
  expect(sessions.map(({ payload }) => (payload as { amr: string[] }).amr)).toContainEqual(["hwk", "user", "mfa"]);
  expect((await actionsOf(teacher.personId)).filter((action) => action === "passkey_used")).toHaveLength(2);
  const [factor] = await db.prisma.secondFactor.findMany({ where: { personId: teacher.personId } });
  expect(factor?.lastUsedAt).toEqual(clock());
});

test("staff who need a second factor need none after a passkey, and may use their roles", async () => {
  const required = await startService({ clock, db, env: { STAFF_SECOND_FACTOR: "required" } });
  const staff = await makePerson();
  await giveRoleTo(service, staff.personId, "SCHOOL_ADMIN", { schoolIds: [school] });
  const authenticator = await makePasskey(required, staff);
  const browser = makeBrowser(required.url);
  const shown = await useBy(browser, await browser.open("/sign-in?return=/admin"), authenticator);
  expect([shown.status, pathOf(shown)]).toEqual([200, `/admin/schools/${school}/today`]);
  // They have just proved it: their second factors are open to them.
  expect(pathOf(await browser.open(setUpPath))).toBe(setUpPath);
});

test("a passkey that is not asked for leaves the password as a way in; one that is asked for does not, nor one of staff", async () => {
  const [free, bound, staff] = [await makePerson(), await makePerson(), await makePerson()];
  await giveRoleTo(service, staff.personId, "SECRETARY", { schoolIds: [school] });
  await makePasskey(service, free);
  await makePasskey(service, bound, { isAsked: true });
  await makePasskey(service, staff);
  const paths = [];
  for (const person of [free, bound, staff]) paths.push(pathOf(await signInWith(open(), person)));
  expect(paths).toEqual(["/", confirmPath, confirmPath]);
});

test("a password due for a change is not asked for, and a shared device stays shared", async () => {
  const teacher = await makePerson();
  const authenticator = await makePasskey(service, teacher);
  await db.prisma.credential.update({ where: { personId: teacher.personId }, data: { mustChange: true } });
  const browser = open();
  const shown = await useBy(browser, await browser.open("/sign-in"), authenticator, { fields: { shared: "yes" } });
  expect(pathOf(shown)).toBe("/");
  const [session] = await db.prisma.oidcArtifact.findMany({
    where: { personId: teacher.personId, kind: "Session" },
    orderBy: { expiresAt: "asc" },
  });
  expect(session?.payload).toMatchObject({ acr: "shared-device" });
});

test("the school says who may: nobody, staff, pupils from a grade", async () => {
  const [teacher, pupil] = [await makePerson(), await makePupil()];
  const keys = [await makePasskey(service, teacher), await makePasskey(service, pupil)];
  const set = (given: { passkeys: boolean; passkeysFromGrade: number | null }) =>
    setSignInSettings(db, { schoolId: school, ...given }, { at: clock() });
  const outcomes = [];
  for (const given of [
    { passkeys: false, passkeysFromGrade: 5 },
    { passkeys: true, passkeysFromGrade: null },
    { passkeys: true, passkeysFromGrade: 9 },
    { passkeys: true, passkeysFromGrade: 8 },
  ]) {
    await set(given);
    const statuses = [];
    for (const key of keys) {
      const browser = open();
      statuses.push((await useBy(browser, await browser.open("/sign-in"), key)).status);
    }
    const offers = [];
    for (const login of [await makePerson(), await makePupil()]) offers.push(pathOf(await signInWith(open(), login)));
    outcomes.push([statuses, offers.map((path) => path === offerPath)]);
  }
  expect(outcomes).toEqual([
    [
      [403, 403],
      [false, false],
    ],
    [
      [200, 403],
      [true, false],
    ],
    [
      [200, 403],
      [true, false],
    ],
    [
      [200, 200],
      [true, true],
    ],
  ]);
  await set({ passkeys: true, passkeysFromGrade: null });
});

test("the login page asks for a passkey unless the school of this browser has switched them off, or uses no passwords", async () => {
  const browser = open();
  await signInWith(browser, await makePerson());
  const asks = async (path = "/sign-in?again") => {
    const { html } = await browser.open(path);
    const [form, script] = [html.includes("data-autofill"), /<script[^>]+passkey/.test(html)];
    expect(script).toBe(form);
    return form;
  };
  const set = (passkeys: boolean) =>
    setSignInSettings(db, { schoolId: school, passkeys, passkeysFromGrade: null }, { at: clock() });
  expect(await asks()).toBe(true);
  await set(false);
  expect([await asks(), await asks("/sign-in?again&other")]).toEqual([false, true]);
  expect((await open().open("/sign-in")).html).toContain("data-autofill");
  await set(true);
  const id = await makeConnectionRow(db, { school, at: clock() });
  await db.prisma.upstreamConnection.update({
    where: { id },
    data: {
      state: "ON",
      issuer: "https://iserv.example",
      clientId: "schultor",
      clientSecret: new Uint8Array(48),
      testedAt: clock(),
    },
  });
  await db.prisma.schoolWayIn.create({ data: { schoolId: school, localPasswords: false } });
  expect([await asks(), await asks("/sign-in?again&other")]).toEqual([false, true]);
  await db.prisma.schoolWayIn.delete({ where: { schoolId: school } });
  await db.prisma.upstreamConnection.delete({ where: { id } });
});

test("the offer comes after the sign-in to an app too, is skipped, and does not come again in this browser for 30 days", async () => {
  const teacher = await makePerson();
  const browser = open();
  const asked = askFor(service, app);
  const login = { ...teacher, passkeys: "yes" };
  const offered = await browser.submit(await browser.open(asked.address), "/login", login);
  expect(pathOf(offered)).toBe(offerPath);
  const later = /<a class="secondary" href="([^"]*)"/.exec(offered.html)![1]!;
  const consent = await browser.open(later);
  expect(new URL((await browser.submit(consent, "/consent")).url).searchParams.has("code")).toBe(true);
  expect(pathOf(await signInWith(browser, await makePerson(), "/sign-in?again"))).toBe("/");
});

test("an accepted offer makes a passkey with a name, shows recovery codes and goes on to the app", async () => {
  const teacher = await makePerson();
  const browser = open();
  const asked = askFor(service, app);
  const login = { ...teacher, passkeys: "yes" };
  const offered = await browser.submit(await browser.open(asked.address), "/login", login);
  const { authenticator, shown } = await acceptOffer(browser, offered);
  expect(readRecoveryCodes(shown)).toHaveLength(10);
  const [factor] = await db.prisma.secondFactor.findMany({ where: { personId: teacher.personId } });
  expect(factor).toMatchObject({ kind: "PASSKEY", isAsked: false });
  expect(factor?.label).toMatch(/^Passkey (vom|from) .*20\d\d$/);
  const next = /<a class="primary" href="([^"]*)"/.exec(shown.html)![1]!;
  const back = await browser.submit(await browser.open(next), "/consent");
  expect(new URL(back.url).searchParams.has("code")).toBe(true);
  const elsewhere = open();
  expect(pathOf(await useBy(elsewhere, await elsewhere.open("/sign-in"), authenticator))).toBe("/");
  // A person with a passkey is not offered another.
  expect(pathOf(await signInWith(open(), teacher))).toBe("/");
});

test("who never wants one is never offered one again, in no browser", async () => {
  const teacher = await makePerson();
  const browser = open();
  const offered = await signInWith(browser, teacher, "/sign-in?return=/account");
  expect(pathOf(await browser.submit(offered, offerPath, { never: "yes" }))).toBe("/account");
  expect(pathOf(await signInWith(open(), teacher))).toBe("/");
});

test("nothing is offered on a shared device, on one that can have no passkey, and before a password is replaced", async () => {
  const teacher = await makePerson();
  expect(pathOf(await signInWith(open(), teacher, "/sign-in", { shared: "yes" }))).toBe("/");
  expect(pathOf(await signInWith(open(), teacher, "/sign-in", { passkeys: "" }))).toBe("/");
  await db.prisma.credential.update({ where: { personId: teacher.personId }, data: { mustChange: true } });
  expect(pathOf(await signInWith(open(), teacher))).toBe("/sign-in");
});

test("a person with an authenticator app is offered a passkey once that is proved", async () => {
  const teacher = await makePerson();
  const first = open();
  await signInWith(first, teacher, "/sign-in", { passkeys: "" });
  const { secret } = await setUpTotp(first, clock);
  clock.forwardSeconds(30);
  const browser = open();
  const asked = await signInWith(browser, teacher);
  expect(pathOf(asked)).toBe(confirmPath);
  const offered = await browser.submit(asked, confirmPath, { code: totpCode(secret, clock()) });
  expect(pathOf(offered)).toBe(offerPath);
  const { shown } = await acceptOffer(browser, offered, "Laptop");
  expect(pathOf(shown)).toBe("/");
  // To an app the password alone is enough, so it opens no way to a passkey.
  const other = open();
  const colleague = await makePerson();
  await signInWith(other, colleague, "/sign-in", { passkeys: "" });
  await setUpTotp(other, clock);
  const page = await open().open(askFor(service, app).address);
  expect(page.html).toContain("/login");
  const third = open();
  const login = { ...colleague, passkeys: "yes" };
  expect(pathOf(await third.submit(await third.open(askFor(service, app).address), "/login", login))).not.toBe(
    offerPath,
  );
});

test("a passkey is renamed and removed on the page of second factors, and no longer signs in", async () => {
  const teacher = await makePerson();
  const authenticator = await makePasskey(service, teacher);
  const browser = open();
  await useBy(browser, await browser.open("/sign-in"), authenticator);
  let page = await browser.open(setUpPath);
  page = await browser.submit(page, "/rename", { label: "Mein Telefon" });
  expect(page.html).toContain("<strong>Mein Telefon</strong>");
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const now = clock().toISOString();
  expect((await call("GET", `/people/${teacher.personId}/data`)).body).toMatchObject({
    secondFactors: [{ what: "PASSKEY Mein Telefon", at: now, lastUsedAt: now }],
  });
  for (const [label, id] of [
    [" ", undefined],
    ["x", "not-an-id"],
  ] as const)
    expect((await browser.submit(page, "/rename", { label, ...(id && { id }) })).html).toContain("Mein Telefon");
  await browser.submit(page, "/remove");
  const other = open();
  const refused = await useBy(other, await other.open("/sign-in"), authenticator);
  // A device that answers unasked would send the page again and again.
  expect([refused.status, refused.html.includes("data-passkey"), refused.html.includes("data-autofill")]).toEqual([
    422,
    true,
    false,
  ]);
});

test("a password from staff removes passkeys that a password alone had made, but none of staff and none that is asked for", async () => {
  const { call } = await makeStaff(service, "OPERATOR");
  const [free, bound, staff] = [await makePupil(), await makePupil(), await makePerson()];
  await giveRoleTo(service, staff.personId, "SECRETARY", { schoolIds: [school] });
  await makePasskey(service, free);
  await makePasskey(service, bound, { isAsked: true });
  await makePasskey(service, staff);
  const kept = [];
  for (const { personId } of [free, bound, staff]) {
    const { status } = await call("POST", `/people/${personId}/login/password`);
    expect(status).toBeLessThan(300);
    kept.push(await db.prisma.secondFactor.count({ where: { personId } }));
  }
  expect(kept).toEqual([0, 1, 1]);
  expect(await db.prisma.recoveryCode.count({ where: { personId: free.personId } })).toBe(0);
  expect(await actionsOf(free.personId)).toContain("second_factors_removed");
});

test("staff of the home school remove a lost passkey; the password goes on", async () => {
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const teacher = await makePerson();
  const authenticator = await makePasskey(service, teacher, { isAsked: true });
  expect((await call("DELETE", `/people/${teacher.personId}/second-factors`)).status).toBeLessThan(300);
  const browser = open();
  expect((await useBy(browser, await browser.open("/sign-in"), authenticator)).status).toBe(422);
  expect(pathOf(await signInWith(open(), teacher, "/sign-in", { passkeys: "" }))).toBe("/");
});
