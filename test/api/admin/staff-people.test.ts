import { expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import { changeDirectory } from "../../../src/access/index.ts";
import { createPerson } from "../../../src/directory/index.ts";
import { makeStaff, refusalOf, type Sent } from "../../support/admin.ts";
import { makeBrowser } from "../../support/browser.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { giveLogin } from "../../support/token.ts";

type Schemas = components["schemas"];

const service = await startService();
const make = makeMakers(service.db);
const school = await make.school();
const { clientId } = await make.app();
const operator = await makeStaff(service, "OPERATOR");

const people = "/staff-people";
const name = { firstFull: "Zoe Maria", firstCall: "Zoe", last: "Probst" };
const create = (body: object, headers: Record<string, string> = {}) =>
  operator.call("POST", people, { body: { name, ...body }, headers });
const secretOf = ({ body }: Sent) => body as Schemas["LoginSecret"];
const listed = async (query = "") => (await operator.call("GET", people + query)).body as Schemas["StaffPerson"][];

test("an operator makes an account with a role: the first password is shown once, and kept in no audit line", async () => {
  const made = await create({ username: " Zoe.Probst ", role: "OPERATOR" }, { "idempotency-key": "zoe" });
  expect([made.status, secretOf(made).username]).toEqual([201, "zoe.probst"]);
  const { personId, password } = secretOf(made);
  expect(made.headers.get("location")).toBe(`/admin/v1/people/${personId}`);
  expect((await operator.call("GET", `/people/${personId}`)).body).toMatchObject({
    name,
    role: "OTHER",
    homeSchoolId: null,
    schools: [],
    username: "zoe.probst",
    hasLogin: true,
  });

  const again = await create({ username: " Zoe.Probst ", role: "OPERATOR" }, { "idempotency-key": "zoe" });
  expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
  expect(again.body).toEqual(made.body);

  const lines = await service.db.prisma.audit.findMany({ where: { personId }, orderBy: { id: "asc" } });
  expect(lines.map(({ action }) => action).sort()).toEqual(["credential_set", "person_created", "staff_role_given"]);
  for (const line of lines)
    expect(line).toMatchObject({ actorId: `app:${operator.app.clientId}`, actorRole: "OPERATOR" });
  expect(JSON.stringify(lines)).not.toContain(password);
});

test("who signs in with a first password chooses one of their own, and works as staff", async () => {
  const login = secretOf(await create({ username: "first.password", role: "OPERATOR" }));
  const browser = makeBrowser(service.url);
  const asked = await browser.submit(await browser.open("/sign-in"), "/sign-in", login);
  expect(asked.html).toContain('name="repeated"');
  const password = "a password of my own 17";
  await browser.submit(asked, "/sign-in/new-password", { password, repeated: password });
  expect((await browser.open("/admin/staff")).status).toBe(200);
});

test("accounts at no school are listed with their roles, page by page, and nobody else", async () => {
  await make.person({ school, role: "TEACHER", name: { ...name, last: "Zz-Listed" } });
  const names = ["Aa-Listed", "Bb-Listed", "Cc-Listed"];
  for (const last of names)
    await create({ name: { ...name, last }, username: last, role: "PARTNER", clientIds: [clientId] });
  const found = await listed("?search=listed");
  expect(found.map((person) => person.name!.last)).toEqual(names);
  expect(found[0]).toMatchObject({
    status: "ACTIVE",
    username: "aa-listed",
    hasLogin: true,
    blockedAt: null,
    purgeAt: null,
    roles: [{ role: "PARTNER", clientIds: [clientId], schoolIds: [] }],
  });
  const first = await operator.call("GET", `${people}?search=listed&limit=2`);
  const [, next] = /<\/admin\/v1(.*)>; rel="next"/.exec(first.headers.get("link")!)!;
  expect((await operator.call("GET", next!)).body).toMatchObject([{ name: { last: "Cc-Listed" } }]);
});

test("a role is refused as when it is given, and nothing of the account is made then", async () => {
  const missing = "019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a10";
  const refusals: [object, [number, string]][] = [
    [{ role: "PARTNER" }, [400, "role_scope_refused"]],
    [{ role: "DISTRICT", schoolIds: [missing] }, [404, "school_not_found"]],
    [{ role: "PARTNER", clientIds: ["missing"] }, [404, "app_not_found"]],
    [{ role: "SUPPORT", schoolIds: [school], reason: "Ticket 17" }, [400, "role_end_required"]],
  ];
  for (const [body, refusal] of refusals)
    expect(refusalOf(await create({ username: "refused", ...body }))).toEqual(refusal);
  expect(refusalOf(await create({ username: "  ", role: "OPERATOR" }))).toEqual([400, "text_empty"]);
  expect((await create({ username: "refused", role: "DISTRICT", schoolIds: [school] })).status).toBe(201);
  expect(refusalOf(await create({ username: "REFUSED", role: "OPERATOR" }))).toEqual([409, "username_taken"]);
});

test("a person at no school gets a new password, and changes it themselves", async () => {
  const personId = await changeDirectory(service.db, { at: service.clock() }, (change) =>
    createPerson(change, { schools: [], role: "OTHER", name }),
  );
  const login = await giveLogin(service.db, personId);
  const browser = makeBrowser(service.url);
  await browser.submit(await browser.open("/sign-in"), "/sign-in", login);
  expect((await browser.open("/sign-in/password")).html).toContain('name="repeated"');
  const given = await operator.call("POST", `/people/${personId}/login/password`);
  expect([given.status, secretOf(given).username]).toEqual([200, login.username]);
  expect((await operator.call("PUT", `/people/${personId}/login`, { body: { username: "renamed" } })).status).toBe(200);
});

test("an account is deleted and restored, and deleted for good with its roles and login", async () => {
  const { personId } = secretOf(await create({ username: "leaver", role: "PARTNER", clientIds: [clientId] }));
  expect((await operator.call("POST", `/people/${personId}/soft-deletion`)).status).toBe(204);
  expect(await listed("?search=leaver")).toMatchObject([{ status: "SOFT_DELETED", purgeAt: expect.any(String) }]);
  expect(await listed("?search=leaver&status=ACTIVE")).toEqual([]);
  expect((await operator.call("POST", `/people/${personId}/restoration`)).status).toBe(204);
  expect((await operator.call("POST", `/people/${personId}/soft-deletion`)).status).toBe(204);
  expect((await operator.call("DELETE", `/people/${personId}`)).status).toBe(204);
  await expectGone(personId);
});

async function expectGone(personId: string): Promise<void> {
  const { prisma } = service.db;
  const where = { where: { personId } };
  const counts = await Promise.all([
    ...[prisma.person.count({ where: { id: personId } }), prisma.credential.count(where)],
    ...[prisma.staffRole.count(where), prisma.audit.count(where), prisma.signIn.count(where)],
    ...[prisma.consent.count(where), prisma.oidcArtifact.count(where)],
  ]);
  expect(counts).toEqual(counts.map(() => 0));
}
