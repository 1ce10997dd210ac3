import pg from "pg";
import { beforeAll, expect, test, vi } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import { withTransaction } from "../../../src/platform/database/db.ts";
import { makeStaff } from "../../support/admin.ts";
import { type Browser, makeBrowser, type Shown } from "../../support/browser.ts";
import { makeClassroom, rabbitCode, signInByList } from "../../support/class-list.ts";
import { makePasskey, useBy } from "../../support/passkey.ts";
import { askFor, exchange, getUserTokens, giveLogin, type TestApp } from "../../support/token.ts";
import { pressLogin, startUpstreamWorld } from "./upstream-world.ts";

const world = startUpstreamWorld();
let app: TestApp;
let cardUrl: string;

beforeAll(async () => {
  const { service, login, pupil, school } = world;
  app = await world.app();
  await getUserTokens(service, app, login);
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const settings = { grades: null, hours: null, networks: [], secondStep: "NONE", printSecondStep: false };
  await call("PUT", `/schools/${school}/card-settings`, { body: { ...settings, enabled: true } });
  const body = { personIds: [pupil], newPasswords: false, withQr: true };
  const made = await call("POST", `/schools/${school}/login-cards`, { body });
  cardUrl = (made.body as components["schemas"]["MadeLoginCards"]).cards[0]!.url!;
});

async function record(run: () => Promise<unknown>): Promise<pg.QueryConfig[]> {
  const query = vi.spyOn(pg.Client.prototype, "query");
  try {
    await run();
    return query.mock.calls.map(([made]: unknown[]) => (typeof made === "string" ? { text: made } : made)) as never;
  } finally {
    query.mockRestore();
  }
}

/** A sign-on to an app that the person has used before, from the authorization to the tokens. */
async function signOn(browser: Browser, answer: (page: Shown) => Promise<Shown>): Promise<void> {
  const asked = askFor(world.service, app);
  const back = new URL((await answer(await browser.open(asked.address))).url);
  const { status } = await exchange(world.service, app, { browser, asked, back });
  expect(status).toBe(200);
}

const nameOf = ({ name, text }: pg.QueryConfig): string =>
  name?.replace(/\.[0-9a-f]{16}$/, "") ?? `not prepared: ${text}`;

const readStatements = async (...given: Parameters<typeof signOn>): Promise<string[]> =>
  (await record(() => signOn(...given))).map(nameOf);

/** The statements that wait for the disk. */
const waitingOf = (made: pg.QueryConfig[]): string[] =>
  made
    .filter(({ text }) => /INSERT INTO|UPDATE [a-z_]+ |DELETE FROM/.test(text) && !text.includes("synchronous_commit"))
    .map(nameOf);

test("of a sign-on with a password, a card or a session only the exchange waits for the disk, and a sign-out waits", async () => {
  const { service, login } = world;
  const [browser, another] = [makeBrowser(service.url), makeBrowser(service.url)];
  const withPassword = () => signOn(browser, (page) => browser.submit(page, "/login", login));
  const withCard = () => signOn(another, async () => another.submit(await another.open(cardUrl), "/card"));
  const again = () => signOn(browser, (page) => Promise.resolve(page));
  for (const run of [withPassword, withCard, again])
    expect(waitingOf(await record(run))).toEqual(["sign-on.useTokens"]);
  const signOut = async () => {
    const shown = await browser.open(`${service.url}/oauth2/sessions/logout`);
    await browser.submit(shown, "/logout/confirm");
  };
  expect(waitingOf(await record(signOut))).toEqual(["sign-on.write"]);
});

test("a sign-on with a session takes four statements: one reads and one writes, at the authorization and at the exchange", async () => {
  const { browser } = await getUserTokens(world.service, app, world.login);
  expect(await readStatements(browser, (page) => Promise.resolve(page))).toEqual([
    "sign-on.findSessions",
    "sign-on.write",
    "sign-on.findTokensWithSubject",
    "sign-on.useTokens",
  ]);
});

test("a sign-on with a password takes 12 statements in a new browser", async () => {
  const browser = makeBrowser(world.service.url);
  expect(await readStatements(browser, (page) => browser.submit(page, "/login", world.login))).toEqual([
    "access.findApp",
    "sign-on.openInteraction.1",
    "sign-on.findInteractions",
    "sign-on.findAnyStay",
    "sign-on.findInteractions",
    "find-credential",
    "sign-in-limits-take.1",
    "sign-in-succeed.1",
    "sign-on.findAnswers",
    "sign-on.write",
    "sign-on.findTokensWithSubject",
    "sign-on.useTokens",
  ]);
});

test("a sign-on with a card takes 12 statements in a new browser", async () => {
  const browser = makeBrowser(world.service.url);
  const scan = async () => browser.submit(await browser.open(cardUrl), "/card");
  expect(await readStatements(browser, scan)).toEqual([
    "access.findApp",
    "sign-on.openInteraction.1",
    "sign-on.findInteractions",
    "sign-on.findAnyStay",
    "sign-in-card-find.0",
    "sign-in-card-find.2",
    "sign-in-card-use.1",
    "sign-on.findInteractions",
    "sign-on.findAnswers",
    "sign-on.write",
    "sign-on.findTokensWithSubject",
    "sign-on.useTokens",
  ]);
});

test("a sign-on with a passkey takes 11 statements in a new browser: one finds it, and one records its use", async () => {
  const { service, make, school } = world;
  const personId = await make.person({ school, role: "TEACHER" });
  const login = await giveLogin(service.db, personId);
  await getUserTokens(service, app, login);
  const authenticator = await makePasskey(service, login);
  const browser = makeBrowser(service.url);
  expect(await readStatements(browser, (page) => useBy(browser, page, authenticator))).toEqual([
    "access.findApp",
    "sign-on.openInteraction.1",
    "sign-on.findInteractions",
    "sign-on.findAnyStay",
    "sign-on.findInteractions",
    "sign-in-passkey-find.2",
    "sign-in-passkey-use.1",
    "sign-on.findAnswers",
    "sign-on.write",
    "sign-on.findTokensWithSubject",
    "sign-on.useTokens",
  ]);
});

test("a sign-on from a class list takes 15 statements on the device of the class", async () => {
  const { service } = world;
  const room = await makeClassroom(service);
  await room.make.grant({ app: app.clientId, school: room.school });
  const { login } = await room.makeReadyPupil("Ada");
  await getUserTokens(service, app, login);
  const device = await room.openDevice();
  expect(await readStatements(device, () => signInByList(device, "Ada M."))).toEqual([
    "access.findApp",
    "sign-on.openInteraction.1",
    "sign-on.findInteractions",
    "sign-on.findSignInOfSchool",
    "upstream.listWaysIn",
    "sign-in-class-list",
    "sign-in-class-list",
    "sign-in-class-list",
    "sign-in-card-of-person.1",
    "sign-in-class-list-use",
    "sign-on.findInteractions",
    "sign-on.findAnswers",
    "sign-on.write",
    "sign-on.findTokensWithSubject",
    "sign-on.useTokens",
  ]);
});

test("of tries with pictures only a wrong one waits for the disk", async () => {
  const { service } = world;
  const room = await makeClassroom(service);
  await room.makeReadyPupil("Ada");
  const readCommit = async (pictures: string[]) => {
    const device = await room.openDevice();
    const made = await record(() => signInByList(device, "Ada M.", pictures));
    const { text, values } = made.find((one) => nameOf(one) === "sign-in-class-list-use")!;
    return withTransaction(service.db, async (tx) => {
      await tx.query("DELETE FROM audit WHERE action = 'class_list_used'; SET LOCAL synchronous_commit = on");
      const { rows: tries } = await tx.query(text, values);
      const { rows: settings } = await tx.query("SHOW synchronous_commit");
      return [tries[0], settings[0]];
    });
  };
  expect(await readCommit(rabbitCode)).toMatchObject([{ wrongTries: 0 }, { synchronous_commit: "off" }]);
  expect(await readCommit(["key", "cake", "key"])).toMatchObject([{ wrongTries: 2 }, { synchronous_commit: "on" }]);
});

test("a sign-on with the school's own login takes 16 statements", async () => {
  const connected = await world.connect();
  await world.makePupil(connected);
  await world.make.grant({ app: app.clientId, school: connected.school });
  const signOnAnew = async () => {
    const browser = world.openBrowser();
    await browser.open(`/s/${connected.linkName}`);
    return readStatements(browser, async (page) => {
      const shown = await pressLogin(browser, page, connected);
      return shown.html.includes("/consent") ? browser.submit(shown, "/consent") : shown;
    });
  };
  await signOnAnew();
  expect(await signOnAnew()).toEqual([
    "access.findApp",
    "sign-on.openInteraction.1",
    "sign-on.findInteractions",
    "sign-on.findSignInOfSchool",
    "upstream.listWaysIn",
    "sign-on.findInteractions",
    "upstream.findConnection",
    "upstream.openRoundTrip.1",
    "upstream.takeRoundTrip.1",
    "upstream.findLinked",
    "upstream.recordSignIn",
    "sign-on.findInteractions",
    "sign-on.findAnswers",
    "sign-on.write",
    "sign-on.findTokensWithSubject",
    "sign-on.useTokens",
  ]);
});
