import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { changePassword } from "../../../src/accounts/index.ts";
import type { PersonId } from "../../../src/directory/index.ts";
import { makeUuid } from "../../../src/platform/crypto/ids.ts";
import { setLogin, setSignInSettings } from "../../support/sign-ins.ts";
import { makeBrowser, type Browser } from "../../support/browser.ts";
import { makeMakers } from "../../support/make.ts";
import { confirmPath, setUpTotp, totpCode } from "../../support/second-factor.ts";
import { makeTestClock, startService } from "../../support/service.ts";
import { askFor, exchange, getUserTokens } from "../../support/token.ts";

const clock = makeTestClock();
const service = await startService({ clock });
const { db } = service;
const make = makeMakers(db);
const school = await make.school();
const app = await make.app({ scopes: ["openid"] });
await make.grant({ app: app.clientId, school });

const newPath = "/sign-in/new-password";
const ownPath = "/sign-in/password";
const first = "first-password";
const chosen = "Eine Wiese am See";
const twice = (password: string) => ({ password, repeated: password });

let count = 0;
async function makePerson({ mustChange = false, role = "STUDENT" as const, className = "5a" } = {}) {
  const group = await make.group({ school, name: className });
  const personId = await make.person({ school, role, groups: [group] });
  const username = `person.${++count}`;
  await setLogin(db, { personId, username, password: first, mustChange }, { at: clock() });
  return { personId, username };
}

const signIn = async (browser: Browser, username: string, password: string) =>
  browser.submit(await browser.open("/sign-in?return=%2Fdocs"), "/sign-in", { username, password });

const sessionsOf = (personId: PersonId) => db.prisma.oidcArtifact.count({ where: { personId, kind: "Session" } });
const isSignedIn = async (browser: Browser) => (await browser.once("/sign-in")).status === 303;

const setRule = (wishes: { ownPasswordFromGrade: number | null; helpText?: string }) =>
  setSignInSettings(db, { schoolId: school, ...wishes }, { at: clock() });

test("a first password gives no session at the platform before another one is chosen", async () => {
  const { personId, username } = await makePerson({ mustChange: true });
  const browser = makeBrowser(service.url);
  const asked = await signIn(browser, username, first);
  expect([asked.status, asked.html.includes(newPath)]).toEqual([200, true]);
  expect([await sessionsOf(personId), await isSignedIn(browser)]).toEqual([0, false]);
  for (const [fields, problem] of [
    [twice(""), "Gib das neue Passwort ein."],
    [twice("kurz123"), "zu kurz"],
    [twice("x".repeat(257)), "zu lang"],
    [{ password: chosen, repeated: `${chosen}!` }, "zwei verschiedene"],
    [twice(username.toUpperCase()), "aus deinem Namen"],
    [twice("Passwort1!"), "leicht zu erraten: ein häufiges Wort"],
    [twice(first), "anderes Passwort"],
  ] as const) {
    const again = await browser.submit(asked, newPath, fields);
    expect([again.status, again.html.includes(problem)], problem).toEqual([422, true]);
  }
  expect(await sessionsOf(personId)).toBe(0);
  const done = await browser.submit(asked, newPath, twice(chosen));
  expect(new URL(done.url).pathname).toBe("/docs");
  expect(await isSignedIn(browser)).toBe(true);
  expect(await db.prisma.audit.count({ where: { personId, action: "password_changed" } })).toBe(1);
  const later = makeBrowser(service.url);
  expect((await signIn(later, username, first)).status).toBe(422);
  expect(new URL((await signIn(later, username, chosen)).url).pathname).toBe("/docs");
});

test("every page where a password is chosen refuses what is easy to guess, and staff need 12 characters or a passkey", async () => {
  const other = await make.school({ name: "Albertus-Magnus-Gymnasium" });
  const guessable = ["12345678", "passwort", "aaaaaaaa", "Passwort2026!", "AlbertusMagnus1", "Paulsen-Gymnasium"];
  for (const [role, shortest] of [
    ["STUDENT", 8],
    ["TEACHER", 12],
  ] as const) {
    const name = { firstFull: "Ida Paulsen", firstCall: "Ida", last: "Paulsen" };
    const personId = await make.person({ school: other, role, name });
    const username = `person.${++count}`;
    await setLogin(db, { personId, username, password: first, mustChange: true }, { at: clock() });
    const browser = makeBrowser(service.url);
    const asked = askFor(service, app);
    const pages = [
      [await signIn(browser, username, first), newPath],
      [
        await browser.submit(await browser.open(asked.address), "/login", { username, password: first }),
        "/new-password",
      ],
    ] as const;
    for (const [page, step] of pages) {
      expect(page.html).toContain(`Mindestens ${shortest} Zeichen.`);
      for (const password of guessable.map((one) => one.padEnd(shortest, "1"))) {
        const refused = await browser.submit(page, step, twice(password));
        expect([refused.status, refused.html.includes("leicht zu erraten")], password).toEqual([422, true]);
      }
      const refused = await browser.submit(page, step, twice("Zwei Bäume".slice(0, shortest - 1)));
      expect(refused.html).toContain(`Nimm mindestens ${shortest} Zeichen.`);
    }
    if (role === "TEACHER") {
      const passkey = {
        kind: "PASSKEY" as const,
        label: "Schlüssel",
        credentialId: personId,
        counter: 0,
        transports: [],
      };
      const publicKey = new Uint8Array(4);
      await db.prisma.secondFactor.create({
        data: { ...passkey, id: makeUuid(clock()), personId, publicKey, createdAt: clock() },
      });
      await setLogin(db, { personId, username, password: first, mustChange: false }, { at: clock() });
      expect(
        await changePassword(
          db,
          { personId, generation: await generationOf(personId), ...twice("Zwei Ulm9") },
          { at: clock() },
        ),
      ).toMatchObject({ kind: "done" });
    }
  }
});

const generationOf = async (personId: PersonId) =>
  (await db.prisma.credential.findUniqueOrThrow({ where: { personId } })).generation;

test("an app gets its code only after another password was chosen", async () => {
  const { personId, username } = await makePerson({ mustChange: true });
  const browser = makeBrowser(service.url);
  const asked = askFor(service, app);
  const shown = await browser.submit(await browser.open(asked.address), "/login", { username, password: first });
  expect([shown.status, await sessionsOf(personId)]).toEqual([200, 0]);
  const short = await browser.submit(shown, "/new-password", twice("kurz"));
  expect([short.status, await sessionsOf(personId)]).toEqual([422, 0]);
  let done = await browser.submit(short, "/new-password", twice(chosen));
  if (done.html.includes("/consent")) done = await browser.submit(done, "/consent");
  const { status } = await exchange(service, app, { browser, asked, back: new URL(done.url) });
  expect(status).toBe(200);
  await getUserTokens(service, app, { username, password: chosen });
});

/** A person with an authenticator app whom staff gave a new first password. */
async function makeEnrolled() {
  const { personId, username } = await makePerson({ role: "TEACHER" as never });
  const browser = makeBrowser(service.url);
  await signIn(browser, username, first);
  const { secret } = await setUpTotp(browser, clock);
  clock.forwardSeconds(30);
  await setLogin(db, { personId, username, password: first, mustChange: true }, { at: clock() });
  const hashOf = async () => (await db.prisma.credential.findUniqueOrThrow({ where: { personId } })).passwordHash;
  return { personId, username, code: () => totpCode(secret, clock()), hashOf };
}

const pendingOf = ({ html }: { html: string }) => /name="pending" value="([^"]+)"/.exec(html)?.[1];

test("who has a second factor proves it before they replace a first password at the platform", async () => {
  const { personId, username, code, hashOf } = await makeEnrolled();
  const before = await hashOf();
  const browser = makeBrowser(service.url);
  const asked = await signIn(browser, username, first);
  expect([new URL(asked.url).pathname, pendingOf(asked)]).toEqual([confirmPath, undefined]);
  const wrong = await browser.submit(asked, confirmPath, { code: "000000" });
  expect([wrong.status, await sessionsOf(personId), await hashOf()]).toEqual([422, 0, before]);
  const shown = await browser.submit(asked, confirmPath, { code: code() });
  expect([shown.html.includes(newPath), await sessionsOf(personId)]).toEqual([true, 0]);
  const done = await browser.submit(shown, newPath, twice(chosen));
  expect([new URL(done.url).pathname, await isSignedIn(browser)]).toEqual(["/docs", true]);
  expect((await browser.open("/sign-in/second-factor")).html).toContain("Telefon");
  expect(await hashOf()).not.toBe(before);
});

test("a password alone replaces no first password of who has a second factor, at an app neither", async () => {
  const { personId, username, code, hashOf } = await makeEnrolled();
  const before = await hashOf();
  const browser = makeBrowser(service.url);
  const asked = askFor(service, app);
  const shown = await browser.submit(await browser.open(asked.address), "/login", { username, password: first });
  expect(shown.html).toMatch(/action="\/interaction\/[^"]+\/second-factor"/);
  expect(shown.html).not.toContain("/new-password");
  const pending = pendingOf(shown)!;
  const skipped = await browser.once(new URL(shown.url).pathname.replace(/\/login$/, "/new-password"), {
    method: "POST",
    body: new URLSearchParams({ csrf: /name="csrf" value="([^"]+)"/.exec(shown.html)![1]!, pending, ...twice(chosen) }),
  });
  expect([skipped.status, await hashOf()]).toEqual([422, before]);
  const wrong = await browser.submit(shown, "/second-factor", { code: "000000" });
  expect([wrong.status, pendingOf(wrong)]).toEqual([422, pending]);
  const next = await browser.submit(wrong, "/second-factor", { code: code() });
  expect([await sessionsOf(personId), await hashOf()]).toEqual([0, before]);
  let done = await browser.submit(next, "/new-password", twice(chosen));
  if (done.html.includes("/consent")) done = await browser.submit(done, "/consent");
  const { status, body } = await exchange(service, app, { browser, asked, back: new URL(done.url) });
  expect([status, decodeJwt(body.id_token!)["amr"]]).toEqual([200, ["pwd", "otp", "mfa"]]);
  expect(await hashOf()).not.toBe(before);
});

test("a form from before the second factor was set up chooses no password after it", async () => {
  const { personId, username } = await makePerson({ mustChange: true });
  const browser = makeBrowser(service.url);
  const asked = await signIn(browser, username, first);
  const data = {
    id: makeUuid(clock()),
    personId,
    kind: "TOTP" as const,
    label: "x",
    transports: [],
    createdAt: clock(),
  };
  await db.prisma.secondFactor.create({ data: { ...data, secret: Buffer.from("x") } });
  expect(new URL((await browser.submit(asked, newPath, twice(chosen))).url).pathname).toBe("/sign-in");
  expect(await db.prisma.audit.count({ where: { personId, action: "password_changed" } })).toBe(0);
});

test("the form is good for its browser and its time only, and not after staff set another password", async () => {
  const { personId, username } = await makePerson({ mustChange: true });
  const browser = makeBrowser(service.url);
  const asked = await signIn(browser, username, first);
  const stranger = makeBrowser(service.url);
  const theirs = await signIn(stranger, (await makePerson({ mustChange: true })).username, first);
  const pending = /name="pending" value="([^"]+)"/.exec(asked.html)![1]!;
  await stranger.submit(theirs, newPath, { pending, ...twice(chosen) });
  expect(await isSignedIn(stranger)).toBe(false);
  await setLogin(db, { personId, username, password: "from-staff", mustChange: true }, { at: clock() });
  expect(new URL((await browser.submit(asked, newPath, twice(chosen))).url).pathname).toBe("/sign-in");
  const old = await signIn(browser, username, "from-staff");
  clock.forwardSeconds(1_300);
  await browser.submit(old, newPath, twice(chosen));
  expect(await isSignedIn(browser)).toBe(false);
});

test("staff change their own password: other browsers are signed out, this one is not", async () => {
  const { personId, username } = await makePerson({ role: "TEACHER" as never });
  const [here, there] = [makeBrowser(service.url), makeBrowser(service.url)];
  for (const browser of [here, there]) await signIn(browser, username, first);
  const page = await here.open(`${ownPath}?return=%2Fdocs`);
  const wrong = await here.submit(page, ownPath, { current: "wrong", ...twice(chosen) });
  expect([wrong.status, wrong.html.includes("bis jetzt stimmt nicht")]).toEqual([422, true]);
  const short = await here.submit(page, ownPath, { current: first, ...twice("kurz") });
  expect(short.status).toBe(422);
  expect([await isSignedIn(here), await isSignedIn(there)]).toEqual([true, true]);
  const done = await here.submit(page, ownPath, { current: first, ...twice(chosen) });
  expect(new URL(done.url).pathname).toBe("/docs");
  expect([await isSignedIn(here), await isSignedIn(there)]).toEqual([true, false]);
  const lines = await db.prisma.audit.findMany({
    where: { personId, action: "password_changed" },
    orderBy: { id: "asc" },
  });
  expect(lines).toHaveLength(1);
  expect(JSON.stringify(lines)).not.toContain(chosen);
});

test("pupils change theirs from the grade that the school chose, and others read whom to ask", async () => {
  await setRule({ ownPasswordFromGrade: 5, helpText: "Frag <Frau> Sommer." });
  for (const [className, status] of [
    ["5a", 200],
    ["Klasse 10b", 200],
    ["4c", 403],
    ["Füchse", 403],
  ] as const) {
    const { username } = await makePerson({ className });
    const browser = makeBrowser(service.url);
    await signIn(browser, username, first);
    const shown = await browser.open(ownPath);
    expect([shown.status, shown.html.includes("Frag &lt;Frau&gt; Sommer.")], className).toEqual([
      status,
      status === 403,
    ]);
  }
  await setRule({ ownPasswordFromGrade: null });
  const { username } = await makePerson({ className: "12a" });
  const browser = makeBrowser(service.url);
  await signIn(browser, username, first);
  expect((await browser.open(ownPath)).status).toBe(403);
});

test("guessing the present password is slowed down as at the sign-in, and nobody else's form is taken", async () => {
  const { username } = await makePerson({ role: "OTHER" as never });
  const browser = makeBrowser(service.url);
  await signIn(browser, username, first);
  const page = await browser.open(ownPath);
  const tries = await Promise.all(
    Array.from({ length: 8 }, (_, n) => browser.submit(page, ownPath, { current: `no${n}`, ...twice(chosen) })),
  );
  expect(tries.map(({ status }) => status)).toContain(429);
  const forged = await browser.submit(page, ownPath, { csrf: "x", current: first, ...twice(chosen) });
  expect(forged.status).toBe(422);
  const nobody = await makeBrowser(service.url).once(ownPath);
  expect(nobody.headers.get("location")).toBe("/sign-in?return=%2Fsign-in%2Fpassword");
});
