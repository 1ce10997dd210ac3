import { beforeEach, expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import type { PersonId } from "../../../src/directory/index.ts";
import { makeStaff, refusalOf, type AdminClient, type Sent } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { hashAllQuickly } from "../../support/quick-hash.ts";
import { startService } from "../../support/service.ts";
import { giveLogin } from "../../support/token.ts";

type Today = components["schemas"]["Today"];

hashAllQuickly();
const service = await startService();
const { db } = service;
const make = makeMakers(db);
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
