import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { makeBrowser, type Browser } from "../../support/browser.ts";
import { confirmPath, readRecoveryCodes, setUpPath, setUpTotp, totpCode } from "../../support/second-factor.ts";
import { testDatabase } from "../../support/database.ts";
import { makeMakers } from "../../support/make.ts";
import { giveRoleTo } from "../../support/portal.ts";
import { getUserTokens, giveLogin, postToken, type Login } from "../../support/token.ts";
import { reEncryptSecrets } from "../../../src/sign-on/index.ts";
import { makeTestClock, startService } from "../../support/service.ts";

const clock = makeTestClock();
const service = await startService({ clock });
const required = await startService({ clock, db: service.db, env: { STAFF_SECOND_FACTOR: "required" } });

const make = makeMakers(service.db);
const school = await make.school();
const makePupil = async () => giveLogin(service.db, await make.person({ school }));
const makeTeacher = async () => {
  const personId = await make.person({ school, role: "TEACHER" });
  await giveRoleTo(service, personId, "SCHOOL_ADMIN", { schoolIds: [school] });
  return giveLogin(service.db, personId);
};

async function signIn(browser: Browser, login: Login, next = "") {
  const address = `/sign-in${next && `?return=${encodeURIComponent(next)}`}`;
  return browser.submit(await browser.open(address), "/sign-in", login);
}

/** A person with an authenticator app; the codes are of a step that was not used. */
async function enrol(login: Login, of = service) {
  const browser = makeBrowser(of.url);
  await signIn(browser, login);
  const { secret, shown } = await setUpTotp(browser, clock);
  clock.forwardSeconds(30);
  return { browser, secret, codes: readRecoveryCodes(shown), next: () => totpCode(secret, clock()) };
}

const isSignedIn = async (browser: Browser): Promise<boolean> =>
  (await browser.once(setUpPath)).headers.get("location")?.startsWith("/sign-in?") !== true;

test("who sets up an authenticator app is shown ten recovery codes once and is asked for a code from then on", async () => {
  const login = await makePupil();
  const { codes, next } = await enrol(login);
  expect(new Set(codes).size).toBe(10);
  const browser = makeBrowser(service.url);
  const asked = await signIn(browser, login, "/admin");
  expect(new URL(asked.url).pathname).toBe(confirmPath);
  expect(await isSignedIn(browser)).toBe(false);
  const wrong = await browser.submit(asked, confirmPath, { code: "000000" });
  expect(wrong.status).toBe(422);
  expect(await isSignedIn(browser)).toBe(false);
  const done = await browser.submit(asked, confirmPath, { code: next().replace(/^(...)/, "$1 ") });
  expect(new URL(done.url).pathname).toBe("/admin");
  expect(await isSignedIn(browser)).toBe(true);
  clock.forwardSeconds(60);
});

test("a code is good once, also for two requests at the same time and in another browser", async () => {
  const login = await makePupil();
  const { next } = await enrol(login);
  const code = next();
  const browsers = [makeBrowser(service.url), makeBrowser(service.url)];
  const asked = await Promise.all(browsers.map((browser) => signIn(browser, login)));
  await Promise.all(browsers.map((browser, at) => browser.submit(asked[at]!, confirmPath, { code })));
  expect((await Promise.all(browsers.map(isSignedIn))).sort()).toEqual([false, true]);
  const third = makeBrowser(service.url);
  expect((await third.submit(await signIn(third, login), confirmPath, { code })).status).toBe(422);
});

test("a phone whose clock differs by a step is taken, by two it is not", async () => {
  const login = await makePupil();
  const { secret } = await enrol(login);
  const taken = [];
  for (const seconds of [-60, -30, 30, 60]) {
    clock.forwardSeconds(120);
    const browser = makeBrowser(service.url);
    const code = totpCode(secret, new Date(clock().getTime() + seconds * 1000));
    await browser.submit(await signIn(browser, login), confirmPath, { code });
    taken.push(await isSignedIn(browser));
  }
  expect(taken).toEqual([false, true, true, false]);
});

test("wrong codes are slowed down after five, the right one too, and recovery codes as well", async () => {
  const login = await makePupil();
  const { next, codes } = await enrol(login);
  const browser = makeBrowser(service.url);
  const asked = await signIn(browser, login);
  const tries = [];
  for (const code of ["000001", "000002", "aaaa-bbbb-cccc", "", "000003", "000004"])
    tries.push((await browser.submit(asked, confirmPath, { code })).status);
  expect(tries).toEqual([422, 422, 422, 422, 422, 422]);
  const slowed = await browser.submit(asked, confirmPath, { code: next() });
  expect([slowed.status, slowed.headers.get("retry-after")]).toEqual([429, "30"]);
  const other = makeBrowser(service.url);
  const again = await other.submit(await signIn(other, login), confirmPath, { code: codes[0]! });
  expect(again.status).toBe(429);
  clock.forwardSeconds(30);
  await browser.submit(asked, confirmPath, { code: next() });
  expect(await isSignedIn(browser)).toBe(true);
});

test("a recovery code works once, however it is typed, and is named in the audit without itself", async () => {
  const login = await makeTeacher();
  const { codes } = await enrol(login);
  const use = async (code: string) => {
    const browser = makeBrowser(service.url);
    await browser.submit(await signIn(browser, login), confirmPath, { code });
    return isSignedIn(browser);
  };
  const typed = codes[0]!.toUpperCase().replaceAll("-", " ");
  expect([await use(typed), await use(codes[0]!), await use(codes[1]!)]).toEqual([true, false, true]);
  const lines = await service.db.prisma.audit.findMany({
    where: { action: "recovery_code_used" },
    orderBy: { id: "asc" },
  });
  expect(lines.map(({ detail }) => detail)).toEqual([{ left: 9 }, { left: 8 }]);
  expect(JSON.stringify(lines)).not.toContain(codes[0]);
});

test("what the password opened in one browser is of no use in another, and not for long", async () => {
  const login = await makeTeacher();
  const { next } = await enrol(login);
  const mine = makeBrowser(service.url);
  const asked = await signIn(mine, login);
  const stolen = mine.cookies().find(({ name }) => name === "_sign_in_pending")!;
  const thief = makeBrowser(service.url);
  const form = await thief.open("/sign-in");
  const csrf = /name="csrf" value="([^"]+)"/.exec(form.html)![1]!;
  for (const token of [csrf, /name="csrf" value="([^"]+)"/.exec(asked.html)![1]!]) {
    const browserCookies = thief.cookies().map(({ name, value }) => `${name}=${value}`);
    const answer = await fetch(`${service.url}${confirmPath}`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie: [...browserCookies, `${stolen.name}=${stolen.value}`].join("; ") },
      body: new URLSearchParams({ csrf: token, code: next() }),
    });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/sign-in"]);
  }
  clock.forwardSeconds(601);
  const late = await mine.submit(asked, confirmPath, { code: next() });
  expect(new URL(late.url).pathname).toBe("/sign-in");
  expect(await isSignedIn(mine)).toBe(false);
});

test("a new password between both steps voids the first", async () => {
  const login = await makePupil();
  const { next } = await enrol(login);
  const browser = makeBrowser(service.url);
  const asked = await signIn(browser, login);
  await service.db.prisma.credential.updateMany({
    where: { username: login.username },
    data: { generation: { increment: 1 } },
  });
  await browser.submit(asked, confirmPath, { code: next() });
  expect(await isSignedIn(browser)).toBe(false);
});

test("a session without the second factor, made before it was set up, has to prove it to change anything", async () => {
  const login = await makeTeacher();
  const before = makeBrowser(service.url);
  await signIn(before, login);
  const { next } = await enrol(login);
  const asked = await before.open(setUpPath);
  expect(new URL(asked.url).pathname).toBe(confirmPath);
  const sessions = () => before.cookies().find(({ name }) => name === "_session")!.value;
  const old = sessions();
  const list = await before.submit(asked, confirmPath, { code: next() });
  expect(new URL(list.url).pathname).toBe(setUpPath);
  expect(sessions()).not.toBe(old);
  clock.forwardSeconds(601);
  expect(new URL((await before.open(setUpPath)).url).pathname).toBe(confirmPath);
  const late = await before.submit(list, "/remove");
  expect(new URL(late.url).pathname).toBe(confirmPath);
  const again = await before.submit(late, confirmPath, { code: next() });
  const removed = await before.submit(again, "/remove");
  expect(removed.html).not.toContain("Telefon");
  expect(
    await service.db.prisma.recoveryCode.count({ where: { person: { credential: { username: login.username } } } }),
  ).toBe(0);
});

test("who removes a second factor is signed out everywhere else, and goes on where they are", async () => {
  const app = await make.app({ scopes: ["openid", "offline_access"] });
  await make.grant({ app: app.clientId, school });
  const login = await makePupil();
  const wishes = { scopes: ["openid", "offline_access"] } as const;
  const refresh = ({ refresh_token: token }: { refresh_token?: string }) =>
    postToken(service, app, { grant_type: "refresh_token", refresh_token: token! });
  const elsewhere = await getUserTokens(service, app, login, wishes);
  const { browser } = await enrol(login);
  const here = await getUserTokens(service, app, login, { ...wishes, browser, params: { acr_values: "any" } });
  expect(decodeJwt(here.id_token!)["acr"]).toBe("urn:schultor:acr:mfa");
  const session = () => browser.cookies().find(({ name }) => name === "_session")!.value;
  const before = session();
  await browser.submit(await browser.open(setUpPath), "/remove");
  expect([await isSignedIn(browser), await isSignedIn(elsewhere.browser)]).toEqual([true, false]);
  expect(session()).toBe(before);
  const refreshed = await refresh(here);
  expect([refreshed.status, (await refresh(elsewhere)).status]).toEqual([200, 400]);
  expect(decodeJwt(refreshed.body.id_token!)["acr"]).toBe("urn:schultor:acr:mfa");
});

test("a session that has been open for long, or was made without the password, sets up no first factor", async () => {
  const login = await makePupil();
  const browser = makeBrowser(service.url);
  await signIn(browser, login);
  const change = (part: object) =>
    service.db.prisma.$executeRaw`UPDATE oidc_artifact SET payload = payload || ${JSON.stringify(part)}::jsonb
      WHERE kind = 'Session' AND person_id = (SELECT person_id FROM credential
        WHERE username = ${login.username})`;
  await change({ loginTs: Math.floor(Date.now() / 1000) - 700 });
  const asked = await browser.open(`${setUpPath}/totp`);
  expect(new URL(asked.url).pathname).toBe("/sign-in");
  const shown = await browser.submit(asked, "/sign-in", login);
  expect(new URL(shown.url).pathname).toBe(`${setUpPath}/totp`);
  await change({ amr: ["card"] });
  expect((await browser.once(setUpPath)).headers.get("location")).toBe("/");
});

test("a form of another site, or of another person's page, changes nothing", async () => {
  const login = await makePupil();
  const { browser } = await enrol(login);
  for (const path of ["/totp", "/passkey", "/remove", "/codes"]) {
    const body = new URLSearchParams({ csrf: "x".repeat(43), id: "x" });
    const answer = await browser.once(`${setUpPath}${path}`, { method: "POST", body });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, setUpPath]);
  }
});

test("with another encryption key, and re-encrypted, an authenticator app goes on working", async () => {
  const [oldKey, newKey] = [Buffer.alloc(32, "old key"), Buffer.alloc(32, "new key")];
  const db = await testDatabase();
  const start = (...keys: Buffer[]) =>
    startService({ db, clock, env: { ENCRYPTION_KEYS: keys.map((key) => key.toString("base64")).join(",") } });
  const before = await start(oldKey);
  const make = makeMakers(db);
  const login = await giveLogin(db, await make.person({ school: await make.school() }));
  const { next } = await enrol(login, before);
  await before.close();
  await reEncryptSecrets({ db, keys: [newKey, oldKey], now: clock() });
  const after = await start(newKey);
  const browser = makeBrowser(after.url);
  await browser.submit(await signIn(browser, login), confirmPath, { code: next() });
  expect(await isSignedIn(browser)).toBe(true);
});

test("nothing secret is kept as it is", async () => {
  const login = await makePupil();
  const { secret, codes } = await enrol(login);
  const kept = [await service.db.prisma.secondFactor.findMany(), await service.db.prisma.recoveryCode.findMany()];
  const bytes = JSON.stringify(kept, (_key, value: unknown) =>
    typeof value === "bigint"
      ? String(value)
      : value instanceof Uint8Array
        ? Buffer.from(value).toString("latin1")
        : value,
  );
  expect(bytes).not.toContain(secret.replaceAll(" ", ""));
  for (const code of codes) expect(bytes).not.toContain(code);
  const audit = JSON.stringify(
    await service.db.prisma.audit.findMany({ where: { action: "second_factor_added" }, orderBy: { id: "asc" } }),
  );
  expect(audit).toContain("TOTP");
  expect(audit).not.toContain(secret.replaceAll(" ", ""));
});

test("required: staff set it up at their next sign-in and then go on; other people are not asked", async () => {
  const staffLogin = await makeTeacher();
  const login = await makePupil();
  const browser = makeBrowser(required.url);
  await service.db.prisma.secondFactor.deleteMany();
  const asked = await signIn(browser, staffLogin, "/admin");
  expect(new URL(asked.url).pathname).toBe(setUpPath);
  expect((await browser.once("/sign-in?return=%2Fadmin")).headers.get("location")).toBe(`${setUpPath}?return=%2Fadmin`);
  const { shown } = await setUpTotp(browser, clock, { next: "/admin" });
  expect(readRecoveryCodes(shown)).toHaveLength(10);
  expect(shown.html).toContain('href="/admin"');
  expect((await browser.once("/sign-in?return=%2Fadmin")).headers.get("location")).toBe("/admin");

  const pupil = makeBrowser(required.url);
  expect(new URL((await signIn(pupil, login)).url).pathname).toBe("/");
});

test("offered: staff without one are not asked", async () => {
  const login = await makeTeacher();
  const browser = makeBrowser(service.url);
  expect(new URL((await signIn(browser, login)).url).pathname).toBe("/");
});

test("a role that ends takes the duty with it", async () => {
  const login = await makeTeacher();
  const browser = makeBrowser(required.url);
  expect(new URL((await signIn(browser, login)).url).pathname).toBe(setUpPath);
  await required.db.prisma.staffRole.updateMany({ where: { role: "SCHOOL_ADMIN" }, data: { endsAt: clock() } });
  expect((await browser.once("/sign-in?return=%2Fadmin")).headers.get("location")).toBe("/admin");
});
