import { beforeEach, expect, test } from "vitest";
import type { PersonId, SchoolId } from "../../../src/directory/index.ts";
import { makeStaff } from "../../support/admin.ts";
import type { Authenticator } from "../../support/authenticator.ts";
import { makeBrowser, type Shown } from "../../support/browser.ts";
import { makeMakers } from "../../support/make.ts";
import { makePasskey, useBy } from "../../support/passkey.ts";
import { startService } from "../../support/service.ts";
import { setSignInSettings } from "../../support/sign-ins.ts";
import { giveLogin } from "../../support/token.ts";

const service = await startService();
const { db, clock } = service;
const make = makeMakers(db);
const operator = await makeStaff(service, "OPERATOR");

let [from, to]: SchoolId[] = [];
let teacher: PersonId;
let authenticator: Authenticator;

beforeEach(async () => {
  [from, to] = [await make.school(), await make.school()];
  teacher = await make.person({ school: from!, role: "TEACHER" });
  authenticator = await makePasskey(service, await giveLogin(db, teacher));
});

async function signInBy(key = authenticator): Promise<Shown> {
  const browser = makeBrowser(service.url);
  return useBy(browser, await browser.open("/sign-in"), key);
}
const statusBy = async (key = authenticator): Promise<number> => (await signInBy(key)).status;
const setPasskeys = (schoolId: SchoolId, passkeys: boolean) =>
  setSignInSettings(db, { schoolId, passkeys, passkeysFromGrade: null }, { at: clock() });
const countOf = async (personId: PersonId): Promise<number[]> => [
  await db.prisma.secondFactor.count({ where: { personId } }),
  await db.prisma.recoveryCode.count({ where: { personId } }),
];
/** The schools whose audit logs tell that the passkey was used, in order. */
const usedAt = async () =>
  (
    await db.prisma.audit.findMany({
      where: { personId: teacher, action: "passkey_used" },
      orderBy: { id: "asc" },
    })
  ).map(({ schoolId }) => schoolId);

test("after a change of the home school the passkey goes on, by the rule and in the audit log of the new one", async () => {
  await setPasskeys(to!, false);
  expect(await statusBy()).toBe(200);
  const { status } = await operator.call("POST", `/people/${teacher}/move`, { body: { toSchoolId: to } });
  expect(status).toBe(204);
  expect(await statusBy()).toBe(403);
  await setPasskeys(to!, true);
  await setPasskeys(from!, false);
  expect(await statusBy()).toBe(200);
  expect(await usedAt()).toEqual([from, to]);
});

test("after a merger the passkey goes on by the rule of the school that remains, and after its withdrawal by the old one", async () => {
  await setPasskeys(to!, false);
  const merged = await operator.call("POST", `/schools/${from!}/mergers`, { body: { intoSchoolId: to } });
  expect(merged).toMatchObject({ status: 201, body: { state: "MERGED" } });
  expect(await statusBy()).toBe(403);
  await setPasskeys(to!, true);
  expect(await statusBy()).toBe(200);
  await setPasskeys(to!, false);
  const { id } = merged.body as { id: string };
  expect((await operator.call("DELETE", `/schools/${to!}/mergers/${id}`)).status).toBeLessThan(300);
  expect(await statusBy()).toBe(200);
  expect(await usedAt()).toEqual([to, from]);
});

test("of somebody deleted for good no passkey is left, and theirs is refused like one that nobody has", async () => {
  expect(await countOf(teacher)).toEqual([1, 10]);
  expect((await operator.call("POST", `/people/${teacher}/soft-deletion`)).status).toBe(204);
  expect([await statusBy(), await countOf(teacher)]).toEqual([422, [1, 10]]);
  expect((await operator.call("DELETE", `/people/${teacher}`)).status).toBe(204);
  expect([await statusBy(), await countOf(teacher)]).toEqual([422, [0, 0]]);
});

test("a restored person signs in with their passkey again", async () => {
  expect((await operator.call("POST", `/people/${teacher}/soft-deletion`)).status).toBe(204);
  expect(await statusBy()).toBe(422);
  expect((await operator.call("POST", `/people/${teacher}/restoration`)).status).toBeLessThan(300);
  expect(await statusBy()).toBe(200);
});

test("with the schools of a sandbox the passkeys of its people are deleted", async () => {
  const { clientId } = await make.app();
  const partner = await makeStaff(service, "PARTNER", { clientIds: [clientId] });
  const { body } = await partner.call("POST", `/apps/${clientId}/sandboxes`);
  const { sandbox, accounts } = body as {
    sandbox: { id: string };
    accounts: { kind: string; personId: PersonId; username: string; password: string }[];
  };
  const { personId, username, password } = accounts.find(({ kind }) => kind === "TEACHER")!;
  const key = await makePasskey(service, { username, password });
  expect([await statusBy(key), await countOf(personId)]).toEqual([200, [1, 10]]);
  expect((await partner.call("DELETE", `/sandboxes/${sandbox.id}`)).status).toBe(204);
  expect([await statusBy(key), await countOf(personId)]).toEqual([422, [0, 0]]);
});
