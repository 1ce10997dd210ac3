import { expect, test } from "vitest";
import type { PersonId } from "../../../src/directory/index.ts";
import { type StaffRoleName } from "../../../src/staff/index.ts";
import { makeStaff, refusalOf } from "../../support/admin.ts";
import { makeBrowser } from "../../support/browser.ts";
import { makeMakers } from "../../support/make.ts";
import { setUpTotp } from "../../support/second-factor.ts";
import { startService } from "../../support/service.ts";
import { giveLogin } from "../../support/token.ts";
import { giveRoleTo } from "../../support/portal.ts";

const service = await startService();
const make = makeMakers(service.db);
const [school, other] = [await make.school(), await make.school()];
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const secretary = await makeStaff(service, "SECRETARY", { schoolIds: [school] });
const stranger = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [other] });

async function makeTeacher(role?: StaffRoleName) {
  const personId = await make.person({ school, role: "TEACHER" });
  const login = await giveLogin(service.db, personId);
  if (role !== undefined) await giveRoleTo(service, personId, role, { schoolIds: role === "OPERATOR" ? [] : [school] });
  const browser = makeBrowser(service.url);
  await browser.submit(await browser.open("/sign-in"), "/sign-in", login);
  const { secret } = await setUpTotp(browser, service.clock, { label: "Diensttelefon" });
  return { personId, login, browser, secret };
}

const pathOf = (personId: PersonId) => `/people/${personId}/second-factors`;

test("a school sees what its people have set up, without secrets", async () => {
  const { personId, secret } = await makeTeacher();
  const { status, body } = await secretary.call("GET", pathOf(personId));
  const now = service.clock().toISOString();
  expect([status, body]).toEqual([
    200,
    [{ id: expect.any(String) as string, kind: "TOTP", label: "Diensttelefon", createdAt: now, lastUsedAt: null }],
  ]);
  expect(JSON.stringify(body)).not.toContain(secret.slice(0, 4));
  expect(refusalOf(await stranger.call("GET", pathOf(personId)))).toEqual([404, "person_not_found"]);
});

test("for a lost phone an admin removes everything; the person's sign-ins end, and the password alone signs in again", async () => {
  const { personId, login, browser } = await makeTeacher("SECRETARY");
  expect(refusalOf(await secretary.call("DELETE", pathOf(personId)))).toEqual([403, "role_forbids"]);
  expect(refusalOf(await stranger.call("DELETE", pathOf(personId)))).toEqual([404, "person_not_found"]);
  expect((await admin.call("DELETE", pathOf(personId))).status).toBe(204);
  expect((await admin.call("GET", pathOf(personId))).body).toEqual([]);
  expect(await service.db.prisma.recoveryCode.count({ where: { personId } })).toBe(0);
  expect((await browser.open("/sign-in")).html).toContain('name="password"');
  const again = await browser.submit(await browser.open("/sign-in"), "/sign-in", login);
  expect(new URL(again.url).pathname).toBe("/");

  const actor = { actorId: `app:${admin.app.clientId}`, actorRole: "SCHOOL_ADMIN" };
  const audit = () => service.db.prisma.audit.findMany({ where: { personId, action: "second_factors_removed" } });
  expect(await audit()).toMatchObject([{ ...actor, detail: { factors: 1 } }]);
  expect((await admin.call("DELETE", pathOf(personId))).status).toBe(204);
  expect(await audit()).toHaveLength(1);
});

test("nobody removes those of somebody above them", async () => {
  const { personId } = await makeTeacher("OPERATOR");
  expect(refusalOf(await admin.call("DELETE", pathOf(personId)))).toEqual([403, "role_forbids"]);
  expect(await service.db.prisma.secondFactor.count({ where: { personId } })).toBe(1);
});
