import { expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, refusalOf } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";

type WayIn = components["schemas"]["WayIn"];

const service = await startService();
const { db, clock } = service;
const make = makeMakers(db);
const [school, other] = [await make.school(), await make.school()];
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const secretary = await makeStaff(service, "SECRETARY", { schoolIds: [school] });
const stranger = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [other] });
const path = `/schools/${school}/way-in`;

const read = async () => (await secretary.call("GET", path)).body as WayIn;
const put = (body: object, { call } = admin, of = path) => call("PUT", of, { body });

async function connect(state: "ON" | "OFF") {
  const credentials = { issuer: "https://own.example", clientId: state, clientSecret: "secret" };
  const body = { schoolId: school, profile: "OIDC", name: "Own login", ...credentials };
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
  expect(refusalOf(await put(body, secretary))).toEqual([403, "role_forbids"]);
  expect(refusalOf(await put(body, stranger))).toEqual([404, "school_not_found"]);
  expect(refusalOf(await put(body, stranger, `/schools/${other}/way-in`))).toEqual([409, "link_name_taken"]);
  for (const linkName of ["Goethe", "a", "goethe-", "goethe gymnasium"])
    expect(refusalOf(await put({ linkName, localPasswords: true }))).toEqual([400, "invalid_request"]);
  const lines = await db.prisma.audit.findMany({ where: { action: "way_in_changed" } });
  const line = { actorId: `app:${admin.app.clientId}`, schoolId: school };
  expect(lines).toMatchObject([{ ...line, before: { linkName: null }, after: { linkName: "goethe" } }]);
});

test("passwords are switched off only beside a connection that is on, and accepted again for a day", async () => {
  const body = { linkName: null, localPasswords: false };
  await connect("OFF");
  expect(refusalOf(await put(body))).toEqual([409, "school_has_no_connection"]);
  await connect("ON");
  expect((await put(body)).status).toBe(204);
  const emergency = `${path}/emergency`;
  expect(refusalOf(await secretary.call("POST", emergency))).toEqual([403, "role_forbids"]);
  expect(refusalOf(await stranger.call("POST", emergency))).toEqual([404, "school_not_found"]);
  expect((await admin.call("POST", emergency)).status).toBe(204);
  const emergencyUntil = new Date(clock().getTime() + 86_400_000).toISOString();
  expect(await read()).toEqual({ ...body, url: null, emergencyUntil });
  expect((await admin.call("DELETE", emergency)).status).toBe(204);
  expect((await read()).emergencyUntil).toBeNull();
  await admin.call("POST", emergency);
  await db.prisma.schoolWayIn.update({ where: { schoolId: school }, data: { emergencyUntil: clock() } });
  expect((await read()).emergencyUntil).toBeNull();
  const lines = await db.prisma.audit.findMany({ where: { action: { startsWith: "upstream_emergency" } } });
  const [opened, closed] = ["upstream_emergency_opened", "upstream_emergency_closed"];
  expect(lines.map(({ action }) => action).sort()).toEqual([closed, opened, opened]);
});
