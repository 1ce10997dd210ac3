import { beforeEach, expect, test } from "vitest";
import { changeDirectory, deleteApp, setSignOn, setSync, withdrawGrant } from "../../../src/access/index.ts";
import {
  deleteGroup,
  removeMembership,
  restorePerson,
  softDeletePerson,
  updatePerson,
} from "../../../src/directory/index.ts";
import type { Change, GroupId, PersonId, SchoolId } from "../../../src/directory/index.ts";
import { forgetApp } from "../../../src/sign-on/index.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { basic, getAppToken, getUserTokens, giveLogin, postToken, type TestApp } from "../../support/token.ts";

const service = await startService();
const { db, clock } = service;
const make = makeMakers(db);

let [school, group, personId]: [SchoolId, GroupId, PersonId] = ["", "", ""] as never;
let app: TestApp;
let [accessToken, refreshToken] = ["", ""];

const change = (work: (change: Change) => Promise<unknown>) =>
  changeDirectory(db, { at: clock(), actorId: "school" }, work);
const askSelf = async () =>
  (
    await fetch(`${service.url}/idm/schulconnex/v1/person-info`, {
      headers: { authorization: `Bearer ${accessToken}` },
    })
  ).status;
const askUserinfo = async () =>
  (await fetch(`${service.url}/oauth2/userinfo`, { headers: { authorization: `Bearer ${accessToken}` } })).status;
const introspect = async () => {
  const response = await fetch(`${service.url}/oauth2/introspect`, {
    method: "POST",
    headers: basic(app),
    body: new URLSearchParams({ token: accessToken }),
  });
  return ((await response.json()) as { active: boolean }).active;
};
const grantGroups = (it: Change) =>
  setSignOn(it, { clientId: app.clientId, schoolId: school, signOn: { kind: "GROUPS", groups: [group] } });

beforeEach(async () => {
  school = await make.school();
  group = await make.group({ school });
  personId = await make.person({ school, groups: [group] });
  app = await make.app();
  await make.grant({ app: app.clientId, school, signOn: { kind: "GROUPS", groups: [group] }, groups: [group] });
  const tokens = await getUserTokens(service, app, await giveLogin(db, personId), {
    scopes: ["openid", "offline_access", "people:read"],
  });
  [accessToken, refreshToken] = [tokens.access_token, tokens.refresh_token!];
  expect([await askSelf(), await askUserinfo(), await introspect()]).toEqual([200, 200, true]);
});

test.each<[claim: string, work: (change: Change) => Promise<unknown>]>([
  [
    "the school lets nobody sign in any more",
    (it) => setSignOn(it, { clientId: app.clientId, schoolId: school, signOn: { kind: "NOBODY" } }),
  ],
  [
    "the school lets only teachers sign in",
    (it) => setSignOn(it, { clientId: app.clientId, schoolId: school, signOn: { kind: "ROLES", roles: ["TEACHER"] } }),
  ],
  ["the school withdraws the grant", (it) => withdrawGrant(it, { clientId: app.clientId, schoolId: school })],
  ["the person leaves the group that may", (it) => removeMembership(it, { groupId: group, personId })],
  ["the group that may is deleted", (it) => deleteGroup(it, { groupId: group })],
  ["the person is soft-deleted", (it) => softDeletePerson(it, { personId, restoreWindowDays: 30 })],
])("tokens of a person are refused at once when %s", async (_claim, work) => {
  await change(work);
  expect([await askSelf(), await askUserinfo(), await introspect()]).toEqual([401, 401, false]);
  expect((await postToken(service, app, { grant_type: "refresh_token", refresh_token: refreshToken })).status).toBe(
    400,
  );
});

test("a change that leaves the right to sign in leaves the tokens", async () => {
  await change((it) => updatePerson(it, { personId, role: "TEACHER" }));
  await change(grantGroups);
  expect(await askSelf()).toBe(200);
});

test("a restored person's token stays refused", async () => {
  await change((it) => softDeletePerson(it, { personId, restoreWindowDays: 30 }));
  await change((it) => restorePerson(it, { personId }));
  expect(await askSelf()).toBe(401);
});

test("an app's own tokens stay when a school switches sync off, and see nothing of it; they end with the app", async () => {
  const token = await getAppToken(service, app, ["schools:read"]);
  const listSchools = async () => {
    const response = await fetch(`${service.url}/idm/ep/v1/schools`, { headers: { authorization: `Bearer ${token}` } });
    return { status: response.status, body: (await response.json()) as unknown };
  };
  expect(await listSchools()).toMatchObject({ status: 200, body: [{ id: school }] });
  await change((it) => setSync(it, { clientId: app.clientId, schoolId: school, sync: false }));
  expect(await listSchools()).toEqual({ status: 200, body: [] });
  await deleteApp(db, app.clientId, { origin: { at: clock() }, forget: forgetApp });
  expect((await listSchools()).status).toBe(401);
});
