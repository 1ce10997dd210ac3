import { expect, test } from "vitest";
import type { PersonId } from "../../../src/directory/index.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, type AdminClient, refusalOf, makeClassTeacher } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { getUserTokens, giveLogin } from "../../support/token.ts";
import { giveRoleTo } from "../../support/portal.ts";
import type { StaffRoleName } from "../../../src/staff/index.ts";
import { makeBrowser } from "../../support/browser.ts";
import { setUpTotp } from "../../support/second-factor.ts";

type Schemas = components["schemas"];

const service = await startService();
const make = makeMakers(service.db);
const school = await make.school();
const otherSchool = await make.school();
const staffApp = await make.app({ scopes: ["openid", "admin:read", "admin:write"] });
await make.grant({ app: staffApp.clientId, school });
const operator = await makeStaff(service, "OPERATOR");
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const secretary = await makeStaff(service, "SECRETARY", { schoolIds: [school] });

const pathOf = (personId: PersonId | string) => `/people/${personId}`;
const roleForbids = [403, "role_forbids"];
const auditOf = (personId: PersonId, action: string) =>
  service.db.prisma.audit.findMany({ where: { personId, action }, orderBy: { id: "asc" } });
const actor = { actorId: `app:${secretary.app.clientId}`, actorRole: "SECRETARY" };

async function signsIn(login: { username: string; password: string }): Promise<boolean> {
  return getUserTokens(service, staffApp, login).then(
    () => true,
    () => false,
  );
}

async function hashOf(personId: PersonId): Promise<string> {
  const row = await service.db.prisma.credential.findUniqueOrThrow({ where: { personId } });
  return row.passwordHash!;
}

test("a person gets a user name and a password, shown once and in no audit line", async () => {
  const person = await make.person({ school });
  const path = `${pathOf(person)}/login`;
  expect(refusalOf(await secretary.call("GET", path))).toEqual([404, "login_not_found"]);
  const star = await secretary.call("PUT", path, { body: { username: "bo" }, headers: { "if-match": "*" } });
  expect([...refusalOf(star), (star.body as { current: unknown }).current]).toEqual([412, "precondition_failed", null]);
  const set = await secretary.call("PUT", path, { body: { username: " Bo.Muster " } });
  const { username, password } = set.body as Schemas["LoginSecret"];
  expect([set.status, username]).toEqual([200, "bo.muster"]);
  const read = await secretary.call("GET", path);
  const changedAt = service.clock().toISOString();
  const stored = { personId: person, username, hasPassword: true, changedAt, blockedAt: null, sessions: 0 };
  expect(read.body).toEqual({ ...stored, usesPassword: true, mayChangePassword: false, pictureCode: "NONE" });
  expect(set.headers.get("etag")).toBe(read.headers.get("etag"));
  const lines = await auditOf(person, "credential_set");
  expect(lines).toMatchObject([{ ...actor, before: null, after: stored }]);
  for (const secret of [password, await hashOf(person)]) expect(JSON.stringify(lines)).not.toContain(secret);
  expect(await signsIn({ username, password })).toBe(true);
  const signedIn = await secretary.call("GET", path);
  expect(signedIn.body).toMatchObject({ sessions: 1 });
  expect(signedIn.headers.get("etag")).toBe(read.headers.get("etag"));

  service.clock.forwardSeconds(1);
  const headers = { "if-match": read.headers.get("etag")! };
  const other = await secretary.call("PUT", path, { body: { username: "bo.other" }, headers });
  expect(other.status).toBe(200);
  const late = await secretary.call("PUT", path, { body: { username: "bo.late" }, headers });
  expect(refusalOf(late)).toEqual([412, "precondition_failed"]);
  const {
    mayChangePassword: _setting,
    usesPassword: _rule,
    pictureCode: _pictures,
    ...current
  } = (await secretary.call("GET", path)).body as Schemas["Login"];
  expect((late.body as { current: unknown }).current).toEqual(current);
  expect(await signsIn({ username, password })).toBe(false);
  const taken = await make.person({ school });
  const sent = await secretary.call("PUT", `${pathOf(taken)}/login`, { body: { username: "BO.other" } });
  expect(refusalOf(sent)).toEqual([409, "username_taken"]);
  expect(refusalOf(await secretary.call("PUT", path, { body: { username: "  " } }))).toEqual([400, "text_empty"]);
});

test("a new password is made once for one key, ends what was signed in, and leaves the user name", async () => {
  const person = await make.person({ school });
  const path = `${pathOf(person)}/login/password`;
  expect(refusalOf(await secretary.call("POST", path))).toEqual([404, "login_not_found"]);
  const login = await giveLogin(service.db, person);
  expect(await signsIn(login)).toBe(true);
  const headers = { "idempotency-key": "a password" };
  const made = await secretary.call("POST", path, { headers });
  const hash = await hashOf(person);
  const again = await secretary.call("POST", path, { headers });
  expect([again.status, again.body, again.headers.get("idempotency-replayed")]).toEqual([200, made.body, "true"]);
  expect(await hashOf(person)).toBe(hash);
  const { username, password } = made.body as Schemas["LoginSecret"];
  expect(username).toBe(login.username);
  const read = await secretary.call("GET", `${pathOf(person)}/login`);
  expect([read.headers.get("etag"), read.body]).toMatchObject([made.headers.get("etag"), { sessions: 0 }]);
  expect([await signsIn(login), await signsIn({ username, password })]).toEqual([false, true]);
  const lines = await auditOf(person, "credential_set");
  expect(lines).toMatchObject([actor]);
  for (const secret of [password, hash]) expect(JSON.stringify(lines)).not.toContain(secret);
});

test("a person is signed out, blocked and unblocked; each leaves its audit line", async () => {
  const person = await make.person({ school });
  const login = await giveLogin(service.db, person);
  expect(await signsIn(login)).toBe(true);
  expect((await secretary.call("POST", `${pathOf(person)}/sign-out`)).status).toBe(204);
  expect((await secretary.call("GET", `${pathOf(person)}/login`)).body).toMatchObject({ sessions: 0 });
  expect(await auditOf(person, "person_signed_out")).toMatchObject([actor]);
  const block = `${pathOf(person)}/block`;
  expect(refusalOf(await secretary.call("DELETE", block))).toEqual([409, "person_not_blocked"]);
  const blocked = await secretary.call("POST", block);
  expect(blocked.status).toBe(204);
  expect(refusalOf(await secretary.call("POST", block))).toEqual([409, "person_blocked"]);
  expect(await signsIn(login)).toBe(false);
  const blockedAt = service.clock().toISOString();
  expect((await secretary.call("GET", `${pathOf(person)}/login`)).body).toMatchObject({ blockedAt });
  const by = { ...actor, before: { blockedAt: null }, after: { blockedAt } };
  expect(await auditOf(person, "person_blocked")).toMatchObject([by]);
  const stale = await secretary.call("DELETE", block, { headers: { "if-match": '"old"' } });
  expect(refusalOf(stale)).toEqual([412, "precondition_failed"]);
  expect((stale.body as { current: unknown }).current).toMatchObject({ id: person, blockedAt });
  const headers = { "if-match": blocked.headers.get("etag")! };
  expect((await secretary.call("DELETE", block, { headers })).status).toBe(204);
  expect(await signsIn(login)).toBe(true);
  const back = { ...actor, before: { blockedAt }, after: { blockedAt: null } };
  expect(await auditOf(person, "person_unblocked")).toMatchObject([back]);
});

const writes = [
  ["POST", "/soft-deletion", undefined],
  ["PATCH", "", { role: "OTHER" }],
  ["PUT", "/login", { username: "taken.over" }],
  ["POST", "/login/password", undefined],
  ["POST", "/sign-out", undefined],
  ["POST", "/block", undefined],
  ["DELETE", "/block", undefined],
] as const;

const send = (call: AdminClient, person: PersonId | string, [method, end, body]: (typeof writes)[number]) =>
  call(method, pathOf(person) + end, body === undefined ? {} : { body });

test("nobody changes, deletes or takes over the login of a person whose staff role goes beyond their own", async () => {
  const [head, office, chief] = [
    await make.person({ school }),
    await make.person({ school }),
    await make.person({ school }),
  ];
  await giveRoleTo(service, head, "SCHOOL_ADMIN", { schoolIds: [school, otherSchool] });
  await giveRoleTo(service, office, "SECRETARY", { schoolIds: [school] });
  await giveRoleTo(service, chief, "OPERATOR", {});
  for (const person of [head, office, chief]) await giveLogin(service.db, person);
  for (const write of writes)
    for (const [call, person] of [
      [secretary.call, head],
      [secretary.call, chief],
      [admin.call, chief],
      [admin.call, head],
    ] as const)
      expect(refusalOf(await send(call, person, write)), write[1]).toEqual(roleForbids);
  expect((await operator.call("POST", `${pathOf(head)}/block`)).status).toBe(204);
  expect(refusalOf(await secretary.call("DELETE", `${pathOf(head)}/block`))).toEqual(roleForbids);
  for (const { call } of [secretary, admin])
    expect((await call("POST", `${pathOf(office)}/login/password`)).status).toBe(200);
  expect((await operator.call("POST", `${pathOf(chief)}/login/password`)).status).toBe(200);
  expect((await operator.call("POST", `${pathOf(head)}/soft-deletion`)).status).toBe(204);
});

test("a class teacher gives new passwords to the students of their own groups only", async () => {
  const [own, other] = [await make.group({ school }), await make.group({ school })];
  const { personId: teacher, call } = await makeClassTeacher(service, { school, groups: [own] });
  const colleague = await make.person({ school, role: "TEACHER" });
  await make.membership({ group: own, person: colleague, role: "TEACHER" });
  const [mine, stranger] = [
    await make.person({ school, groups: [own] }),
    await make.person({ school, groups: [other] }),
  ];
  for (const person of [colleague, mine, stranger]) await giveLogin(service.db, person);
  expect((await call("GET", `${pathOf(mine)}/login`)).status).toBe(200);
  expect((await call("POST", `${pathOf(mine)}/login/password`)).status).toBe(200);
  expect(await auditOf(mine, "credential_set")).toMatchObject([
    { actorId: `person:${teacher}`, actorRole: "CLASS_TEACHER" },
  ]);
  for (const person of [stranger, colleague]) {
    expect(refusalOf(await call("GET", `${pathOf(person)}/login`))).toEqual([404, "person_not_found"]);
    expect(refusalOf(await call("POST", `${pathOf(person)}/login/password`))).toEqual([404, "person_not_found"]);
  }
  expect(refusalOf(await call("PUT", `${pathOf(mine)}/login`, { body: { username: "x" } }))).toEqual(roleForbids);
});

test("nobody changes a password that their school does not use", async () => {
  const place = await make.school();
  const teacher = await make.person({ school: place, role: "TEACHER" });
  await giveLogin(service.db, teacher);
  const mayChange = async () =>
    ((await operator.call("GET", `${pathOf(teacher)}/login`)).body as Schemas["Login"]).mayChangePassword;
  expect(await mayChange()).toBe(true);
  await service.db.prisma.schoolWayIn.create({ data: { schoolId: place, localPasswords: false } });
  expect(await mayChange()).toBe(false);
  const emergencyUntil = new Date(service.clock().getTime() + 60_000);
  await service.db.prisma.schoolWayIn.update({ where: { schoolId: place }, data: { emergencyUntil } });
  expect(await mayChange()).toBe(true);
});

const stranger = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [otherSchool] });

async function makeTeacher(role?: StaffRoleName) {
  const personId = await make.person({ school, role: "TEACHER" });
  const login = await giveLogin(service.db, personId);
  if (role !== undefined) await giveRoleTo(service, personId, role, { schoolIds: role === "OPERATOR" ? [] : [school] });
  const browser = makeBrowser(service.url);
  await browser.submit(await browser.open("/sign-in"), "/sign-in", login);
  const { secret } = await setUpTotp(browser, service.clock, { label: "Diensttelefon" });
  return { personId, login, browser, secret };
}

test("a school sees what its people have set up, without secrets", async () => {
  const { personId, secret } = await makeTeacher();
  const { status, body } = await secretary.call("GET", `${pathOf(personId)}/second-factors`);
  const now = service.clock().toISOString();
  expect([status, body]).toEqual([
    200,
    [{ id: expect.any(String) as string, kind: "TOTP", label: "Diensttelefon", createdAt: now, lastUsedAt: null }],
  ]);
  expect(JSON.stringify(body)).not.toContain(secret.slice(0, 4));
  expect(refusalOf(await stranger.call("GET", `${pathOf(personId)}/second-factors`))).toEqual([
    404,
    "person_not_found",
  ]);
});

test("for a lost phone an admin removes everything; the person's sign-ins end, and the password alone signs in again", async () => {
  const { personId, login, browser } = await makeTeacher("SECRETARY");
  expect(refusalOf(await secretary.call("DELETE", `${pathOf(personId)}/second-factors`))).toEqual([
    403,
    "role_forbids",
  ]);
  expect(refusalOf(await stranger.call("DELETE", `${pathOf(personId)}/second-factors`))).toEqual([
    404,
    "person_not_found",
  ]);
  expect((await admin.call("DELETE", `${pathOf(personId)}/second-factors`)).status).toBe(204);
  expect((await admin.call("GET", `${pathOf(personId)}/second-factors`)).body).toEqual([]);
  expect(await service.db.prisma.recoveryCode.count({ where: { personId } })).toBe(0);
  expect((await browser.open("/sign-in")).html).toContain('name="password"');
  const again = await browser.submit(await browser.open("/sign-in"), "/sign-in", login);
  expect(new URL(again.url).pathname).toBe("/");

  const actor = { actorId: `app:${admin.app.clientId}`, actorRole: "SCHOOL_ADMIN" };
  const audit = () => auditOf(personId, "second_factors_removed");
  expect(await audit()).toMatchObject([{ ...actor, detail: { factors: 1 } }]);
  expect((await admin.call("DELETE", `${pathOf(personId)}/second-factors`)).status).toBe(204);
  expect(await audit()).toHaveLength(1);
});

test("nobody removes those of somebody above them", async () => {
  const { personId } = await makeTeacher("OPERATOR");
  expect(refusalOf(await admin.call("DELETE", `${pathOf(personId)}/second-factors`))).toEqual([403, "role_forbids"]);
  expect(await service.db.prisma.secondFactor.count({ where: { personId } })).toBe(1);
});
