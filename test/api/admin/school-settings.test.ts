import { expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, refusalOf } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";

type WayIn = components["schemas"]["WayIn"];

const service = await startService();
const { db, clock } = service;
const make = makeMakers(db);
const [school, connected, other] = [await make.school(), await make.school(), await make.school()];
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school, connected] });
const secretary = await makeStaff(service, "SECRETARY", { schoolIds: [school] });
const stranger = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [other] });
const path = `/schools/${school}/way-in`;

const read = async (of = path) => (await admin.call("GET", of)).body as WayIn;
const put = (body: object, { call } = admin, of = path) => call("PUT", of, { body });

async function connect(state: "ON" | "OFF") {
  const credentials = { issuer: "https://own.example", clientId: state, clientSecret: "secret" };
  const body = { schoolId: connected, profile: "OIDC", name: "Own login", ...credentials };
  const { id } = (await admin.call("POST", "/upstream-connections", { body })).body as { id: string };
  await db.prisma.upstreamConnection.update({ where: { id }, data: { state, testedAt: clock() } });
}

test("a school accepts passwords and has no address until it says otherwise", async () => {
  expect(await read()).toEqual({ linkName: null, url: null, localPasswords: true, emergencyUntil: null });
  const { headers } = await admin.call("GET", path);
  const ifMatch = { "if-match": headers.get("etag")! };
  const body = { linkName: "goethe", localPasswords: true };
  const changed = await admin.call("PUT", path, { body, headers: ifMatch });
  expect([changed.status, await read()]).toEqual([
    204,
    { ...body, url: `${service.url}/s/goethe`, emergencyUntil: null },
  ]);
  expect(refusalOf(await admin.call("PUT", path, { body, headers: ifMatch }))).toEqual([412, "precondition_failed"]);
  expect(refusalOf(await put(body, stranger))).toEqual([404, "school_not_found"]);
  expect(refusalOf(await put(body, stranger, `/schools/${other}/way-in`))).toEqual([409, "link_name_taken"]);
  for (const linkName of ["Goethe", "a", "goethe-", "goethe gymnasium"])
    expect(refusalOf(await put({ linkName, localPasswords: true }))).toEqual([400, "invalid_request"]);
  const lines = await db.prisma.audit.findMany({
    where: { action: "way_in_changed", schoolId: school },
    orderBy: { id: "asc" },
  });
  const line = { actorId: `app:${admin.app.clientId}`, schoolId: school };
  expect(lines).toMatchObject([{ ...line, before: { linkName: null }, after: { linkName: "goethe" } }]);
});

test("passwords are switched off only beside a connection that is on, and accepted again for a day", async () => {
  const body = { linkName: null, localPasswords: false };
  const wayIn = `/schools/${connected}/way-in`;
  await connect("OFF");
  expect(refusalOf(await put(body, admin, wayIn))).toEqual([409, "school_has_no_connection"]);
  await connect("ON");
  expect((await put(body, admin, wayIn)).status).toBe(204);
  const emergency = `${wayIn}/emergency`;
  expect(refusalOf(await stranger.call("POST", emergency))).toEqual([404, "school_not_found"]);
  expect((await admin.call("POST", emergency)).status).toBe(204);
  const emergencyUntil = new Date(clock().getTime() + 86_400_000).toISOString();
  expect(await read(wayIn)).toEqual({ ...body, url: null, emergencyUntil });
  expect((await admin.call("DELETE", emergency)).status).toBe(204);
  expect((await read(wayIn)).emergencyUntil).toBeNull();
  await admin.call("POST", emergency);
  await db.prisma.schoolWayIn.update({ where: { schoolId: connected }, data: { emergencyUntil: clock() } });
  expect((await read(wayIn)).emergencyUntil).toBeNull();
  const lines = await db.prisma.audit.findMany({
    where: { action: { startsWith: "upstream_emergency" } },
    orderBy: { id: "asc" },
  });
  const [opened, closed] = ["upstream_emergency_opened", "upstream_emergency_closed"];
  expect(lines.map(({ action }) => action).sort()).toEqual([closed, opened, opened]);
});

const settingsPath = `/schools/${school}/sign-in-settings`;
const defaults = {
  userNameRule: "FIRST_DOT_LAST",
  passwordKind: "LETTERS",
  mustChangePassword: false,
  ownPasswordFromGrade: null,
  passkeys: true,
  passkeysFromGrade: null,
  pupilSessionHours: null,
  staffSessionHours: null,
  staySignedInDays: 0,
  staySignedInFromGrade: null,
  helpText: null,
};
const settings = {
  userNameRule: "FIRST_LAST_INITIAL",
  passwordKind: "WORDS",
  mustChangePassword: true,
  ownPasswordFromGrade: 5,
  passkeys: false,
  passkeysFromGrade: 9,
  pupilSessionHours: 4,
  staffSessionHours: 24,
  staySignedInDays: 30,
  staySignedInFromGrade: 10,
  helpText: "Frag Frau Sommer.\n\nRaum 12",
};

test("a school has defaults until it sets how its people sign in", async () => {
  const before = await secretary.call("GET", settingsPath);
  expect([before.status, before.body]).toEqual([200, defaults]);
  const headers = { "if-match": before.headers.get("etag")! };
  const put = await admin.call("PUT", settingsPath, { body: settings, headers });
  expect(put.status).toBe(204);
  const after = await secretary.call("GET", settingsPath);
  expect([after.body, after.headers.get("etag")]).toEqual([settings, put.headers.get("etag")]);

  const stale = await admin.call("PUT", settingsPath, { body: defaults, headers });
  expect(refusalOf(stale)).toEqual([412, "precondition_failed"]);
  expect((stale.body as { current: unknown }).current).toEqual(settings);
  const lines = await service.db.prisma.audit.findMany({
    where: { action: "sign_in_settings_set", schoolId: school },
    orderBy: { id: "asc" },
  });
  const actor = { actorId: `app:${admin.app.clientId}`, actorRole: "SCHOOL_ADMIN", schoolId: school };
  expect(lines).toMatchObject([{ ...actor, before: defaults, after: settings }]);
});

test("what is said of passkeys and sessions stays as it is for programs that do not know of it", async () => {
  const { userNameRule, passwordKind, mustChangePassword, ownPasswordFromGrade, helpText, ...later } = settings;
  const known = { userNameRule, passwordKind, mustChangePassword, ownPasswordFromGrade, helpText };
  const operator = await makeStaff(service, "OPERATOR");
  const path = `/schools/${await make.school()}/sign-in-settings`;
  expect((await operator.call("PUT", path, { body: settings })).status).toBe(204);
  expect((await operator.call("PUT", path, { body: known })).status).toBe(204);
  expect((await operator.call("GET", path)).body).toMatchObject(later);
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

test("no value is set that means nothing", async () => {
  const set = (given: object) => admin.call("PUT", settingsPath, { body: given });
  for (const [wrong, code] of [
    [{ ownPasswordFromGrade: 14 }, "invalid_request"],
    [{ passkeysFromGrade: 0 }, "invalid_request"],
    [{ pupilSessionHours: 13 }, "invalid_request"],
    [{ staffSessionHours: 0 }, "invalid_request"],
    [{ staySignedInDays: 31 }, "invalid_request"],
    [{ staySignedInDays: null }, "invalid_request"],
    [{ staySignedInFromGrade: 0 }, "invalid_request"],
    [{ userNameRule: "LAST" }, "invalid_request"],
    [{ helpText: "x".repeat(501) }, "invalid_request"],
    [{ helpText: " \n " }, "text_empty"],
    [{ helpText: "Hilfe\u202e" }, "text_unprintable"],
  ] as const)
    expect(refusalOf(await set({ ...settings, ...wrong })), JSON.stringify(wrong)).toEqual([400, code]);
});
