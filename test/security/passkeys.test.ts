import { beforeEach, expect, test } from "vitest";
import type { PersonId } from "../../src/directory/index.ts";
import { makeAuthenticator, type Authenticator, type Told } from "../support/authenticator.ts";
import { makeBrowser, type Browser, type Shown } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { optionsOf, stateOf } from "../support/passkey.ts";
import { signIn } from "../support/portal.ts";
import { confirmPath, setUpPath } from "../support/second-factor.ts";
import { startService } from "../support/service.ts";
import { giveLogin, type Login } from "../support/token.ts";

const service = await startService();
const { db, clock } = service;
const make = makeMakers(db);
const school = await make.school();
const site = { origin: service.url, rpId: "localhost" };
const passkeyPath = `${setUpPath}/passkey`;

type Person = { personId: PersonId; login: Login; browser: Browser; authenticator: Authenticator };

async function makePerson(): Promise<Person> {
  const personId = await make.person({ school });
  const login = await giveLogin(db, personId);
  const browser = makeBrowser(service.url);
  await signIn(browser, login);
  return { personId, login, browser, authenticator: makeAuthenticator(site) };
}

const countOf = (personId: PersonId) => db.prisma.secondFactor.count({ where: { personId } });

async function register({ browser, authenticator }: Person, told: Told = {}, page?: Shown): Promise<Shown> {
  const asked = page ?? (await browser.open(passkeyPath));
  const answer = authenticator.register(optionsOf(asked), told);
  return browser.submit(asked, "/passkey", { passkey: JSON.stringify(answer), asked: "yes" });
}

/** The page that asks for the second factor in a browser where the password was right. */
async function beAsked(
  { login }: Person,
  browser = makeBrowser(service.url),
): Promise<{ browser: Browser; page: Shown }> {
  const page = await browser.submit(await browser.open("/sign-in"), "/sign-in", login);
  expect(new URL(page.url).pathname).toBe(confirmPath);
  return { browser, page };
}

async function prove(
  { browser, page }: { browser: Browser; page: Shown },
  answer: unknown,
  fields: Record<string, string> = {},
): Promise<boolean> {
  const passkey = typeof answer === "string" ? answer : JSON.stringify(answer);
  const shown = await browser.submit(page, confirmPath, { passkey, ...fields });
  expect(shown.status).toBeLessThan(500);
  const isIn = (await browser.once(setUpPath)).headers.get("location")?.startsWith("/sign-in?") !== true;
  expect(isIn).toBe(new URL(shown.url).pathname !== confirmPath);
  return isIn;
}

let pupil: Person;
beforeEach(async () => {
  pupil = await makePerson();
  // Wrong answers of a person slow down the next ones.
  clock.forwardSeconds(86_400);
  await signIn(pupil.browser, pupil.login).catch(() => undefined);
});

test("a passkey is registered and proves sign-ins, also one that does not verify its user beside the password", async () => {
  await register(pupil);
  expect(await countOf(pupil.personId)).toBe(1);
  for (const told of [{}, { isVerified: false }]) {
    const asked = await beAsked(pupil);
    expect(await prove(asked, pupil.authenticator.prove(optionsOf(asked.page), told))).toBe(true);
  }
});

const wrong: [string, Told][] = [
  ["of another origin", { origin: "https://login.example.com" }],
  ["of another port", { origin: "http://localhost:1" }],
  ["of this host over https", { origin: service.url.replace("http:", "https:") }],
  ["for another relying party", { rpId: "example.com" }],
  ["made in a frame of another site", { crossOrigin: true }],
  ["to another challenge", { challenge: Buffer.alloc(32).toString("base64url") }],
  ["without anybody at the device", { isPresent: false, isVerified: false }],
];

test("an answer that is wrong in one way registers nothing", async () => {
  for (const [what, told] of wrong) {
    expect((await register(pupil, told)).status, what).toBeLessThan(500);
    expect(await countOf(pupil.personId), what).toBe(0);
  }
});

test("an answer that is wrong in one way proves nothing", async () => {
  await register(pupil);
  for (const [what, told] of [
    ...wrong,
    ["of the other ceremony", { type: "webauthn.create" }],
    ["whose counter stands still", { counter: 1 }],
    ["of a credential that nobody has", { credentialId: Buffer.alloc(32) }],
  ] satisfies [string, Told][]) {
    const asked = await beAsked(pupil);
    const isIn = await prove(asked, pupil.authenticator.prove(optionsOf(asked.page), told));
    expect([what, isIn]).toEqual([what, false]);
    clock.forwardSeconds(86_400);
  }
});

test("a cloned authenticator is refused as soon as the other one was used more often", async () => {
  await register(pupil);
  const use = async (counter: number) => {
    const asked = await beAsked(pupil);
    return prove(asked, pupil.authenticator.prove(optionsOf(asked.page), { counter }));
  };
  expect([await use(10), await use(9), await use(10), await use(0), await use(11)]).toEqual([
    true,
    false,
    false,
    false,
    true,
  ]);
});

test("of two answers with the same counter at the same time one is taken", async () => {
  await register(pupil);
  const asked = [await beAsked(pupil), await beAsked(pupil)];
  const answers = asked.map(({ page }) => pupil.authenticator.prove(optionsOf(page), { counter: 7 }));
  const taken = await Promise.all(asked.map((one, at) => prove(one, answers[at])));
  expect(taken.sort()).toEqual([false, true]);
});

test("another person's passkey proves nothing, nor under the id of one's own", async () => {
  const other = await makePerson();
  await register(pupil);
  await register(other);
  const asked = await beAsked(pupil);
  const { challenge } = optionsOf(asked.page);
  expect(await prove(asked, other.authenticator.prove({ challenge }))).toBe(false);
  const next = await beAsked(pupil);
  const own = pupil.authenticator.prove(optionsOf(next.page));
  const forged = other.authenticator.prove(optionsOf(next.page), {
    credentialId: Buffer.from(own.id, "base64url"),
  });
  expect(await prove(next, forged)).toBe(false);
});

test("nobody registers a passkey that somebody has, one after the other or at the same time", async () => {
  const others = [await makePerson(), await makePerson()];
  await register(pupil);
  const taken = pupil.authenticator.prove({ challenge: "" }).id;
  const told = { credentialId: Buffer.from(taken, "base64url") };
  expect((await register(others[0]!, told)).status).toBeLessThan(500);
  expect(await countOf(others[0]!.personId)).toBe(0);
  const both = { credentialId: Buffer.alloc(32, 9) };
  const shown = await Promise.all(others.map((person) => register(person, both)));
  expect(shown.map(({ status }) => status < 500)).toEqual([true, true]);
  const counts = await Promise.all(others.map(({ personId }) => countOf(personId)));
  expect(counts.sort()).toEqual([0, 1]);
});

test("a challenge is good once, in its browser, for its person, for five minutes and for its ceremony", async () => {
  await register(pupil);
  const first = await beAsked(pupil);
  const answer = pupil.authenticator.prove(optionsOf(first.page));
  expect(await prove(first, answer)).toBe(true);
  const replayed = await beAsked(pupil);
  expect(await prove(replayed, answer)).toBe(false);
  expect(await prove(replayed, answer, { state: stateOf(first.page) })).toBe(false);

  const [mine, elsewhere] = [await beAsked(pupil), await beAsked(pupil)];
  const stolen = pupil.authenticator.prove(optionsOf(mine.page));
  expect(await prove(elsewhere, stolen, { state: stateOf(mine.page) })).toBe(false);
  clock.forwardSeconds(301);
  expect(await prove(mine, stolen)).toBe(false);

  const other = await makePerson();
  const forOther = await other.browser.open(passkeyPath);
  const asked = await beAsked(pupil);
  const ofOther = pupil.authenticator.prove(optionsOf(forOther));
  expect(await prove(asked, ofOther, { state: stateOf(forOther) })).toBe(false);
});

test("an answer that no authenticator gives is refused like a wrong one", async () => {
  await register(pupil);
  const good = pupil.authenticator.prove({ challenge: "x" });
  const deep = Buffer.alloc(10_000, 0x81).toString("base64url");
  const odd: unknown[] = [
    ...["null", "[]", "7", "{", '"text"', "{}", { id: 7 }, { id: "\0" }, { id: good.id }],
    ...[
      { ...good, id: `${good.id}\0` },
      { ...good, response: null },
      { ...good, response: { clientDataJSON: 7 } },
    ],
    { ...good, response: { ...good.response, clientDataJSON: "e30", signature: "====" } },
    { ...good, response: { ...good.response, authenticatorData: deep } },
  ];
  for (const answer of odd) {
    const asked = await beAsked(pupil);
    expect([answer, await prove(asked, answer)]).toEqual([answer, false]);
    clock.forwardSeconds(86_400);
  }
});

test("a registration that no authenticator gives makes no fault", async () => {
  const odd = [["\0"], [7], "internal", { length: 1 }, Array.from({ length: 2000 }, () => "x")];
  for (const transports of odd) {
    const person = await makePerson();
    const page = await person.browser.open(passkeyPath);
    const answer = person.authenticator.register(optionsOf(page));
    answer.response.transports = transports;
    const shown = await person.browser.submit(page, "/passkey", { passkey: JSON.stringify(answer) });
    expect([transports, shown.status < 500]).toEqual([transports, true]);
    const kept = await db.prisma.secondFactor.findMany({ where: { personId: person.personId } });
    expect(kept.map((factor) => factor.transports)).toEqual([[]]);
  }
  const page = await pupil.browser.open(passkeyPath);
  const answer = pupil.authenticator.register(optionsOf(page));
  const deep = Buffer.concat([Buffer.from("a363666d74", "hex"), Buffer.alloc(20_000, 0x81)]).toString("base64url");
  const response = { ...answer.response, attestationObject: deep };
  const sent = await pupil.browser.submit(page, "/passkey", { passkey: JSON.stringify({ ...answer, response }) });
  expect(sent.status).toBeLessThan(500);
  expect(await countOf(pupil.personId)).toBe(0);
});
