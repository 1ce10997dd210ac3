import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { askFor, exchange, giveLogin } from "../../support/token.ts";
import { requestsOf } from "../../support/upstream-browser.ts";
import { withPrismaTransaction } from "../../../src/platform/database/db.ts";
import { openEmergencyIn } from "../../../src/upstream/index.ts";
import { readConfig } from "../../../src/config/index.ts";
import { loadSharedSecrets } from "../../../src/sign-on/protocol/keys/shared-secrets.ts";
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
  let last = await browser.once("/sign-in/school?q=xy");
  for (let tries = 0; tries < 700 && last.status === 200; tries++) last = await browser.once("/sign-in/school?q=xy");
  expect([last.status, Number(last.headers.get("retry-after")) > 0]).toEqual([429, true]);
  await service.db.pool.query("DELETE FROM rate_limit");
  expect((await browser.open("/s/unknown-school")).status).toBe(404);
});

test("where the school uses no passwords, a right one is answered as a wrong one; its admins, and everybody in an emergency, may use theirs", async () => {
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
  for (const fields of [login, { ...login, password: "wrong" }, { username: "nobody.here", password: "wrong" }]) {
    const { status, html } = await browser.submit(others, "/sign-in", fields);
    answers.push([status, html.replaceAll(/value="[^"]*"/g, "")]);
  }
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
  expect(answers[0]![1]).toContain("Do you usually sign in with the login of");
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
