import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import type { Shown } from "../../support/browser.ts";
import { withoutChallenge } from "../../support/challenge.ts";
import { askFor, exchange, giveLogin, type TestApp } from "../../support/token.ts";
import { refuseAll, requestsOf, spoil, type TravellingBrowser } from "../../support/upstream-browser.ts";
import { withPrismaTransaction } from "../../../src/platform/database/db.ts";
import { openEmergencyIn } from "../../../src/upstream/index.ts";
import { readConfig } from "../../../src/config/index.ts";
import { loadSharedSecrets } from "../../../src/sign-on/protocol/keys/shared-secrets.ts";
import { listSessions } from "../../../src/sign-on/index.ts";
import { makeLoginHint } from "../../../src/sign-on/protocol/login-hint.ts";
import { headingOf, placeOf, pressLogin, startUpstreamWorld } from "./upstream-world.ts";

const world = startUpstreamWorld();
const button = (name = "IServ") => `Sign in with ${name} of `;

test("a pupil goes from the app over the school's link to the school's login, and back to the app", async () => {
  const { service, make } = world;
  const connected = await world.connect();
  const { school, linkName } = connected;
  const { personId, sub } = await world.makePupil({ school });
  const app = await make.app();
  await make.grant({ app: app.clientId, school });
  const browser = world.openBrowser();
  const asked = askFor(service, app, {
    scopes: ["openid", "profile"],
    params: { acr_values: "any", ui_locales: "en" },
  });
  const unknown = await browser.open(asked.address);
  expect(unknown.html).not.toContain(button());
  const page = await browser.open(`/s/${linkName.toUpperCase()}`);
  expect(placeOf(page)).toMatch(/^\/interaction\//);
  expect(page.html).toContain(button());
  const consent = await pressLogin(browser, page, connected);
  const back = await browser.submit(consent, "/consent");
  expect(back.url).toContain(`${app.redirectUri}?code=`);
  const { body } = await exchange(service, app, { browser, asked, back: new URL(back.url) });
  const claims = decodeJwt(body.id_token!);
  expect(claims.sub).toBe(personId);
  expect([claims["acr"], claims["amr"]]).toEqual(["urn:schultor:acr:upstream", undefined]);
  const session = await service.db.prisma.oidcArtifact.findFirstOrThrow({ where: { kind: "Session", personId } });
  expect(session.payload).toMatchObject({ amr: ["upstream"] });
  expect(session.upstreamSessionId).not.toBeNull();
  const link = await service.db.prisma.upstreamLink.findFirstOrThrow({ where: { personId } });
  expect(link).toMatchObject({ subject: sub, linkedBy: "RULE" });
});

test("the school is known from our own hint, from the last sign-in, and from a search; a hint that an app wrote names none", async () => {
  const { service, make } = world;
  const connected = await world.connect();
  const { school } = connected;
  const { personId } = await world.makePupil({ school });
  const login = await giveLogin(service.db, personId);
  const app = await make.app();
  await make.grant({ app: app.clientId, school });
  const withHint = (hint: string) => askFor(service, app, { params: { login_hint: hint } }).address;
  const { encryptionKeys } = readConfig({ NODE_ENV: "test" });
  const { loginHint } = await loadSharedSecrets(service.db, encryptionKeys, service.clock());
  const hint = makeLoginHint(loginHint, personId, app.clientId);
  expect((await world.openBrowser().open(withHint(hint))).html).toContain(button());
  for (const written of [personId, login.username])
    expect((await world.openBrowser().open(withHint(written))).html).not.toContain(button());

  const browser = world.openBrowser();
  const name = `Search ${school.slice(-12)}`;
  await service.db.prisma.school.update({ where: { id: school }, data: { name } });
  const first = await browser.open("/sign-in");
  const search = await browser.open(/href="(\/sign-in\/school[^"]*)"/.exec(first.html)![1]!.replaceAll("&amp;", "&"));
  expect(headingOf(search)).toBe("Find your school");
  const found = await browser.open(`/sign-in/school?q=${encodeURIComponent(`town ${school.slice(-12)}`)}`);
  expect(found.html).toContain(`${name}, Town`);
  const page = await browser.submit(found, "/chosen", { schoolId: school });
  expect(page.html).toContain(button() + name);
  const tiles = await pressLogin(browser, page, connected);
  expect([placeOf(tiles), tiles.status]).toEqual(["/", 200]);
  await browser
    .open("/oauth2/sessions/logout")
    .then((confirm) => browser.submit(confirm, "/confirm", { logout: "yes" }));
  expect((await browser.open("/sign-in")).html).toContain(button() + name);
});

test("the search of an address is limited, and needs two letters", async () => {
  const browser = world.openBrowser();
  expect((await browser.open("/sign-in/school?q=a")).html).toContain("no school");
  expect((await browser.open("/sign-in/school?q=%00%00")).status).toBe(200);
  const { service } = world;
  expect((await browser.once("/sign-in/school?q=xy")).status).toBe(200);
  await service.db.pool.query("UPDATE rate_limit SET full_at = full_at + interval '1 hour'");
  const last = await browser.once("/sign-in/school?q=xy");
  expect([last.status, Number(last.headers.get("retry-after")) > 0]).toEqual([429, true]);
  await service.db.pool.query("DELETE FROM rate_limit");
  expect((await browser.open("/s/unknown-school")).status).toBe(404);
});

test("where the school uses no passwords, a right one is told so and not counted, wrong ones look alike; its admins, and all in an emergency, use theirs", async () => {
  const { service, make } = world;
  const connected = await world.connect({ localPasswords: false });
  const { school, linkName } = connected;
  const [pupil, admin] = [await make.person({ school }), await make.person({ school, role: "OTHER" })];
  await world.giveStaffRole(admin, "SCHOOL_ADMIN", [school]);
  const [login, ofAdmin] = [await giveLogin(service.db, pupil), await giveLogin(service.db, admin)];
  const browser = world.openBrowser();
  const page = await browser.open(`/s/${linkName}`);
  expect(page.html).toContain(button());
  expect(page.html).not.toContain('name="password"');
  const others = await browser.open("/sign-in?other=");
  const answers = [];
  for (const fields of [
    { ...login, password: "wrong" },
    { username: "nobody.here", password: "wrong" },
  ]) {
    const { status, html } = await browser.submit(others, "/sign-in", fields);
    answers.push([status, withoutChallenge(html).replaceAll(/value="[^"]*"/g, "")]);
  }
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[0]![1]).toContain("Do you usually sign in with the login of");

  const counted = async () =>
    (await service.db.pool.query<{ tries: number }>("SELECT tries FROM wrong_password WHERE person_id = $1", [pupil]))
      .rows;
  expect(await counted()).toEqual([{ tries: 1 }]);
  const app = await make.app();
  // A browser that does not know the school.
  for (const start of ["/sign-in", askFor(service, app).address]) {
    const stranger = world.openBrowser();
    // More often than wrong passwords are free.
    for (let n = 0; n < 20; n++) {
      const form = await stranger.open(start);
      const told = await stranger.submit(form, start === "/sign-in" ? "/sign-in" : "/login", login);
      expect([told.status, told.html.includes("does not use this password to sign in")]).toEqual([403, true]);
      if (n > 0) continue;
      expect(told.html).toContain(button());
      expect(told.html).not.toMatch(/name="password"|Wrong username/);
    }
  }
  expect(await counted()).toEqual([{ tries: 1 }]);
  const { rows } = await service.db.pool.query("SELECT FROM sign_in_place WHERE person_id = $1", [pupil]);
  expect(rows).toEqual([]);

  expect(placeOf(await world.openBrowser().open("/sign-in"))).toBe("/sign-in");
  const mine = world.openBrowser();
  expect(placeOf(await mine.submit(await mine.open("/sign-in"), "/sign-in", ofAdmin))).not.toBe("/sign-in");

  await withPrismaTransaction(service.db, (tx) => openEmergencyIn(tx, school, { at: service.clock() }));
  expect((await browser.open("/sign-in")).html).toContain('name="password"');
  const again = await browser.submit(await browser.open("/sign-in"), "/sign-in", login);
  expect(placeOf(again)).toBe("/");
});

test("prompt, max_age and the language go to the school's login; the app's hint does not", async () => {
  const { service, make, provider } = world;
  const connected = await world.connect();
  const { school, linkName } = connected;
  await world.makePupil({ school });
  const app = await make.app();
  await make.grant({ app: app.clientId, school });
  const browser = world.openBrowser();
  const lastRequest = () => Object.fromEntries(requestsOf(provider).at(-1)!);
  await browser.open(`/s/${linkName}`);
  const ask = async (params: Record<string, string>) =>
    pressLogin(browser, await browser.open(askFor(service, app, { params }).address), connected);
  await ask({ login_hint: "somebody", ui_locales: "de fr" });
  expect(lastRequest()).toMatchObject({ ui_locales: "de fr", response_type: "code", code_challenge_method: "S256" });
  expect(Object.keys(lastRequest())).not.toEqual(expect.arrayContaining(["login_hint"]));
  expect(lastRequest()).not.toHaveProperty("prompt");
  const fresh = await ask({ prompt: "login", max_age: "300" });
  expect(lastRequest()).toMatchObject({ prompt: "login", max_age: "300" });
  expect(fresh.url).toContain("/interaction/");
});

test("on a shared device the login asks again who it is, and nothing outlives the browser", async () => {
  const { provider } = world;
  const connected = await world.connect();
  await world.makePupil(connected);
  const browser = world.openBrowser();
  const page = await browser.open(`/s/${connected.linkName}`);
  await pressLogin(browser, page, connected, { shared: "yes" });
  expect(requestsOf(provider).at(-1)!.get("prompt")).toBe("login");
  expect((await browser.open("/")).html).toContain("Signed in");
  const lasting = browser.setCookies().filter((line) => /expires=(?!Thu, 01 Jan 1970)/i.test(line));
  expect(lasting.map((line) => line.split("=")[0])).toEqual(["_last_sign_in"]);
});

/** From now on ID tokens say that the person signed in there so long ago. */
function tellAuthTime(secondsAgo: number | null): void {
  const { provider } = world;
  provider.after =
    secondsAgo === null
      ? null
      : async (path, body) => {
          if (path !== "/token") return body;
          const auth_time = Math.floor(Date.now() / 1000) - secondsAgo;
          return { ...body, id_token: await provider.sign({ ...decodeJwt(String(body["id_token"])), auth_time }) };
        };
}

test("the time of the sign-in at the school's login is that of the session here: an app's max_age asks there again", async () => {
  const { service, make, provider } = world;
  const connected = await world.connect();
  const { personId } = await world.makePupil(connected);
  const app = await make.app();
  await make.grant({ app: app.clientId, school: connected.school });
  const nineHours = 9 * 3600;
  const browser = world.openBrowser();
  await browser.open(`/s/${connected.linkName}`);
  tellAuthTime(nineHours);
  await pressLogin(browser, await browser.open("/sign-in"), connected);
  const enter = async (params: Record<string, string>, shown?: (page: Shown) => Promise<Shown>) => {
    const asked = askFor(service, app, { params });
    let page = await browser.open(asked.address);
    if (shown !== undefined) page = await shown(page);
    if (page.html.includes("/consent")) page = await browser.submit(page, "/consent");
    const { body } = await exchange(service, app, { browser, asked, back: new URL(page.url) });
    return Math.floor(Date.now() / 1000) - Number(decodeJwt(body.id_token!)["auth_time"]);
  };
  expect(await enter({})).toBeGreaterThanOrEqual(nineHours);
  const page = await browser.open(askFor(service, app, { params: { max_age: "300" } }).address);
  expect(placeOf(page)).toMatch(/^\/interaction\//);
  const refused = await pressLogin(browser, page, connected);
  expect(refused.html).toContain("INVALID_RESPONSE");
  expect(requestsOf(provider).at(-1)!.get("max_age")).toBe("300");
  const signIn = (shown: Shown) => pressLogin(browser, shown, connected);
  for (const [secondsAgo, atMost] of [
    [200, 260],
    // A clock there that is ahead.
    [-3600, 60],
  ] as const) {
    tellAuthTime(secondsAgo);
    const age = await enter({ max_age: "250", prompt: "login" }, (shown) => (tellAuthTime(0), signIn(shown)));
    expect([age >= 0, age < atMost]).toEqual([true, true]);
  }
  // The list of sessions says when the person came here.
  const [session] = await listSessions({ db: service.db, sessionSeconds: 36_000 }, { personId, now: service.clock() });
  expect(service.clock().getTime() - session!.since.getTime()).toBeLessThan(600_000);
  tellAuthTime(null);
});

test("staff whose sign-in at the school's login is hours old set up no second factor; the device may be shared", async () => {
  const { provider, service } = world;
  const connected = await world.connect();
  const { personId } = await world.makePupil({ school: connected.school, role: "TEACHER" });
  await world.giveStaffRole(personId, "SCHOOL_ADMIN", [connected.school]);
  const browser = world.openBrowser();
  await browser.open(`/s/${connected.linkName}`);
  tellAuthTime(9 * 3600);
  await pressLogin(browser, await browser.open("/sign-in"), connected, { shared: "yes" });
  const { expiresAt } = await service.db.prisma.oidcArtifact.findFirstOrThrow({ where: { kind: "Session", personId } });
  expect(expiresAt.getTime() - service.clock().getTime()).toBeGreaterThan(3_000_000);
  const asked = await browser.open("/sign-in/second-factor");
  expect(asked.url).toContain("again=1");
  const refused = await pressLogin(browser, asked, connected);
  expect(refused.html).toContain("INVALID_RESPONSE");
  expect(Object.fromEntries(requestsOf(provider).at(-1)!)).toMatchObject({ prompt: "login", max_age: "0" });
  tellAuthTime(0);
  const done = await pressLogin(browser, asked, connected);
  expect(placeOf(done)).toBe("/sign-in/second-factor");
  tellAuthTime(null);
});

const signOut = async (browser: TravellingBrowser) =>
  browser.submit(await browser.open("/oauth2/sessions/logout"), "/confirm", { logout: "yes" });

const ways: Record<string, (browser: TravellingBrowser, app: TestApp) => Promise<unknown>> = {
  "signing out": signOut,
  "signing out on a page of the portal": async (browser) =>
    browser.submit(await browser.submit(await browser.open("/account"), "/sign-out-here"), "/confirm", {
      logout: "yes",
    }),
  "an app's logout": (browser, app) =>
    browser
      .open(`/oauth2/sessions/logout?client_id=${app.clientId}`)
      .then((page) => browser.submit(page, "/confirm", { logout: "yes" })),
  "signing out after the session has ended": async (browser) => {
    await world.service.db.prisma.oidcArtifact.deleteMany({ where: { kind: "Session" } });
    await browser.open("/oauth2/sessions/logout");
  },
  "signing out everywhere": async (browser) => browser.submit(await browser.open("/account"), "/account/sign-out"),
  "ending the session in the list": async (browser) => browser.submit(await browser.open("/account"), "/end"),
  "switching the user": async (browser, app) => {
    const page = await browser.open(askFor(world.service, app, { params: { login_hint: "somebody.else" } }).address);
    await browser.submit(page, "/switch");
  },
};

/** A browser that left a session in one of these ways, and what it asked of the school's login last. */
async function leaveBy(leave: (browser: TravellingBrowser, app: TestApp) => Promise<unknown>) {
  const connected = await world.connect();
  const { personId } = await world.makePupil(connected);
  const app = await world.make.app();
  await world.make.grant({ app: app.clientId, school: connected.school });
  const browser = world.openBrowser();
  const prompt = () => requestsOf(world.provider).at(-1)!.get("prompt");
  const goThere = async (address = `/s/${connected.linkName}`) =>
    pressLogin(browser, await browser.open(address), connected);
  await goThere();
  expect(prompt()).toBeNull();
  await leave(browser, app);
  return { personId, prompt, goThere };
}

test.each(Object.entries(ways))("after %s the school's login asks who it is", async (_way, leave) => {
  const { prompt, goThere } = await leaveBy(leave);
  await goThere();
  expect(prompt()).toBe("login");
});

test("after signing out the school's login asks until somebody has come back, and no more then", async () => {
  const { provider, service } = world;
  const { personId, prompt, goThere } = await leaveBy(signOut);
  refuseAll(provider, "access_denied");
  await goThere();
  spoil(provider, null);
  await goThere("/sign-in?return=/account");
  expect(prompt()).toBe("login");
  const where = { kind: "Session", personId };
  expect(await service.db.prisma.oidcArtifact.count({ where })).toBe(1);
  await service.db.prisma.oidcArtifact.deleteMany({ where: { kind: "Session" } });
  await goThere("/sign-in?return=/admin");
  expect(prompt()).toBeNull();
});
