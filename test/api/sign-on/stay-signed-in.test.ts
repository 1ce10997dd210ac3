import { decodeJwt } from "jose";
import { beforeEach, expect, test, vi } from "vitest";
import type { putSignInSettings } from "../../../src/accounts/index.ts";
import type { PersonId, SchoolId } from "../../../src/directory/index.ts";
import { makeStaff } from "../../support/admin.ts";
import { makeBrowser, type Browser } from "../../support/browser.ts";
import { giveRoleTo } from "../../support/portal.ts";
import { makeRunningClock } from "../../support/service.ts";
import { blockPerson, setLogin, setSignInSettings } from "../../support/sign-ins.ts";
import { askFor, exchange, getUserTokens, giveLogin, signOn, type Login, type TestApp } from "../../support/token.ts";
import { startWorld } from "./world.ts";

// The library reads the time of the machine, the service that of its clock: here both stand still, and move together.
vi.useFakeTimers({ now: new Date("2026-02-03T08:00:00Z"), toFake: ["Date"] });
const world = startWorld({ SESSION_SECONDS: "7200" }, makeRunningClock());
const [hour, day] = [3600, 86_400];

type Person = Login & { personId: PersonId };
type Settings = Partial<Parameters<typeof putSignInSettings>[1]>;

let school: SchoolId;
let app: TestApp;
let teacher: Person;

const addPerson = async (wishes: Partial<Parameters<typeof world.make.person>[0]>): Promise<Person> => {
  const personId = await world.make.person({ school, ...wishes });
  return { personId, ...(await giveLogin(world.service.db, personId)) };
};
const set = (given: Settings, schoolId = school) =>
  setSignInSettings(world.service.db, { ...given, schoolId }, { at: world.service.clock() });
const wait = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);

beforeEach(async () => {
  school = await world.make.school({ name: "Goethe-Gymnasium" });
  app = await world.make.app({ scopes: ["openid", "admin:read"] });
  await world.make.grant({ app: app.clientId, school });
  teacher = await addPerson({ role: "TEACHER" });
});

const stay = (login: Login): Login => ({ ...login, stay: "yes" }) as Login;

async function signIn(login: Login): Promise<Browser> {
  return (await getUserTokens(world.service, app, login)).browser;
}
const isSignedIn = async (browser: Browser): Promise<boolean> =>
  (await browser.open(askFor(world.service, app).address)).url.includes("code=");

/** How long the newest cookie of a name lasts, in days; null if it ends with the browser. */
function daysOf(browser: Browser, name: string): number | null {
  const line = browser.setCookies().findLast((cookie) => cookie.startsWith(`${name}=`))!;
  const expires = /expires=([^;]+)/i.exec(line)?.[1];
  return expires === undefined ? null : (Date.parse(expires) - world.service.clock().getTime()) / (day * 1000);
}

test("the hours of the school end a session however much or little it is used, by their role", async () => {
  await set({ pupilSessionHours: 4, staffSessionHours: 24 });
  const pupil = await addPerson({});
  for (const [login, hours] of [
    [pupil, 4],
    [teacher, 24],
  ] as const) {
    const browser = await signIn(login);
    expect(daysOf(browser, "_session")).toBeNull();
    for (let part = 0; part < 3; part++) {
      expect(await isSignedIn(browser)).toBe(true);
      wait((hours / 4) * hour);
    }
    expect(await isSignedIn(browser)).toBe(true);
    wait((hours / 4) * hour - 1);
    expect(await isSignedIn(browser)).toBe(true);
    wait(1);
    expect(await isSignedIn(browser)).toBe(false);
  }
});

test("a sign-on with a session is counted as one without a password", async () => {
  const { call } = await makeStaff(world.service, "OPERATOR");
  const countOf = async (metric: string) => {
    await world.service.runJob("traffic.flush");
    const { body } = await call("GET", `/figures?metric=${metric}&app=${app.clientId}&step=day`);
    return (body as { points: { count: number }[] }).points.reduce((sum, { count }) => sum + count, 0);
  };
  const { browser } = await getUserTokens(world.service, app, teacher);
  expect([await countOf("signIns"), await countOf("passwordSignIns")]).toEqual([1, 1]);
  wait(60);
  await getUserTokens(world.service, app, teacher, { browser });
  expect([await countOf("signIns"), await countOf("passwordSignIns")]).toEqual([2, 1]);
});

test("a change applies to those who are signed in, at apps, on pages and in the list of sessions", async () => {
  const ends = async () => {
    const { call } = await makeStaff(world.service, "OPERATOR");
    const { body } = await call("GET", `/people/${teacher.personId}/sessions`);
    const of = (body as { kind: string; endsAt: string }[]).filter(({ kind }) => kind === "BROWSER");
    return of.map(({ endsAt }) => (Date.parse(endsAt) - world.service.clock().getTime()) / (hour * 1000));
  };
  await set({ staffSessionHours: 10 });
  const browser = await signIn(teacher);
  wait(3 * hour);
  expect(await ends()).toEqual([7]);
  await set({ staffSessionHours: 4 });
  expect(await ends()).toEqual([1]);
  await set({ staffSessionHours: 3 });
  expect([await isSignedIn(browser), await ends(), (await browser.open("/account")).url]).toEqual([
    false,
    [],
    expect.stringContaining("/sign-in"),
  ]);
  await set({ staffSessionHours: 3 });
  const longer = await signIn(teacher);
  wait(2 * hour);
  await set({ staffSessionHours: 20 });
  expect([await isSignedIn(longer), (await ends())[0]]).toEqual([true, 18]);
  wait(12 * hour);
  await set({ staffSessionHours: null });
  expect(await isSignedIn(longer)).toBe(true);
  wait(2 * hour - 60);
  expect(await isSignedIn(longer)).toBe(true);
  wait(2 * hour);
  expect(await isSignedIn(longer)).toBe(false);
});

test("of several schools the strictest counts, that of the service included", async () => {
  const another = await world.make.school();
  const both = await addPerson({ schools: [school, another], role: "TEACHER" });
  await set({ staffSessionHours: 24, staySignedInDays: 30 });
  const [browser, staying] = [await signIn(both), await signIn(stay(both))];
  expect(daysOf(staying, "_session")).toBeNull();
  wait(2 * hour);
  expect(await isSignedIn(browser)).toBe(false);
  await set({ staffSessionHours: 8, staySignedInDays: 10 }, another);
  const [third, fourth] = [await signIn(both), await signIn(stay(both))];
  expect(daysOf(fourth, "_session")).toBeCloseTo(10, 2);
  wait(8 * hour);
  expect([await isSignedIn(third), await isSignedIn(fourth)]).toEqual([false, true]);
});

test("on a device of their own people stay signed in for days if they choose so, and apps learn when they signed in", async () => {
  await set({ staySignedInDays: 30 });
  const began = world.service.clock().getTime() / 1000;
  const first = await signIn(stay(teacher));
  const second = makeBrowser(world.service.url);
  await second.submit(await second.open("/sign-in"), "/sign-in", stay(teacher));
  for (const browser of [first, second])
    for (const name of ["_session", "_browser"]) expect(daysOf(browser, name)).toBeCloseTo(30, 2);
  wait(29 * day);
  for (const browser of [first, second]) {
    const { id_token } = await getUserTokens(world.service, app, teacher, { browser, params: { max_age: "9999999" } });
    expect(Math.abs(Number(decodeJwt(id_token!)["auth_time"]) - began)).toBeLessThan(60);
    const strict = await browser.open(askFor(world.service, app, { params: { max_age: "3600" } }).address);
    expect(strict.html).toContain("/login");
  }
  wait(day);
  expect([await isSignedIn(first), await isSignedIn(second)]).toEqual([false, false]);
});

test("a choice that the school takes back ends with the usual time, and a shorter one at once", async () => {
  await set({ staySignedInDays: 30 });
  const browser = await signIn(stay(teacher));
  wait(10 * day);
  await set({ staySignedInDays: 11 });
  expect(await isSignedIn(browser)).toBe(true);
  expect(daysOf(browser, "_session")).toBeCloseTo(1, 2);
  await set({ staySignedInDays: 10 });
  expect(await isSignedIn(browser)).toBe(false);
  await set({ staySignedInDays: 30 });
  const [early, late] = [await signIn(stay(teacher)), await signIn(stay(teacher))];
  await set({ staySignedInDays: 0 });
  wait(hour);
  expect(await isSignedIn(early)).toBe(true);
  wait(hour);
  expect([await isSignedIn(early), await isSignedIn(late)]).toEqual([false, false]);
});

test("only those stay whom the school lets, and who chose so at their last sign-in", async () => {
  const [nine, ten] = [await world.make.group({ school, name: "9a" }), await world.make.group({ school, name: "10a" })];
  const [younger, older] = [await addPerson({ groups: [nine] }), await addPerson({ groups: [ten] })];
  const outcomes = async () => {
    const browsers = [];
    for (const login of [teacher, older, younger]) browsers.push(await signIn(stay(login)));
    return browsers.map((browser) => daysOf(browser, "_session") !== null);
  };
  expect(await outcomes()).toEqual([false, false, false]);
  await set({ staySignedInDays: 5 });
  expect(await outcomes()).toEqual([true, false, false]);
  await set({ staySignedInDays: 5, staySignedInFromGrade: 10 });
  expect(await outcomes()).toEqual([true, true, false]);

  const browser = await signIn(teacher);
  expect(daysOf(browser, "_session")).toBeNull();
  const again = (login: Login) => signOn(world.service, app, login, { browser, params: { prompt: "login" } });
  await again(stay(teacher));
  expect([daysOf(browser, "_session"), daysOf(browser, "_browser")]).not.toContain(null);
  await again(teacher);
  expect(daysOf(browser, "_session")).toBeNull();
  wait(2 * hour);
  expect(await isSignedIn(browser)).toBe(false);
});

type Work = { call: Awaited<ReturnType<typeof makeStaff>>["call"]; browser: Browser };

const checked: [string, (work: Work) => Promise<unknown>][] = [
  ["blocked", () => blockPerson(world.service.db, teacher.personId, { at: world.service.clock() })],
  ["who left", ({ call }) => call("POST", `/people/${teacher.personId}/soft-deletion`)],
  [
    "with a new password",
    () => setLogin(world.service.db, { ...teacher, password: "another one 7" }, { at: world.service.clock() }),
  ],
  ["whose school has switched the app off", ({ call }) => call("DELETE", `/schools/${school}/grants/${app.clientId}`)],
  [
    "whose home is now a school that lets nobody stay",
    async ({ call }) =>
      call("POST", `/people/${teacher.personId}/move`, { body: { toSchoolId: await grantedSchool() } }),
  ],
  [
    "whose school has merged into one that lets nobody stay",
    async ({ call }) => call("POST", `/schools/${school}/mergers`, { body: { intoSchoolId: await grantedSchool() } }),
  ],
  [
    "whose session was ended in the list of sessions",
    async ({ call }) => {
      const { body } = await call("GET", `/people/${teacher.personId}/sessions`);
      for (const { id } of body as { id: string }[]) await call("DELETE", `/people/${teacher.personId}/sessions/${id}`);
    },
  ],
  [
    "who signed out",
    ({ browser }) =>
      browser.open("/oauth2/sessions/logout").then((page) => browser.submit(page, "/confirm", { logout: "yes" })),
  ],
];

async function grantedSchool(): Promise<SchoolId> {
  const other = await world.make.school();
  await world.make.grant({ app: app.clientId, school: other });
  return other;
}

test.each(checked)("each sign-on of a session of days is checked: nobody gets in %s", async (_case, change) => {
  await set({ staySignedInDays: 30 });
  const browser = await signIn(stay(teacher));
  wait(3 * day);
  expect(await isSignedIn(browser)).toBe(true);
  await change({ browser, ...(await makeStaff(world.service, "OPERATOR")) });
  expect(await isSignedIn(browser)).toBe(false);
});

test("work of staff asks for a sign-in as often as before, while apps go on", async () => {
  const { service } = world;
  await giveRoleTo(service, teacher.personId, "SECRETARY", { schoolIds: [school] });
  await set({ staffSessionHours: 24, staySignedInDays: 30 });
  const browser = await signIn(stay(teacher));
  const asksAdmin = () => browser.open(askFor(service, app, { scopes: ["openid", "admin:read"] }).address);
  expect((await browser.open("/admin")).url).not.toContain("/sign-in");
  expect((await asksAdmin()).html).not.toContain('name="password"');
  wait(2 * hour);
  expect((await browser.open("/admin")).url).toContain("/sign-in");
  expect((await asksAdmin()).html).toContain('name="password"');
  expect(await isSignedIn(browser)).toBe(true);
  // The same session goes on for the work of staff after a sign-in.
  const asked = await signOn(service, app, stay(teacher), { browser, scopes: ["openid", "admin:read"] });
  expect((await exchange(service, app, asked)).status).toBe(200);
  expect((await browser.open("/admin")).url).not.toContain("/sign-in");
});

test("the form offers what the school of the browser lets, and without a school what any does", async () => {
  const { service } = world;
  await service.db.prisma.schoolSignIn.updateMany({ data: { staySignedInDays: 0 } });
  const open = async (browser = makeBrowser(service.url, { "accept-language": "en" })) => {
    const { html } = await browser.open("/sign-in?again&other");
    const label = /<label for="stay">([^<]*)</.exec(html)?.[1] ?? null;
    return [label, /id="stay-hint">([^.]*)\./.exec(html)?.[1] ?? null, /name="stay"[^>]* checked/.test(html)];
  };
  expect(await open()).toEqual([null, null, false]);
  await set({ staySignedInDays: 14 });
  expect(await open()).toEqual(["Stay signed in on this device", "If your school allows it", false]);
  const browser = makeBrowser(service.url, { "accept-language": "en" });
  await browser.submit(await browser.open("/sign-in"), "/sign-in", teacher);
  const days = "Stay signed in on this device for 14 days";
  expect(await open(browser)).toEqual([days, "For staff", false]);
  await set({ staySignedInDays: 14, staySignedInFromGrade: 10 });
  await browser.submit(await browser.open("/sign-in?again&other"), "/sign-in", stay(teacher));
  expect(await open(browser)).toEqual([days, "For staff and students from grade 10", true]);
  await set({ staySignedInDays: 0 });
  expect(await open(browser)).toEqual([null, null, false]);
});
