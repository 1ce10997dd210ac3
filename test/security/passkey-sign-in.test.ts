import { beforeEach, expect, test } from "vitest";
import type { PersonId } from "../../src/directory/index.ts";
import { makeStaff } from "../support/admin.ts";
import { type Authenticator, makeAuthenticator, type Told } from "../support/authenticator.ts";
import { type Browser, makeBrowser, type Shown, textOf } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { makePasskey, optionsOf, stateOf, useBy } from "../support/passkey.ts";
import { setUpPath } from "../support/second-factor.ts";
import { startService } from "../support/service.ts";
import { blockPerson, setLogin, signOutPerson } from "../support/sign-ins.ts";
import { askFor, giveLogin, type Login } from "../support/token.ts";

const service = await startService();
const { db, clock } = service;
const make = makeMakers(db);
const school = await make.school();
const app = await make.app();
await make.grant({ app: app.clientId, school });
const offerPath = "/sign-in/passkey";

type Person = { personId: PersonId; login: Login; authenticator: Authenticator };

async function makePerson(): Promise<Person> {
  const personId = await make.person({ school, role: "TEACHER" });
  const login = await giveLogin(db, personId);
  return { personId, login, authenticator: await makePasskey(service, login) };
}

const openLogin = async (path = "/sign-in"): Promise<{ browser: Browser; page: Shown }> => {
  const browser = makeBrowser(service.url);
  return { browser, page: await browser.open(path) };
};
const isSignedIn = async (browser: Browser): Promise<boolean> => (await browser.once("/account")).status === 200;

/** Sends an answer from a new browser. Returns the status, and whether somebody is signed in. */
async function answer(authenticator: Pick<Authenticator, "prove">, told: Told = {}): Promise<[number, boolean]> {
  const { browser, page } = await openLogin();
  const { status } = await useBy(browser, page, authenticator, told);
  return [status, await isSignedIn(browser)];
}

const refused = [422, false];

let owner: Person;
beforeEach(async () => {
  owner = await makePerson();
});

const idOf = ({ authenticator }: Person): Buffer => Buffer.from(authenticator.prove({ challenge: "" }).id, "base64url");

test("another person's credential id, or one that nobody has, signs nobody in", async () => {
  const other = await makePerson();
  expect(await answer(owner.authenticator, { credentialId: idOf(other) })).toEqual(refused);
  expect(await answer(owner.authenticator, { credentialId: Buffer.alloc(32, 1) })).toEqual(refused);
  const stranger = makeAuthenticator({ origin: service.url, rpId: "localhost" });
  expect(await answer(stranger)).toEqual(refused);
});

test("a credential answers for its own account only: another user handle, or none, is refused", async () => {
  const other = await makePerson();
  const { userHandle } = other.authenticator.prove({ challenge: "" }).response;
  expect(await answer(owner.authenticator, { userHandle: userHandle! })).toEqual(refused);
  expect(await answer(owner.authenticator, { userHandle: "" })).toEqual(refused);
  const bare = {
    prove(options: { challenge: string }) {
      const { response, ...proof } = owner.authenticator.prove(options);
      return { ...proof, response: { ...response, userHandle: undefined } };
    },
  };
  expect(await answer(bare)).toEqual(refused);
  expect(await answer(owner.authenticator)).toEqual([200, true]);
});

test("an answer that is wrong in one way signs nobody in", async () => {
  for (const [what, told] of [
    ["of another origin", { origin: "https://login.example.com" }],
    ["of another port", { origin: "http://localhost:1" }],
    ["for another relying party", { rpId: "example.com" }],
    ["made in a frame of another site", { crossOrigin: true }],
    ["to another challenge", { challenge: Buffer.alloc(32).toString("base64url") }],
    ["whose device did not verify its user", { isVerified: false }],
    ["without anybody at the device", { isPresent: false, isVerified: false }],
    ["of the other ceremony", { type: "webauthn.create" }],
  ] satisfies [string, Told][])
    expect([what, await answer(owner.authenticator, told)]).toEqual([what, refused]);
});

test("a challenge is good once, in its browser, for its sign-on and for 20 minutes", async () => {
  const first = await openLogin();
  const proof = owner.authenticator.prove(optionsOf(first.page));
  const replay = { prove: () => proof };
  expect((await useBy(first.browser, first.page, replay)).status).toBe(200);
  const again = await first.browser.open("/sign-in?again");
  expect((await useBy(first.browser, again, replay, { fields: { state: stateOf(first.page) } })).status).toBe(422);

  const [mine, thief] = [await openLogin(), await openLogin()];
  const stolen = { prove: () => owner.authenticator.prove(optionsOf(mine.page)) };
  const fields = { state: stateOf(mine.page) };
  expect((await useBy(thief.browser, thief.page, stolen, { fields })).status).toBe(422);
  // The same browser at the sign-on of an app is another sign-on.
  const atApp = await mine.browser.open(askFor(service, app).address);
  expect((await useBy(mine.browser, atApp, stolen, { fields })).status).toBe(422);
  clock.forwardSeconds(1201);
  expect((await useBy(mine.browser, mine.page, owner.authenticator)).status).toBe(422);
  expect(await isSignedIn(mine.browser)).toBe(false);
});

test("of two equal answers at the same time one signs in", async () => {
  const { browser, page } = await openLogin();
  const proof = owner.authenticator.prove(optionsOf(page));
  const shown = await Promise.all([1, 2].map(() => useBy(browser, page, { prove: () => proof })));
  expect(shown.map(({ status }) => status).sort()).toEqual([200, 422]);
});

test("a form without the browser's cookie, or with another's token, signs nobody in", async () => {
  const { browser, page } = await openLogin();
  const proof = owner.authenticator.prove(optionsOf(page));
  const forged = makeBrowser(service.url);
  expect((await useBy(forged, page, { prove: () => proof })).status).toBe(422);
  expect(await isSignedIn(forged)).toBe(false);
  expect((await useBy(browser, page, { prove: () => proof })).status).toBe(200);
});

test("a copied authenticator is refused once the other was used more often, which the audit log tells", async () => {
  const outcomes = [];
  for (const counter of [10, 9, 10, 0, 11]) outcomes.push((await answer(owner.authenticator, { counter }))[1]);
  expect(outcomes).toEqual([true, false, false, false, true]);
  const { personId } = owner;
  const lines = await db.prisma.audit.findMany({
    where: { personId, action: "passkey_refused" },
    orderBy: { id: "asc" },
  });
  expect(lines.map(({ detail, schoolId }) => [(detail as { reason: string }).reason, schoolId])).toEqual(
    Array.from({ length: 3 }, () => ["counter", school]),
  );
});

test("a removed passkey, one of a person who left and one of a deleted person sign nobody in", async () => {
  const { personId } = owner;
  const operator = await makeStaff(service, "OPERATOR");
  expect((await operator.call("POST", `/people/${personId}/soft-deletion`)).status).toBeLessThan(300);
  expect(await answer(owner.authenticator)).toEqual(refused);
  await db.prisma.person.delete({ where: { id: personId } });
  expect(await answer(owner.authenticator)).toEqual(refused);
  expect(await db.prisma.secondFactor.count({ where: { personId } })).toBe(0);
  const other = await makePerson();
  await db.prisma.secondFactor.deleteMany({ where: { personId: other.personId } });
  expect(await answer(other.authenticator)).toEqual(refused);
});

test("a blocked person is not signed in; unblocked, the passkey works again", async () => {
  const { personId, authenticator } = owner;
  await blockPerson(db, personId, { at: clock() });
  expect(await answer(authenticator)).toEqual([403, false]);
  const { browser, page } = await openLogin(askFor(service, app).address);
  const shown = await useBy(browser, page, authenticator);
  expect(shown.status).toBe(403);
});

test("a sign-out by staff ends the sessions of a passkey", async () => {
  const { browser, page } = await openLogin();
  await useBy(browser, page, owner.authenticator);
  expect(await isSignedIn(browser)).toBe(true);
  await signOutPerson(db, owner.personId, { at: clock() });
  expect(await isSignedIn(browser)).toBe(false);
});

test("every refusal reads the same, whether or not an account or a credential exists", async () => {
  const texts = new Set<string>();
  for (const told of [{ credentialId: Buffer.alloc(32, 2) }, { isVerified: false }, { userHandle: "x" }]) {
    const { browser, page } = await openLogin();
    texts.add(textOf((await useBy(browser, page, owner.authenticator, told)).html));
  }
  expect(texts.size).toBe(1);
});

test("an answer that no authenticator gives is refused like a wrong one", async () => {
  const good = owner.authenticator.prove({ challenge: "x" });
  const odd: unknown[] = [
    ...[null, [], 7, "text", {}, { id: 7 }, { id: "\0" }, { id: good.id }, { ...good, response: null }],
    { ...good, response: { ...good.response, userHandle: 7 } },
    { ...good, response: { ...good.response, authenticatorData: Buffer.alloc(9_000, 0x81).toString("base64url") } },
    { ...good, response: { ...good.response, clientDataJSON: "e30", signature: "====" } },
  ];
  for (const one of odd) {
    const { browser, page } = await openLogin();
    const shown = await useBy(browser, page, { prove: () => one as ReturnType<Authenticator["prove"]> });
    expect([one, shown.status]).toEqual([one, 422]);
  }
});

test("an address that sends wrong answers is slowed down, and right ones cost it nothing", async () => {
  const tries = Array.from({ length: 12 }, () => answer(owner.authenticator));
  for (const one of tries) expect((await one)[0]).toBeLessThan(500);
  clock.forwardSeconds(86_400);
  const { browser, page } = await openLogin();
  const junk = { prove: () => ({ id: "x" }) as ReturnType<Authenticator["prove"]> };
  const { prisma } = db;
  const before = await prisma.rateLimit.count();
  for (let one = 0; one < 3; one++) await useBy(browser, page, junk);
  // One row of the address and one of the challenge, however often it is sent.
  expect((await prisma.rateLimit.count()) - before).toBeLessThanOrEqual(2);
  await prisma.rateLimit.updateMany({ data: { fullAt: new Date(clock().getTime() + 299_900) } });
  const next = await browser.open("/sign-in");
  const shown = await useBy(browser, next, owner.authenticator);
  expect([shown.status, shown.headers.get("retry-after") !== null]).toEqual([429, true]);
});

/** A browser that is offered a passkey. */
async function beOffered(login: Login): Promise<{ browser: Browser; page: Shown }> {
  const { browser, page } = await openLogin();
  return { browser, page: await browser.submit(page, "/sign-in", { ...login, passkeys: "yes" }) };
}

const makeWithoutPasskey = async () => {
  const personId = await make.person({ school, role: "TEACHER" });
  return { personId, login: await giveLogin(db, personId) };
};

const register = (browser: Browser, page: Shown, told: Told = {}): Promise<Shown> => {
  const authenticator = makeAuthenticator({ origin: service.url, rpId: "localhost" });
  return browser.submit(page, offerPath, { passkey: JSON.stringify(authenticator.register(optionsOf(page), told)) });
};

test("an offer is void after a block, a new password and a sign-out by staff, after ten minutes and in another browser", async () => {
  const at = () => ({ at: clock() });
  for (const end of [
    (personId: PersonId) => blockPerson(db, personId, at()),
    (personId: PersonId) => signOutPerson(db, personId, at()),
    (personId: PersonId, { username }: Login) => setLogin(db, { personId, username, password: "anders-7-stein" }, at()),
    () => Promise.resolve(clock.forwardSeconds(601)),
  ]) {
    const { personId, login } = await makeWithoutPasskey();
    const { browser, page } = await beOffered(login);
    await end(personId, login);
    expect((await register(browser, page)).status).toBeLessThan(500);
    expect(await db.prisma.secondFactor.count({ where: { personId } })).toBe(0);
  }
  const [one, two] = [await makeWithoutPasskey(), await makeWithoutPasskey()];
  const [mine, theirs] = [await beOffered(one.login), await beOffered(two.login)];
  await register(theirs.browser, mine.page);
  await register(makeBrowser(service.url), mine.page);
  expect(await db.prisma.secondFactor.count({ where: { personId: { in: [one.personId, two.personId] } } })).toBe(0);
});

test("an offered passkey needs a device that verifies its user, and is registered once", async () => {
  const { personId, login } = await makeWithoutPasskey();
  const { browser, page } = await beOffered(login);
  const shown = await register(browser, page, { isVerified: false });
  expect(shown.status).toBe(422);
  expect(await db.prisma.secondFactor.count({ where: { personId } })).toBe(0);
  await register(browser, shown);
  await register(browser, shown);
  expect(await db.prisma.secondFactor.count({ where: { personId } })).toBe(1);
  // The session was made with the password alone, which does not open what the passkey guards.
  expect(new URL((await browser.open(setUpPath)).url).pathname).toBe("/sign-in/confirm");
});
