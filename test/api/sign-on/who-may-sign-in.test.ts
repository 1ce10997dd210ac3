import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { makeBrowser } from "../../support/browser.ts";
import { askFor, exchange, getUserTokens, giveLogin, signOn } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld();
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
