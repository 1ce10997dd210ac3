import { expect, test, beforeEach } from "vitest";
import { makePasswords } from "../../../src/accounts/index.ts";
import { setLogin } from "../../support/sign-ins.ts";
import { listHigherHolders } from "../../../src/staff/index.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { idsOf, makeStaff, refusalOf, type Sent, makeClassTeacher, type AdminClient } from "../../support/admin.ts";
import { interceptStatements } from "../../support/intercept.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { getUserTokens, giveLogin } from "../../support/token.ts";
import { giveRoleTo } from "../../support/portal.ts";
import type { PersonId } from "../../../src/directory/index.ts";

type Made = components["schemas"]["NamedLoginSecret"];

const service = await startService();
const { db } = service;
const make = makeMakers(db);
const school = await make.school({ schoolingLevel: "GRUNDSCHULE" });
const app = await make.app({ scopes: ["openid", "admin:read", "admin:write"] });
await make.grant({ app: app.clientId, school });
const secretary = await makeStaff(service, "SECRETARY", { schoolIds: [school] });
const words = /^([a-z]{4,8}-){2}[a-z]{4,8}[2-9]$/;

const named = (last: string) => ({ firstFull: "Kim", firstCall: "Kim", last });
const madeOf = ({ body }: Sent) => body as Made[];
const signsIn = (login: { username: string; password: string }) =>
  getUserTokens(service, app, login).then(
    () => true,
    (error: unknown) => {
      // The form again; anything else is no refusal of the password.
      expect(String(error)).toMatch(/\/interaction\/[^/]+\/login$/);
      return false;
    },
  );
const pathOf = (group: string) => `/groups/${group}/logins`;
const auditOf = (personId: string) =>
  db.prisma.audit.findMany({ where: { personId, action: "credential_set" }, orderBy: { id: "asc" } });

test("students of a class get their first passwords, as small children read them, each shown once", async () => {
  const group = await make.group({ school, name: "1a" });
  const [bea, abt] = [
    await make.person({ school, groups: [group], name: named("Bea") }),
    await make.person({ school, groups: [group], name: named("Abt") }),
  ];
  await make.person({ school, groups: [group], role: "TEACHER" });
  await make.person({ school, groups: [group], status: "SOFT_DELETED" });
  await setLogin(db, { personId: bea, username: "bea", password: "stays" }, { at: service.clock() });
  const headers = { "idempotency-key": "class-1a" };
  const body = { onlyMissing: true };
  const first = await secretary.call("POST", pathOf(group), { body, headers });
  const [login, ...others] = madeOf(first);
  expect([first.status, others]).toEqual([200, []]);
  const password = expect.stringMatching(words) as string;
  expect(login).toEqual({ personId: abt, name: named("Abt"), username: "kim.abt", password });
  expect([await signsIn(login!), await signsIn({ username: "bea", password: "stays" })]).toEqual([true, true]);
  const again = await secretary.call("POST", pathOf(group), { body, headers });
  expect([again.body, again.headers.get("idempotency-replayed")]).toEqual([first.body, "true"]);
  expect(madeOf(await secretary.call("POST", pathOf(group), { body }))).toEqual([]);

  const actor = { actorId: `app:${secretary.app.clientId}`, actorRole: "SECRETARY", schoolId: school };
  const lines = await auditOf(abt);
  expect(lines).toMatchObject([actor]);
  expect(JSON.stringify(lines)).not.toContain(login!.password);
  const all = await secretary.call("POST", pathOf(group), { body: { onlyMissing: false } });
  expect(madeOf(all).map(({ personId, username }) => [personId, username])).toEqual([
    [abt, "kim.abt"],
    [bea, "bea"],
  ]);
  expect([await signsIn(login!), await signsIn({ username: "bea", password: "stays" })]).toEqual([false, false]);
  for (const made of madeOf(all)) expect(await signsIn(made)).toBe(true);
});

test("a new password ends the sessions of who had one", async () => {
  const group = await make.group({ school });
  const person = await make.person({ school, groups: [group] });
  await getUserTokens(service, app, await giveLogin(db, person));
  const sessions = () => db.prisma.oidcArtifact.count({ where: { personId: person, kind: "Session" } });
  expect(await sessions()).toBe(1);
  await secretary.call("POST", pathOf(group), { body: { onlyMissing: false } });
  expect(await sessions()).toBe(0);
});

test("people of chosen roles at a school get passwords; who holds a higher staff role is left out", async () => {
  const other = await make.school();
  const office = await makeStaff(service, "SECRETARY", { schoolIds: [other] });
  const path = `/schools/${other}/logins`;
  const at = (role: "STUDENT" | "TEACHER" | "OTHER") => make.person({ school: other, role, name: named("Zett") });
  const [student, teacher, head] = [await at("STUDENT"), await at("TEACHER"), await at("OTHER")];
  await giveRoleTo(service, head, "SCHOOL_ADMIN", { schoolIds: [other] });
  const roles = ["TEACHER", "OTHER"];
  const made = await office.call("POST", path, { body: { onlyMissing: true, roles } });
  expect(madeOf(made)).toMatchObject([
    { personId: teacher, password: expect.stringMatching(/^[b-z2-9]{10}$/) as string },
  ]);
  expect(idsOf(await office.call("GET", `/people?school=${other}&has-login=false`))).toEqual(
    expect.arrayContaining([student, head]),
  );
  expect(refusalOf(await office.call("POST", path, { body: { onlyMissing: true } }))).toEqual([400, "invalid_request"]);
});

test("a class teacher makes them for the own classes; what is not reached is not there", async () => {
  const group = await make.group({ school });
  const foreign = await make.group({ school });
  const pupil = await make.person({ school, groups: [group] });
  const { call } = await makeClassTeacher(service, { school, groups: [group] });
  const body = { onlyMissing: true };
  expect(madeOf(await call("POST", pathOf(group), { body }))).toMatchObject([{ personId: pupil }]);
  expect(refusalOf(await call("POST", pathOf(foreign), { body }))).toEqual([404, "group_not_found"]);
});

test("the roles of all people are asked in one statement", async () => {
  const at = await make.school();
  await make.people({ school: at, count: 12, groups: [await make.group({ school: at })] });
  const asked: string[] = [];
  const watched = interceptStatements(db, (text) => Promise.resolve(void asked.push(text)));
  const origin = { at: service.clock() };
  const made = await makePasswords(
    watched,
    { schoolId: at, onlyMissing: false, roles: ["STUDENT"] },
    {
      origin,
      listRefused: (tx, personIds) => listHigherHolders(tx, { personIds, mine: [], now: origin.at }),
      finish: (_tx, all) => Promise.resolve(all),
    },
  );
  expect([made.length, asked.filter((text) => text.includes('"staff_role"')).length]).toEqual([12, 1]);
});

type Today = components["schemas"]["Today"];

const [home, guest, other] = [await make.school(), await make.school({ name: "Guest" }), await make.school()];
const office = (...schoolIds: (typeof home)[]) => makeStaff(service, "SECRETARY", { schoolIds });
const [atHome, atGuest, atOther] = [(await office(home)).call, (await office(guest)).call, (await office(other)).call];

let pupil: PersonId;
let path: string;

beforeEach(async () => {
  pupil = await make.person({ schools: [home, guest] });
  await giveLogin(db, pupil);
  path = `/people/${pupil}/login/password-request`;
});

const ask = (call: AdminClient, schoolId: string): Promise<Sent> => call("POST", path, { body: { schoolId } });
const open = async (call = atHome) => {
  const { atSchools } = (await call("GET", "/today")).body as Today;
  return atSchools!.passwordRequests.first.filter(({ id }) => id === pupil);
};
const actions = async (call: AdminClient) => {
  const { body } = await call("GET", `/audit?person=${pupil}`);
  return (body as { action: string }[]).map(({ action }) => action);
};

test("the home school finds who asks for a new password, once for a person and school", async () => {
  expect((await ask(atGuest, guest)).status).toBe(204);
  const [first] = await open();
  expect(first).toMatchObject({ schoolId: guest, schoolName: "Guest", requestedAt: service.clock().toISOString() });
  expect((await ask(atGuest, guest)).status).toBe(204);
  expect(await open()).toEqual([first]);
  expect(await open(atGuest)).toEqual([]);
  const admins = [home, guest].map(async (id) => (await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [id] })).call);
  for (const call of await Promise.all(admins))
    expect((await actions(call)).filter((action) => action === "password_requested")).toHaveLength(1);
});

test.each([
  ["a new password", () => atHome("POST", `/people/${pupil}/login/password`)],
  ["another login", () => atHome("PUT", `/people/${pupil}/login`, { body: { username: `name-${pupil}` } })],
  [
    "new passwords of the school",
    () => atHome("POST", `/schools/${home}/logins`, { body: { onlyMissing: false, roles: ["STUDENT"] } }),
  ],
  [
    "a card",
    () =>
      atHome("POST", `/schools/${home}/login-cards`, {
        body: { personIds: [pupil], newPasswords: true, withQr: false },
      }),
  ],
  ["a dismissal", () => atHome("DELETE", path)],
  ["the end of the time at the school that asked", () => atGuest("DELETE", `/people/${pupil}/schools/${guest}`)],
])("%s closes the request", async (_what, end) => {
  await ask(atGuest, guest);
  expect(await open()).toHaveLength(1);
  expect((await end()).status).toBeLessThan(300);
  expect(await open()).toEqual([]);
});

test("only a school where the person is a guest asks, and only the home school dismisses", async () => {
  expect(refusalOf(await ask(atHome, home))).toEqual([409, "home_school_asks"]);
  expect(refusalOf(await ask(atOther, other))).toEqual([404, "person_not_found"]);
  expect(refusalOf(await ask(atGuest, home))).toEqual([404, "school_not_found"]);
  expect(refusalOf(await ask((await office(guest, other)).call, other))).toEqual([404, "affiliation_not_found"]);
  expect((await ask(atGuest, guest)).status).toBe(204);
  expect(refusalOf(await atGuest("DELETE", path))).toEqual([403, "home_school_only"]);
  expect(await open()).toHaveLength(1);
});

test("only the chosen students of a group get new passwords, and nobody of another group", async () => {
  const [group, other] = [await make.group({ school, name: "3a" }), await make.group({ school, name: "3b" })];
  const of = (groups: (typeof group)[], role: "STUDENT" | "TEACHER" = "STUDENT") =>
    make.person({ school, groups, role });
  const [chosen, left, elsewhere, teacher] = [
    await of([group]),
    await of([group]),
    await of([other]),
    await of([group], "TEACHER"),
  ];
  const body = { onlyMissing: false, personIds: [chosen, elsewhere, teacher] };
  const { call } = await makeClassTeacher(service, { school, groups: [group] });
  const made = await call("POST", pathOf(group), { body });
  expect(madeOf(made).map(({ personId }) => personId)).toEqual([chosen]);
  expect([await auditOf(left), await auditOf(elsewhere), await auditOf(teacher)]).toEqual([[], [], []]);
});
