import { beforeEach, expect, test } from "vitest";
import { changeDirectory, setSignOn, setSync, withdrawGrant } from "../../src/access/index.ts";
import type { CalledUri, SignOnAudience } from "../../src/access/index.ts";
import { deleteGroup, removeMembership, updatePerson } from "../../src/directory/index.ts";
import type { Change, PersonId, SchoolId } from "../../src/directory/index.ts";
import { sequenceEvents } from "../../src/events/index.ts";
import { makeOperator, runHere } from "../cli/program.ts";
import { makeImporter } from "../imports/rosters.ts";
import { makeStaff } from "../support/admin.ts";
import { makeBrowser, type Browser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import {
  askFor,
  basic,
  getAppToken,
  getUserTokens,
  giveLogin,
  postToken,
  signOn,
  type Login,
  type TestApp,
  type TokenBody,
} from "../support/token.ts";

const service = await startService();
const { db } = service;
const make = makeMakers(db);
const { ask, refusal } = makeOperator(runHere({ DATABASE_URL: db.url }));

let school: SchoolId;
let pupil: PersonId;
let login: Login;
let app: TestApp;
let stolen: TokenBody & { browser: Browser };

const scopes = ["openid", "offline_access", "people:read"] as const;
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const statusOf = async (path: string, token: string) => (await fetch(service.url + path, bearer(token))).status;
const refresh = (token: string) => postToken(service, app, { grant_type: "refresh_token", refresh_token: token });

/** What somebody gets who stole the pupil's cookies and the app's tokens. */
async function attack(): Promise<Record<string, unknown>> {
  const { browser, access_token: token } = stolen;
  const [silent, tiles] = [
    await browser.open(askFor(service, app, { scopes }).address),
    await browser.open(`${service.url}/`),
  ];
  return {
    session: new URL(silent.url).searchParams.has("code"),
    tiles: tiles.html.includes("/oauth2/sessions/logout"),
    userinfo: await statusOf("/oauth2/userinfo", token),
    personInfo: await statusOf("/idm/schulconnex/v1/person-info", token),
    refresh: (await refresh(stolen.refresh_token!)).status,
  };
}

const everything = { session: true, tiles: true, userinfo: 200, personInfo: 200, refresh: 200 };
const nothing = { session: false, tiles: false, userinfo: 401, personInfo: 401, refresh: 400 };
const knownDevices = async () =>
  (await db.pool.query("SELECT FROM sign_in_place WHERE person_id = $1", [pupil])).rowCount;

beforeEach(async () => {
  school = await make.school();
  pupil = await make.person({ school, sourceSystemIdentifier: "p1" });
  login = await giveLogin(db, pupil);
  app = await make.app({ backchannelLogoutUri: "https://app.example/logout" as CalledUri });
  await make.grant({ app: app.clientId, school });
  stolen = await getUserTokens(service, app, login, { scopes });
});

test.each([
  ["a new password", () => ask("person", "set-login", pupil, "--username", login.username)],
  ["a sign-out by staff", () => ask("person", "sign-out", pupil)],
  ["a block", () => ask("person", "block", pupil)],
])("%s ends a stolen session, refresh token and access token, and forgets known devices", async (_what, end) => {
  expect(await knownDevices()).toBeGreaterThan(0);
  await end();
  expect(await attack()).toEqual(nothing);
  expect(await knownDevices()).toBe(0);
  expect((await db.pool.query("SELECT FROM oidc_artifact WHERE person_id = $1", [pupil])).rowCount).toBe(0);
});

test("a code that was not exchanged and a half-finished sign-in end too", async () => {
  const code = (await signOn(service, app, login, { scopes })).back.searchParams.get("code")!;
  const other = await make.app();
  await make.grant({ app: other.clientId, school });
  const atConsent = makeBrowser(service.url);
  const consent = await atConsent.submit(
    await atConsent.open(askFor(service, other, { scopes }).address),
    "/login",
    login,
  );
  expect(consent.html).toContain("/consent");
  await ask("person", "sign-out", pupil);
  expect(
    (await postToken(service, app, { grant_type: "authorization_code", code, redirect_uri: app.redirectUri })).status,
  ).toBe(400);
  expect((await atConsent.submit(consent, "/consent")).url).not.toContain("code=");
});

const { runJob } = service;
const notices = () => db.prisma.logoutNotice.findMany({ where: { personId: pupil }, select: { clientId: true } });
const importRoster = (...ids: string[]) => {
  const lines = ids.map((id) => `${id};student;Bo;Muster`);
  return makeImporter(db).run(["id;role;first_name;last_name", ...lines].join("\n"), { school });
};
const callAdmin = async (path: string) =>
  (await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] })).call("POST", `/people/${pupil}${path}`);

test.each([
  ["the admin API", () => callAdmin("/soft-deletion"), () => callAdmin("/restoration")],
  ["an import", () => importRoster("other"), () => importRoster("other", "p1")],
])("who was deleted and restored by %s signs in anew, and apps are told of the logout", async (_by, end, restore) => {
  await end();
  expect((await db.prisma.person.findUniqueOrThrow({ where: { id: pupil } })).status).toBe("SOFT_DELETED");
  expect(await attack()).toEqual(nothing);
  await runJob("sign-on.endSignIns");
  expect(await notices()).toEqual([{ clientId: app.clientId }]);
  expect(await knownDevices()).toBe(0);
  expect((await db.pool.query("SELECT FROM oidc_artifact WHERE person_id = $1", [pupil])).rowCount).toBe(0);
  await restore();
  expect((await db.prisma.person.findUniqueOrThrow({ where: { id: pupil } })).status).toBe("ACTIVE");
  expect(await attack()).toEqual(nothing);
  expect((await getUserTokens(service, app, login, { scopes })).access_token).toBeTruthy();
});

test("a restoration at once brings nothing back, and what begins then is not ended by the job that comes later", async () => {
  await ask("person", "soft-delete", pupil);
  await ask("person", "restore", pupil);
  expect(await attack()).toEqual(nothing);
  stolen = await getUserTokens(service, app, login, { scopes });
  await runJob("sign-on.endSignIns");
  expect(await attack()).toEqual(everything);
  expect(await notices()).toEqual([{ clientId: app.clientId }]);
  expect(await knownDevices()).toBeGreaterThan(0);
});

test("unblocking brings nothing back that ended, nor a session begun while blocked", async () => {
  await ask("person", "block", pupil);
  const browser = makeBrowser(service.url);
  const refused = await browser.submit(await browser.open(askFor(service, app, { scopes }).address), "/login", login);
  expect(refused.status).toBe(403);
  expect(refused.html).toContain("gesperrt");
  await ask("person", "unblock", pupil);
  expect(await attack()).toEqual(nothing);
  expect((await getUserTokens(service, app, login, { scopes })).access_token).toBeTruthy();
});

test("a client id is never given twice: the tokens and the change feed of a deleted app stay dead", async () => {
  const own = await getAppToken(service, app, ["people:read"]);
  await make.grant({ app: app.clientId, school, groups: [await make.group({ school })] });
  await sequenceEvents(db);
  const feed = async (token: string) => statusOf("/idm/ep/v1/changes", token);
  expect([await feed(own), await statusOf("/oauth2/userinfo", stolen.access_token)]).toEqual([200, 200]);
  await ask("app", "delete", app.clientId, "--yes");
  const again = ["app", "create", "--name", "Again", "--client-id", app.clientId];
  expect(await refusal(...again, "--redirect-uri", "https://app.example/callback")).toMatchObject({
    exitCode: 3,
    code: "client_id_retired",
  });
  expect([await feed(own), await statusOf("/oauth2/userinfo", stolen.access_token)]).toEqual([401, 401]);
  expect((await db.pool.query("SELECT FROM app_event WHERE client_id = $1", [app.clientId])).rowCount).toBe(0);
});

/** The pupil may sign in because of a group, and has tokens of the app. */
async function signInByGroup() {
  const group = await make.group({ school });
  await make.membership({ group, person: pupil });
  const setAudience = (signOn: SignOnAudience) => (it: Change) =>
    setSignOn(it, { clientId: app.clientId, schoolId: school, signOn });
  const ofGroup = setAudience({ kind: "GROUPS", groups: [group] });
  await change(ofGroup);
  stolen = await getUserTokens(service, app, login, { scopes });
  return { group, setAudience, ofGroup };
}
const change = (work: (change: Change) => Promise<unknown>) =>
  changeDirectory(db, { at: service.clock(), actorId: "school" }, work);
const introspect = async () => {
  const init = { method: "POST", headers: basic(app), body: new URLSearchParams({ token: stolen.access_token }) };
  return (await (await fetch(`${service.url}/oauth2/introspect`, init)).json()) as { active: boolean };
};

test("tokens are refused at once when the person may not sign in to the app any more, and stay when they may", async () => {
  const ends: Record<string, (by: Awaited<ReturnType<typeof signInByGroup>>) => (it: Change) => Promise<unknown>> = {
    "the school lets nobody sign in": ({ setAudience }) => setAudience({ kind: "NOBODY" }),
    "the school lets only teachers sign in": ({ setAudience }) => setAudience({ kind: "ROLES", roles: ["TEACHER"] }),
    "the person leaves the group":
      ({ group }) =>
      (it) =>
        removeMembership(it, { groupId: group, personId: pupil }),
    "the group is deleted":
      ({ group }) =>
      (it) =>
        deleteGroup(it, { groupId: group }),
    "the school withdraws the grant": () => (it) => withdrawGrant(it, { clientId: app.clientId, schoolId: school }),
  };
  for (const [what, makeEnd] of Object.entries(ends)) {
    const by = await signInByGroup();
    await change((it) => updatePerson(it, { personId: pupil, role: "TEACHER" }));
    await change(by.ofGroup);
    expect([what, await introspect()]).toMatchObject([what, { active: true }]);
    await change((it) => updatePerson(it, { personId: pupil, role: "STUDENT" }));
    await change(makeEnd(by));
    const { userinfo, personInfo, refresh: refreshed } = nothing;
    const refused = { session: false, userinfo, personInfo, refresh: refreshed };
    expect([what, await introspect(), await attack()]).toMatchObject([what, { active: false }, refused]);
  }
});

test("an app's own tokens stay when a school switches sync off, and see nothing of it", async () => {
  const token = await getAppToken(service, app, ["schools:read"]);
  const listSchools = async () => (await fetch(`${service.url}/idm/ep/v1/schools`, bearer(token))).json();
  expect(await listSchools()).toMatchObject([{ id: school }]);
  await change((it) => setSync(it, { clientId: app.clientId, schoolId: school, sync: false }));
  expect(await listSchools()).toEqual([]);
});
