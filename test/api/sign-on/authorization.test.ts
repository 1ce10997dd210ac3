import { decodeJwt, decodeProtectedHeader } from "jose";
import { expect, test } from "vitest";
import { makeBrowser, readForm, type Shown } from "../../support/browser.ts";
import { askFor, exchange, getUserTokens, giveLogin, passPages, postToken, signOn } from "../../support/token.ts";
import { startService } from "../../support/service.ts";
import { startWorld } from "./world.ts";

const world = startWorld();

test("the answer to a form is 303, also if it leads to the app; that to a request of the app is 302", async () => {
  const { service, login } = world;
  const app = await world.app();
  const browser = makeBrowser(service.url);
  const { address } = askFor(service, app);
  const first = await browser.once(address, {});
  expect(first.status).toBe(302);
  // What was typed is not sent on by the redirect after a form (RFC 9700 4.12).
  const post = async (page: Shown, step: string, typed: Record<string, string> = {}) => {
    const { action, fields } = readForm(page, step);
    const posted = await browser.once(action, { method: "POST", body: new URLSearchParams({ ...fields, ...typed }) });
    expect([step, posted.status]).toEqual([step, 303]);
    return posted;
  };
  const signedIn = await post(await browser.open(first.headers.get("location")!), "/login", login);
  const posted = await post(await browser.open(signedIn.headers.get("location")!), "/consent");
  expect(posted.headers.get("location")).toContain(`${app.redirectUri}?code=`);
  const again = await browser.once(askFor(service, app).address, {});
  expect(again.status).toBe(302);
  expect(again.headers.get("location")).toContain(`${app.redirectUri}?code=`);
});

test("the answer to a form that leads to the app keeps how long the cookies of the form last", async () => {
  const { service, login } = world;
  const app = await world.app();
  await getUserTokens(service, app, login);
  const browser = makeBrowser(service.url);
  const { action, fields } = readForm(await browser.open(askFor(service, app).address), "/login");
  const body = new URLSearchParams({ ...fields, ...login });
  const { headers } = await browser.once(action, { method: "POST", body });
  expect(headers.get("location")).toContain(`${app.redirectUri}?code=`);
  const isLasting = (name: string) =>
    headers
      .getSetCookie()
      .find((cookie) => cookie.startsWith(`${name}=`))
      ?.includes("; expires=");
  expect(["_device", "_session"].map(isLasting)).toEqual([true, false]);
});

test("offline_access of an app that was not given it is an invalid scope", async () => {
  const app = await world.app({ scopes: ["openid", "profile"] });
  const { address } = askFor(world.service, app, { params: { scope: "openid offline_access" } });
  const response = await fetch(address, { redirect: "manual" });
  expect(new URL(response.headers.get("location")!).searchParams.get("error")).toBe("invalid_scope");
});

test("two tabs at the login page both come through, also when another person signs in at the second", async () => {
  const { service, login, make, school } = world;
  const [app, second] = [await world.app(), await world.app()];
  const other = await giveLogin(service.db, await make.person({ school }));
  for (const next of [login, other]) {
    const browser = makeBrowser(service.url);
    const tabs = [
      await browser.open(askFor(service, app).address),
      await browser.open(askFor(service, second).address),
    ] as const;
    expect((await passPages(browser, tabs[0], login)).url).toContain("code=");
    expect((await passPages(browser, tabs[1], next)).url).toContain("code=");
  }
});

test("a person signs on: pages, code, tokens with exactly the promised claims", async () => {
  const { service, login, pupil } = world;
  const app = await world.app();
  const signedOn = await signOn(service, app, login, { scopes: ["openid"] });
  expect(`${signedOn.back.origin}${signedOn.back.pathname}`).toBe(app.redirectUri);
  expect([...signedOn.back.searchParams.keys()].sort()).toEqual(["code", "iss", "state"]);
  expect(signedOn.back.searchParams.get("state")).toBe(signedOn.asked.state);
  expect(signedOn.back.searchParams.get("iss")).toBe(service.url);

  const { status, body } = await exchange(service, app, signedOn);
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { token_type: "bearer", expires_in: 3600, scope: "openid" },
  });
  expect(Object.keys(body).sort()).toEqual(["access_token", "expires_in", "id_token", "scope", "token_type"]);
  const claims = decodeJwt(body.id_token!);
  const names = "at_hash aud auth_time exp iat iss jti nonce rat sid sub";
  expect(Object.keys(claims).sort().join(" ")).toBe(names);
  expect(claims).toMatchObject({ iss: service.url, aud: [app.clientId], sub: pupil, nonce: signedOn.asked.nonce });
  expect(decodeProtectedHeader(body.id_token!).alg).toBe("RS256");
});

test("an app that only signs people in names a person by its own id, from the first sign-in on", async () => {
  const { service, make } = world;
  const school = await make.school();
  const app = await make.app({ subjectType: "APP" });
  await make.grant({ app: app.clientId, school, sync: false });
  const personId = await make.person({ school });
  const login = await giveLogin(service.db, personId);
  const first = await getUserTokens(service, app, login);
  const again = await exchange(service, app, await signOn(service, app, login, { browser: first.browser }));
  const own = await service.db.prisma.pairwiseId.findFirst({ where: { personId, recordId: personId } });
  expect(own!.id).not.toBe(personId);
  for (const token of [first.id_token, again.body.id_token]) expect(decodeJwt(token!).sub).toBe(own!.id);
});

const allClaims = ["openid", "profile", "role", "school", "groups"] as const;

test("a person whose school grants no access is told so, and the app gets access_denied", async () => {
  const { service, login, make } = world;
  const app = await make.app();
  const browser = makeBrowser(service.url);
  const refused = await browser.submit(await browser.open(askFor(service, app).address), "/login", login);
  expect(refused.status).toBe(403);
  const back = new URL((await browser.submit(refused, "/cancel")).url).searchParams;
  expect([back.get("error"), back.get("code")]).toEqual(["access_denied", null]);
  const none = await browser.open(askFor(service, app, { params: { prompt: "none" } }).address);
  expect(new URL(none.url).searchParams.get("error")).toBe("access_denied");
  const { rows } = await service.db.pool.query(
    "SELECT detail FROM audit WHERE action = 'sign_in_refused' AND client_id = $1",
    [app.clientId],
  );
  expect(rows[0]).toEqual({ detail: { reason: "no_grant" } });
});

test("a soft-deleted person cannot sign in", async () => {
  const { service, make, school } = world;
  const app = await world.app();
  const gone = await giveLogin(service.db, await make.person({ school, status: "SOFT_DELETED" }));
  const browser = makeBrowser(service.url);
  const shown = await browser.submit(await browser.open(askFor(service, app).address), "/login", gone);
  expect(shown.status).toBe(403);
});

test("claims follow the scopes, and what does not exist is null", async () => {
  const { service, make } = world;
  const app = await make.app();
  const school = await make.school({ schoolingLevel: null });
  const [shown, hidden] = [await make.group({ school, name: "5a" }), await make.group({ school })];
  await make.grant({ app: app.clientId, school, groups: [shown] });
  const person = await make.person({ school, name: null, role: "OTHER", groups: [shown, hidden] });
  const login = await giveLogin(service.db, person);
  const { id_token, access_token } = await getUserTokens(service, app, login, { scopes: allClaims });
  const expected = {
    name: null,
    given_name: null,
    call_name: null,
    family_name: null,
    role: "OTHER",
    school,
    school_location: { country: "DE", state: "NI" },
    schooling_level: null,
    groups: [{ id: shown, name: "5a" }],
  };
  expect(decodeJwt(id_token!)).toMatchObject(expected);
  const userinfo = await fetch(`${service.url}/oauth2/userinfo`, {
    headers: { authorization: `Bearer ${access_token}` },
  });
  expect(await userinfo.json()).toMatchObject({ sub: person, ...expected });
});

test("a person of several schools chooses once, and the choice is remembered for the app", async () => {
  const { service, make } = world;
  const app = await make.app();
  const schools = [await make.school(), await make.school()] as const;
  for (const school of schools) await make.grant({ app: app.clientId, school });
  const login = await giveLogin(service.db, await make.person({ schools: [...schools] }));
  const browser = makeBrowser(service.url);
  const asked = askFor(service, app, { scopes: ["openid", "school"] });
  const choose = await browser.submit(await browser.open(asked.address), "/login", login);
  expect(choose.html).toContain(schools[1]);
  const consent = await browser.submit(choose, "/school", { schoolId: schools[1] });
  const back = new URL((await browser.submit(consent, "/consent")).url);
  const { body } = await exchange(service, app, { browser, asked, back });
  expect(decodeJwt(body.id_token!)["school"]).toBe(schools[1]);
  const again = await getUserTokens(service, app, login, { scopes: ["openid", "school"] });
  expect(decodeJwt(again.id_token!)["school"]).toBe(schools[1]);
});

test("a wrong school is changed on the consent page, under My account, and by withdrawing the consent", async () => {
  const { service, make } = world;
  const app = await make.app({ name: "Lernapp" });
  const schools = [await make.school({ name: "Goethe-Gymnasium" }), await make.school({ name: "Waldschule" })] as const;
  for (const school of schools) await make.grant({ app: app.clientId, school });
  const login = await giveLogin(service.db, await make.person({ schools: [...schools] }));
  const browser = makeBrowser(service.url);
  const open = () => browser.open(askFor(service, app, { scopes: ["openid", "school"] }).address);
  const isAsked = ({ html }: Shown) => /action="[^"]*\/school"/.test(html);
  const choose = (page: Shown, school: string) => browser.submit(page, "/school", { schoolId: school });

  const wrong = await choose(await browser.submit(await open(), "/login", login), schools[0]);
  expect(wrong.html).toContain("Deine Schule</strong> <span>Goethe-Gymnasium");
  const again = await browser.submit(wrong, "/other-school");
  expect(isAsked(again)).toBe(true);
  const right = await choose(again, schools[1]);
  expect(right.html).toContain("Deine Schule</strong> <span>Waldschule");
  await browser.submit(right, "/consent");

  const account = await browser.open("/account");
  expect(account.html).toContain("Gewählte Schule: Waldschule");
  await browser.submit(account, "/school-choices/" + app.clientId + "/withdraw");
  expect((await browser.open("/account")).html).not.toContain("Gewählte Schule");
  // The consent was given, so choosing the school ends the sign-on.
  const asked = await open();
  expect(isAsked(asked)).toBe(true);
  expect(new URL((await choose(asked, schools[0])).url).searchParams.has("code")).toBe(true);

  await browser.submit(await browser.open("/account"), "/consents/" + app.clientId + "/withdraw");
  expect(isAsked(await open())).toBe(true);
});

test("who has no other school is offered none", async () => {
  const { service, make } = world;
  const app = await make.app();
  const school = await make.school();
  await make.grant({ app: app.clientId, school });
  const login = await giveLogin(service.db, await make.person({ schools: [school, await make.school()] }));
  const browser = makeBrowser(service.url);
  const page = await browser.open(askFor(service, app, { scopes: ["openid", "school"] }).address);
  const consent = await browser.submit(page, "/login", login);
  expect(consent.html).not.toContain("/other-school");
  await browser.submit(consent, "/consent");
  expect((await browser.open("/account")).html).not.toContain("/school-choices/");
});

test("a school that does not grant the app cannot be chosen", async () => {
  const { service, make } = world;
  const app = await make.app();
  const schools = [await make.school(), await make.school(), await make.school()] as const;
  for (const school of schools.slice(0, 2)) await make.grant({ app: app.clientId, school });
  const login = await giveLogin(service.db, await make.person({ schools: [...schools] }));
  const browser = makeBrowser(service.url);
  const choose = await browser.submit(
    await browser.open(askFor(service, app, { scopes: ["openid", "school"] }).address),
    "/login",
    login,
  );
  expect(choose.html).not.toContain(schools[2]);
  expect((await browser.submit(choose, "/school", { schoolId: schools[2] })).html).toContain("/school");
});

test("every completed sign-on is recorded, also for people who lose the access later", async () => {
  const { service, login, pupil } = world;
  const app = await world.app();
  const signedOn = await signOn(service, app, login);
  const count = async () =>
    (await service.db.pool.query("SELECT FROM sign_in WHERE client_id = $1 AND person_id = $2", [app.clientId, pupil]))
      .rowCount;
  expect(await count()).toBe(0);
  await exchange(service, app, signedOn);
  expect(await count()).toBe(1);
  const { rows } = await service.db.pool.query(
    "SELECT action FROM audit WHERE client_id = $1 AND person_id = $2 ORDER BY id",
    [app.clientId, pupil],
  );
  expect(rows.map((row: { action: string }) => row.action).toSorted()).toEqual(["consent_given", "signed_in"]);
});

const marksOf = ({ headers }: { headers: Headers }) =>
  ["deprecation", "sunset", "link"].map((name) => headers.get(name));
const unmarked = [null, null, null];
const marked = (issuer: string) => [
  "@1796083200",
  "Tue, 01 Aug 2028 00:00:00 GMT",
  `<${issuer}/docs/sign-on-without-pkce>; rel="deprecation"; type="text/html", ` +
    `<${issuer}/docs/sign-on-without-pkce>; rel="sunset"; type="text/html"`,
];

test("every answer of a sign-on without PKCE says when it ends and where to read how to leave it", async () => {
  const { service, login } = world;
  const app = await world.app({ pkceRequired: false });
  const signedOn = await signOn(service, app, login, { pkce: false });
  const tokens = await exchange(service, app, signedOn);
  expect([tokens.status, marksOf(tokens)]).toEqual([200, marked(service.url)]);

  const { address } = askFor(service, app, { pkce: false });
  const toPages = await makeBrowser(service.url).once(address);
  expect([toPages.status, toPages.headers.get("location"), marksOf(toPages)]).toEqual([
    302,
    expect.stringContaining("/interaction/"),
    marked(service.url),
  ]);
  const back = await signedOn.browser.once(address);
  expect([back.status, back.headers.get("location"), marksOf(back)]).toEqual([
    302,
    expect.stringContaining("code="),
    marked(service.url),
  ]);
  const page = await fetch(`${service.url}/docs/sign-on-without-pkce`);
  expect(page.status).toBe(200);
});

test("the same app with PKCE, and its other tokens, are not marked", async () => {
  const { service, login } = world;
  const app = await world.app({ pkceRequired: false, scopes: ["openid", "people:read"] });
  const signedOn = await signOn(service, app, login);
  expect(marksOf(await exchange(service, app, signedOn))).toEqual(unmarked);
  expect(marksOf(await signedOn.browser.once(askFor(service, app).address))).toEqual(unmarked);
  const own = await postToken(service, app, { grant_type: "client_credentials" });
  expect([own.status, marksOf(own)]).toEqual([200, unmarked]);
});

test("an app that must use PKCE reads what to send, and no dates, because it never had the other way", async () => {
  const { service } = world;
  const shown = await makeBrowser(service.url).once(askFor(service, await world.app(), { pkce: false }).address);
  const back = new URL(shown.headers.get("location")!).searchParams;
  expect([back.get("error"), back.get("error_description")]).toEqual([
    "invalid_request",
    expect.stringMatching(/S256/),
  ]);
  expect(marksOf(shown)).toEqual(unmarked);
});

test("once the operator ends it, every app reads what to send, and signs on with it", async () => {
  const { db, clock } = world.service;
  const service = await startService({ db, clock, env: { SIGN_ON_WITHOUT_PKCE: "refused" } });
  const { login } = world;
  const app = await world.app({ pkceRequired: false });
  const refused = await makeBrowser(service.url).once(askFor(service, app, { pkce: false }).address);
  const back = new URL(refused.headers.get("location")!).searchParams;
  expect([back.get("error"), back.get("error_description")]).toEqual([
    "invalid_request",
    "PKCE is required: send code_challenge, the SHA-256 of a code_verifier in base64url, and code_challenge_method=S256",
  ]);
  expect(marksOf(refused)).toEqual(marked(service.url));
  expect((await getUserTokens(service, app, login)).token_type).toBe("bearer");
});

test("the dates alone refuse nothing", async () => {
  const { service, login } = world;
  const app = await world.app({ pkceRequired: false });
  service.clock.set("2029-01-01T00:00:00Z");
  expect((await getUserTokens(service, app, login, { pkce: false })).token_type).toBe("bearer");
});
