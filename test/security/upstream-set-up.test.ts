import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { operationIds } from "../../src/admin/handlers.ts";
import { allowSetUp } from "../../src/admin/rights.ts";
import { getReachedConnection } from "../../src/admin/upstream/connection-record.ts";
import { everything } from "../../src/staff/index.ts";
import type { SetUpCaller } from "../../src/admin/index.ts";
import type { Browser, Shown } from "../support/browser.ts";
import { makeStaff, type AdminClient } from "../support/admin.ts";
import { signInThere } from "../support/upstream-browser.ts";
import { clientId, clientSecret, startUpstreamProvider } from "../support/upstream-provider.ts";
import { startAttackWorld, type AttackedSchool } from "./upstream-world.ts";

// Whoever gets hold of a set-up link, and an IT contact who wants more than it allows.
const world = startAttackWorld();

type SetUp = { school: AttackedSchool; admin: AdminClient; link: string };

async function makeSetUp(): Promise<SetUp> {
  const school = await world.connect();
  const admin = (await makeStaff(world.service, "SCHOOL_ADMIN", { schoolIds: [school.school] })).call;
  return makeLink({ school, admin });
}

async function makeLink({ school, admin }: Omit<SetUp, "link">): Promise<SetUp> {
  const made = await admin("POST", `/upstream-connections/${school.connectionId}/set-up-links`, { body: { days: 7 } });
  return { school, admin, link: new URL((made.body as { url: string }).url).pathname };
}

async function open({ link }: SetUp, browser: Browser = world.newBrowser()) {
  const shown = await browser.submit(await browser.open(link), "/set-up");
  return { browser, shown, address: new URL(shown.url).pathname.replace(/\/[\w-]+$/, "") };
}

const read = async ({ admin, school }: SetUp) =>
  (await admin("GET", `/upstream-connections/${school.connectionId}`)).body as Record<string, unknown>;
const found = ({ status, html }: Shown) => [status, html.includes("does not lead anywhere") || status === 404];

test("a set-up link that a mail scanner follows is not used up, and opens in one browser only", async () => {
  const setUp = await makeSetUp();
  const scanner = world.newBrowser();
  for (const method of ["GET", "HEAD"]) await scanner.once(setUp.link, { method });
  const seen = await scanner.open(setUp.link);
  expect(seen.html).not.toContain(setUp.school.connectionId);
  const posted = await scanner.once("/set-up", { method: "POST", body: new URLSearchParams() });
  expect(posted.status).toBe(403);
  const contact = await open(setUp);
  expect(contact.shown.status).toBe(200);
  const thief = await open(setUp);
  expect(found(thief.shown)).toEqual([404, true]);
  for (const step of ["", "/start", "/provider", "/values", "/check", "/result", "/switch-on", "/sign-in"])
    expect((await thief.browser.open(`${contact.address}${step}`)).status, step).toBe(404);
  // Without a cookie, or with an empty one, nobody is that browser.
  const bare = await fetch(`${world.service.url}${contact.address}/start`, { headers: { cookie: "_sign_in=" } });
  expect(bare.status).toBe(404);
  expect((await contact.browser.open(`${contact.address}/start`)).status).toBe(200);
});

test("a contact reaches their own connection alone, and what they may not change stays as it is", async () => {
  const [own, other] = [await makeSetUp(), await makeSetUp()];
  const [contact, stranger] = [await open(own), await open(other)];
  for (const step of ["start", "values", "check", "result", "switch-on", "sign-in"])
    expect((await contact.browser.open(`${stranger.address}/${step}`)).status, step).toBe(404);
  const before = await read(other);
  const values = await contact.browser.open(`${contact.address}/values`);
  const typed = {
    issuer: own.school.provider.issuer,
    clientId: "another-client",
    scopes: "openid profile",
    subjectClaim: "sub",
    authMethod: "client_secret_basic",
    trustedForSecondFactor: "on",
    createsGuests: "on",
    name: "Renamed",
    connectionId: other.school.connectionId,
    schoolId: other.school.school,
    setUpLinkId: stranger.address.split("/").at(-1)!,
    state: "ON",
  };
  await contact.browser.submit(values, "/values", typed);
  expect(await read(own)).toMatchObject({
    clientId: "another-client",
    trustedForSecondFactor: false,
    createsGuests: false,
    name: "IServ",
  });
  expect(await read(other)).toEqual(before);
  const form = new URLSearchParams({ csrf: "made-up", issuer: "https://evil.example" });
  expect((await contact.browser.once(`${stranger.address}/values`, { method: "POST", body: form })).status).toBe(403);
});

test("a contact does not reach another connection of the same school, and a link that was closed ends a test on its way", async () => {
  const own = await makeSetUp();
  const { school } = own.school;
  const other = await world.connect({ schoolId: school, clientId: "of-the-other" });
  const caller = { setUp: { connectionId: own.school.connectionId } as SetUpCaller };
  const reach = { ...everything, all: false, schoolIds: new Set([school]) };
  const { db } = world.service;
  const asked = ({ connectionId }: AttackedSchool) => getReachedConnection(db, { connectionId, reach, caller });
  expect((await asked(own.school)).id).toBe(own.school.connectionId);
  await expect(asked(other)).rejects.toMatchObject({ kind: "not_found" });
  const { browser, address } = await open(own);
  signInThere(own.school.provider, { import_id: "1" });
  world.service.clock.set(new Date());
  const params = await own.school.provider.visit(new URL((await browser.open(`${address}/sign-in`)).url));
  const id = address.split("/").at(-1)!;
  await own.admin("DELETE", `/upstream-connections/${own.school.connectionId}/set-up-links/${id}`);
  expect((await world.comeBack(browser, own.school.connectionId, params)).status).toBe(404);
  expect(await db.prisma.upstreamSetUpLink.findUniqueOrThrow({ where: { id } })).toMatchObject({ tested: null });
});

test("whoever has a set-up link and a provider of their own becomes nobody but a pupil until the school confirms it", async () => {
  const setUp = await makeSetUp();
  const { school, admin } = setUp;
  const evil = { ...school, provider: await startUpstreamProvider() };
  evil.provider.redirectUris.push(...school.provider.redirectUris);
  await world.make.person({ school: school.school, role: "TEACHER", sourceSystemIdentifier: "2" });
  const [pupil, aide] = [await world.makePerson(school, "1"), await world.makePerson(school, "3")];
  await world.giveStaffRole(aide, "SCHOOL_ADMIN", [school.school]);
  expect(await world.outcome(school, { import_id: "2" }, "teacher")).toBe("signed in");
  const { browser, address } = await open(setUp);
  const values = {
    issuer: evil.provider.issuer,
    clientId,
    secret: clientSecret,
    scopes: "openid profile",
    subjectClaim: "sub",
    authMethod: "client_secret_basic",
    confirmedForStaff: "on",
  };
  await browser.submit(await browser.open(`${address}/values`), "/values", values);
  signInThere(evil.provider, { import_id: "1" });
  world.service.clock.set(new Date());
  const params = await evil.provider.visit(new URL((await browser.open(`${address}/sign-in`)).url));
  expect((await world.comeBack(browser, school.connectionId, params)).url).toContain(`${address}/result`);
  await browser.submit(await browser.open(`${address}/switch-on`), "/switch-on", { for: "all" });
  expect(await read(setUp)).toMatchObject({ state: "ON", confirmedForStaff: false });
  // Pupils need nobody's confirmation.
  expect(await world.outcome(evil, { import_id: "1" }, "pupil")).toBe("signed in");
  for (const number of ["2", "3"])
    expect(await world.outcome(evil, { import_id: number }, number), number).toBe("NOT_CONFIRMED");
  expect(await world.sessionsOf(aide)).toBe(0);
  expect((await world.linksOf(school)).map(({ personId }) => personId)).toEqual([pupil]);
  const path = `/upstream-connections/${school.connectionId}`;
  const listed = (await admin("GET", `${path}/refusals`)).body as { code: string }[];
  expect(listed.map(({ code }) => code)).toEqual(["NOT_CONFIRMED", "NOT_CONFIRMED"]);
  expect((await admin("PATCH", path, { body: { confirmedForStaff: true } })).status).toBe(204);
  expect((await admin("GET", `${path}/refusals`)).body).toEqual([]);
  expect(await world.outcome(evil, { import_id: "2" }, "2")).toBe("signed in");
  // What was entered is confirmed, and not what the holder of the link would enter next.
  expect((await browser.open(`${address}/values`)).status).toBe(404);
});

// test/upstream/set-up.test.ts goes through all settings.
test("a client of the thief at the school's own provider is tested and confirmed again before it signs staff in", async () => {
  const setUp = await makeSetUp();
  const { browser, address } = await open(setUp);
  const { provider } = setUp.school;
  const values = {
    issuer: provider.issuer,
    scopes: "openid profile",
    subjectClaim: "sub",
    authMethod: "client_secret_basic",
  };
  // Another secret of the same client names nobody anew.
  const form = await browser.open(`${address}/values`);
  await browser.submit(form, "/values", { ...values, clientId, secret: "renewed" });
  expect(await read(setUp)).toMatchObject({ hasSecret: true, confirmedForStaff: true, state: "ON" });
  const thief = await open(await makeLink(setUp));
  const ofThief = await thief.browser.open(`${thief.address}/values`);
  await thief.browser.submit(ofThief, "/values", { ...values, clientId: "of-the-thief", secret: "of-the-thief" });
  expect(await read(setUp)).toMatchObject({
    confirmedForStaff: false,
    state: "DRAFT",
    testedAt: null,
    hasSecret: true,
  });
});

test("a client secret goes to nobody who enters another address, as the holder of a set-up link or as staff", async () => {
  const evil = await startUpstreamProvider();
  const secrets: string[] = [];
  evil.before = (req) => {
    secrets.push(req.headers.authorization ?? "");
    return false;
  };
  const values = { issuer: evil.issuer, clientId, scopes: "openid profile", subjectClaim: "sub", secret: "" };
  for (const enter of [
    async ({ browser, address }: Awaited<ReturnType<typeof open>>) => {
      const form = await browser.open(`${address}/values`);
      expect(form.html).toContain("a secret is sent only to the address that it was typed for");
      const shown = await browser.submit(form, "/values", { ...values, authMethod: "client_secret_basic" });
      expect(shown.html).toContain("the secret must be typed again");
    },
    async (_opened: unknown, { admin, school }: SetUp) => {
      const path = `/upstream-connections/${school.connectionId}`;
      expect((await admin("PATCH", path, { body: { issuer: evil.issuer } })).status).toBe(204);
    },
  ]) {
    const setUp = await makeSetUp();
    evil.redirectUris.push(...setUp.school.provider.redirectUris);
    const opened = await open(setUp);
    await enter(opened, setUp);
    expect(await read(setUp)).toMatchObject({ hasSecret: false, state: "DRAFT", testedAt: null });
    const left = await opened.browser.open(`${opened.address}/sign-in`);
    expect([new URL(left.url).pathname, left.html.includes("must be typed again")]).toEqual([
      `${opened.address}/sign-in`,
      true,
    ]);
  }
  expect(secrets.filter((sent) => sent !== "")).toEqual([]);
});

test("77 guesses in one test sign-in tell no name", async () => {
  const setUp = await makeSetUp();
  const { school } = setUp;
  const name = { firstFull: "Tina Maria", firstCall: "Tina", last: "Teach" };
  await world.make.person({ school: school.school, sourceSystemIdentifier: "4711", name });
  const { browser, address } = await open(setUp);
  world.service.clock.set(new Date());
  const guesses = Object.fromEntries(Array.from({ length: 77 }, (_, index) => [`g${index}`, String(4640 + index)]));
  const testWith = async (claims: Record<string, unknown>) => {
    signInThere(school.provider, { import_id: "4711" });
    school.provider.after = async (path, body) =>
      path === "/token"
        ? { ...body, id_token: await school.provider.sign({ ...decodeJwt(body["id_token"] as string), ...claims }) }
        : body;
    try {
      const left = await browser.open(`${address}/sign-in`);
      if (!left.url.startsWith(school.provider.issuer)) return left;
      return await world.comeBack(browser, school.connectionId, await school.provider.visit(new URL(left.url)));
    } finally {
      school.provider.after = null;
    }
  };
  const guessed = await testWith({ ...guesses, name: "Somebody Else" });
  expect([guessed.html.includes("exactly one person"), guessed.html.includes("Teach")]).toEqual([true, false]);
  expect(guessed.html).not.toContain("= ID in your administration software</code>");
  for (const own of [{ name: "tina  teach" }, { given_name: "Tina Maria", family_name: "Teach" }])
    expect((await testWith(own)).html).toContain("would be: Tina Teach");
  // The links that have no tests left: test/upstream/set-up.test.ts.
});

test("a contact may call five operations, all about the connection, and no other of the admin API", () => {
  const caller = {
    setUpLinkId: "s",
    connectionId: "c",
    schoolId: "s",
    expiresAt: new Date(),
  } as unknown as SetUpCaller;
  const allowed = operationIds.filter((operation) => {
    try {
      return !allowSetUp(caller, operation).reach.all;
    } catch (error) {
      expect(error).toMatchObject({ kind: "forbidden", code: "role_forbids" });
      return false;
    }
  });
  expect(allowed.sort()).toEqual([
    "getUpstreamConnection",
    "getUpstreamSetUp",
    "previewUpstreamRule",
    "updateUpstreamConnection",
    "updateUpstreamMetadata",
  ]);
});

test("nothing of the browser of a contact opens the admin API or a page of staff", async () => {
  const setUp = await makeSetUp();
  const { browser } = await open(setUp);
  for (const path of ["/me", "/upstream-connections", `/upstream-connections/${setUp.school.connectionId}`])
    expect((await browser.once(`/admin/v1${path}`)).status, path).toBe(401);
  for (const path of ["/admin", `/admin/schools/${setUp.school.school}/own-login`, "/account"])
    expect(new URL((await browser.open(path)).url).pathname, path).toBe("/sign-in");
});

test("a test sign-in signs nobody in, links nobody, and shows claims as text to the contact alone", async () => {
  const setUp = await makeSetUp();
  const person = await world.makePerson(setUp.school, "1");
  const { browser, address } = await open(setUp);
  const markup = '<img src=x onerror="alert(1)">';
  signInThere(setUp.school.provider, { import_id: "1", name: markup, [markup]: "x" });
  world.service.clock.set(new Date());
  const left = await browser.open(`${address}/sign-in`);
  const params = await setUp.school.provider.visit(new URL(left.url));
  // Another browser that learns the response gets nothing, and the trip is over.
  const stolen = await world.comeBack(world.newBrowser(), setUp.school.connectionId, params);
  expect(stolen.html).not.toContain("import_id");
  const again = await browser.open(`${address}/sign-in`);
  const result = await world.comeBack(
    browser,
    setUp.school.connectionId,
    await setUp.school.provider.visit(new URL(again.url)),
  );
  expect(result.url).toContain(`${address}/result`);
  expect([result.html.includes("import_id"), result.html.includes("<img src=x")]).toEqual([true, false]);
  expect(await world.isSignedIn(browser)).toBe(false);
  expect([await world.sessionsOf(person), await world.linksOf(setUp.school)]).toEqual([0, []]);
  const seen = await setUp.admin("GET", `/upstream-connections/${setUp.school.connectionId}/set-up`);
  expect((seen.body as { test: unknown }).test).toBeNull();
});

test("of thousands of claims a test sign-in keeps and shows the first, says how many more there are, and matches", async () => {
  const setUp = await makeSetUp();
  await world.makePerson(setUp.school, "1");
  const { browser, address } = await open(setUp);
  const { provider } = setUp.school;
  const many = Object.fromEntries(Array.from({ length: 8_000 }, (_, n) => [`c${n}`, n % 10]));
  signInThere(provider, { family_name: "Probe" });
  provider.after = (path, body) =>
    path === "/me" ? { ...many, ["x".repeat(100_000)]: 1, long: "y".repeat(50_000), ...body, import_id: "1" } : body;
  world.service.clock.set(new Date());
  const left = await browser.open(`${address}/sign-in`);
  const params = await provider.visit(new URL(left.url));
  const result = await world.comeBack(browser, setUp.school.connectionId, params);
  expect(result.url).toContain(`${address}/result`);
  expect(result.html.length).toBeLessThan(100_000);
  expect(result.html).toContain("import_id");
  expect(result.html).toMatch(/7.?9\d\d more claims/);
  expect(result.html).toContain("With the rule below this would be");
  const link = await world.service.db.prisma.upstreamSetUpLink.findFirstOrThrow({
    where: { connectionId: setUp.school.connectionId },
  });
  expect(link.tested!.length).toBeLessThan(60_000);
});
