import { expect, test } from "vitest";
import { makeStaff, refusalOf, withoutRequest } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";

const service = await startService();
const make = makeMakers(service.db);
const school = await make.school();
const other = await make.school();
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const secretary = await makeStaff(service, "SECRETARY", { schoolIds: [school] });
const partner = await makeStaff(service, "PARTNER", { clientIds: [(await make.app()).clientId] });
const path = `/schools/${school}/sign-in-settings`;
const defaults = {
  userNameRule: "FIRST_DOT_LAST",
  passwordKind: "LETTERS",
  mustChangePassword: false,
  ownPasswordFromGrade: null,
  helpText: null,
};
const settings = {
  userNameRule: "FIRST_LAST_INITIAL",
  passwordKind: "WORDS",
  mustChangePassword: true,
  ownPasswordFromGrade: 5,
  helpText: "Frag Frau Sommer.\n\nRaum 12",
};

test("a school has defaults until it sets how its people sign in", async () => {
  const before = await secretary.call("GET", path);
  expect([before.status, before.body]).toEqual([200, defaults]);
  const headers = { "if-match": before.headers.get("etag")! };
  const put = await admin.call("PUT", path, { body: settings, headers });
  expect(put.status).toBe(204);
  const after = await secretary.call("GET", path);
  expect([after.body, after.headers.get("etag")]).toEqual([settings, put.headers.get("etag")]);

  const stale = await admin.call("PUT", path, { body: defaults, headers });
  expect(refusalOf(stale)).toEqual([412, "precondition_failed"]);
  expect((stale.body as { current: unknown }).current).toEqual(settings);
  const lines = await service.db.prisma.audit.findMany({ where: { action: "sign_in_settings_set" } });
  const actor = { actorId: `app:${admin.app.clientId}`, actorRole: "SCHOOL_ADMIN", schoolId: school };
  expect(lines).toMatchObject([{ ...actor, before: defaults, after: settings }]);
});

test("small children get words as passwords by default", async () => {
  const operator = await makeStaff(service, "OPERATOR");
  for (const [schoolingLevel, passwordKind] of [
    ["GRUNDSCHULE", "WORDS"],
    ["FOERDERSCHULE", "WORDS"],
    ["GYMNASIUM", "LETTERS"],
  ] as const) {
    await service.db.prisma.school.update({ where: { id: other }, data: { schoolingLevel } });
    const { body } = await operator.call("GET", `/schools/${other}/sign-in-settings`);
    expect(body).toEqual({ ...defaults, passwordKind });
  }
});

test("only who may change a school sets them, and no value that means nothing", async () => {
  const put = (client: typeof admin, given: object, at = path) => client.call("PUT", at, { body: given });
  expect(refusalOf(await put(secretary, settings))).toEqual([403, "role_forbids"]);
  expect(refusalOf(await partner.call("GET", path))).toEqual([403, "role_forbids"]);
  const foreign = await admin.call("GET", `/schools/${other}/sign-in-settings`);
  const unknown = await admin.call("GET", "/schools/a0000000-0000-4000-8000-0000000000ff/sign-in-settings");
  expect(refusalOf(foreign)).toEqual([404, "school_not_found"]);
  expect(withoutRequest(foreign)).toEqual(withoutRequest(unknown));
  expect(refusalOf(await put(admin, settings, `/schools/${other}/sign-in-settings`))).toEqual([
    404,
    "school_not_found",
  ]);
  for (const [wrong, code] of [
    [{ ownPasswordFromGrade: 14 }, "invalid_request"],
    [{ userNameRule: "LAST" }, "invalid_request"],
    [{ helpText: "x".repeat(501) }, "invalid_request"],
    [{ helpText: " \n " }, "text_empty"],
    [{ helpText: "Hilfe\u202e" }, "text_unprintable"],
  ] as const)
    expect(refusalOf(await put(admin, { ...settings, ...wrong })), JSON.stringify(wrong)).toEqual([400, code]);
});
