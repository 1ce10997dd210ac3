import { expect, test } from "vitest";
import { askingApps, changeDirectory } from "../../../src/access/index.ts";
import {
  deletePerson,
  joinSchool,
  setHomeSchool,
  softDeletePerson,
  type PersonId,
} from "../../../src/directory/index.ts";
import { forgetPerson } from "../../../src/accounts/index.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { idsOf, makeStaff, refusalOf } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { makeTestClock, startService } from "../../support/service.ts";

type Schemas = components["schemas"];
type DataRequest = Schemas["DataRequest"];

const clock = makeTestClock("2026-02-03T08:00:00Z");
const service = await startService({ clock });
const { db } = service;
const make = makeMakers(db);
const [school, other] = [await make.school(), await make.school()];
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const secretary = await makeStaff(service, "SECRETARY", { schoolIds: [school] });
const support = await makeStaff(service, "SUPPORT", { schoolIds: [school] });
const stranger = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [other] });
const operator = await makeStaff(service, "OPERATOR");
const origin = { at: clock(), actorId: "test" };
const on = (date: string) => ({ receivedOn: new Date(date), dueOn: new Date(date) });

async function record(personId: PersonId, body: object = { askedBy: "GUARDIAN" }, by = secretary) {
  const sent = await by.call("POST", `/people/${personId}/data-requests`, { body });
  expect(sent.status).toBe(201);
  return sent.body as DataRequest;
}
const update = ({ id }: Pick<DataRequest, "id">, body: object, by = admin) =>
  by.call("PATCH", `/data-requests/${id}`, { body });
const readToday = async ({ call } = admin) =>
  ((await call("GET", `/today?school=${school}`)).body as Schemas["Today"]).atSchools!.dataRequests;
/** By their actions: the clock stands, so that nothing says which was first. */
const linesOf = async (personId: PersonId) =>
  (
    await db.prisma.audit.findMany({
      where: { personId, action: { startsWith: "data_request" } },
      orderBy: { action: "desc" },
    })
  ).map(({ action, schoolId, detail, actorRole }) => ({ action, schoolId, detail, actorRole }));

test("a request is due a month after its receipt, exported and closed, and each step is in the audit", async () => {
  const personId = await make.person({ school });
  const made = await record(personId, { askedBy: "GUARDIAN", receivedOn: "2026-01-31" });
  expect(made).toMatchObject({ state: "OPEN", receivedOn: "2026-01-31", dueOn: "2026-02-28", daysLeft: 25 });
  expect(made.person).toMatchObject({ id: personId });
  expect((await admin.call("GET", `/people/${personId}/data`)).status).toBe(200);
  const { status, body } = await update(made, { outcome: "ANSWERED" });
  expect(status).toBe(200);
  const at = clock().toISOString();
  expect(body).toMatchObject({ state: "CLOSED", daysLeft: null, outcome: "ANSWERED", closedAt: at, exportedAt: at });
  expect((body as DataRequest).closedBy).toEqual({ role: "SCHOOL_ADMIN", name: null });
  expect((await admin.call("GET", `/data-requests/${made.id}`)).body).toEqual(body);
  expect(await linesOf(personId)).toEqual([
    { action: "data_request_recorded", schoolId: school, detail: { askedBy: "GUARDIAN" }, actorRole: "SECRETARY" },
    {
      action: "data_request_closed",
      schoolId: school,
      detail: { outcome: "ANSWERED", exportedAt: at },
      actorRole: "SCHOOL_ADMIN",
    },
  ]);
  expect(refusalOf(await update(made, { outcome: "REFUSED" }))).toEqual([409, "data_request_closed"]);
});

test("the time is extended once, within the first month", async () => {
  const personId = await make.person({ school });
  const made = await record(personId, { askedBy: "PERSON" });
  expect(made).toMatchObject({ receivedOn: "2026-02-03", dueOn: "2026-03-03", daysLeft: 28 });
  const { body } = await update(made, { extension: "COMPLEX" }, secretary);
  expect(body).toMatchObject({ dueOn: "2026-05-03", extension: "COMPLEX", extendedAt: clock().toISOString() });
  expect(refusalOf(await update(made, { extension: "MANY" }))).toEqual([409, "data_request_extended"]);
  const late = await record(personId, { askedBy: "PERSON", receivedOn: "2025-12-20" });
  expect(late.daysLeft).toBe(-14);
  expect(refusalOf(await update(late, { extension: "MANY" }))).toEqual([409, "data_request_overdue"]);
  expect((await update(late, { outcome: "WITHDRAWN" })).status).toBe(200);
});

test("an odd day, an update of two things and a change from an earlier state are refused", async () => {
  const personId = await make.person({ school });
  for (const [receivedOn, code] of [
    ["2026-02-04", "received_on_refused"],
    ["2025-01-01", "received_on_refused"],
    ["2025-11-31", "invalid_request"],
  ] as const) {
    const body = { askedBy: "PERSON", receivedOn };
    const sent = await secretary.call("POST", `/people/${personId}/data-requests`, { body });
    expect([receivedOn, ...refusalOf(sent)]).toEqual([receivedOn, 400, code]);
  }
  const made = await record(personId);
  for (const body of [{}, { extension: "MANY", outcome: "ANSWERED" }])
    expect(refusalOf(await update(made, body))).toEqual([400, "invalid_request"]);
  const headers = { "If-Match": (await admin.call("GET", `/data-requests/${made.id}`)).headers.get("etag")! };
  expect((await update(made, { extension: "MANY" })).status).toBe(200);
  const sent = await admin.call("PATCH", `/data-requests/${made.id}`, { body: { outcome: "REFUSED" }, headers });
  expect(sent.status).toBe(412);
});

test("staff of the home school read and change them; support reads; other schools do not know them", async () => {
  const personId = await make.person({ school });
  await changeDirectory(db, origin, (change) => joinSchool(change, { personId, schoolId: other }));
  const made = await record(personId);
  const list = async ({ call }: typeof admin, query: string) => call("GET", `/data-requests?${query}`);
  for (const by of [admin, secretary, support, operator])
    expect(idsOf(await list(by, `person=${personId}&state=OPEN`))).toEqual([made.id]);
  expect(idsOf(await list(admin, `person=${personId}&state=CLOSED`))).toEqual([]);
  expect(idsOf(await list(admin, `school=${school}`))).toContain(made.id);
  expect(refusalOf(await list(stranger, `person=${personId}`))).toEqual([403, "home_school_only"]);
  expect(refusalOf(await list(stranger, `school=${school}`))).toEqual([404, "school_not_found"]);
  expect(idsOf(await list(stranger, ""))).toEqual([]);
  expect(refusalOf(await stranger.call("GET", `/data-requests/${made.id}`))).toEqual([404, "data_request_not_found"]);
  expect(refusalOf(await update(made, { outcome: "ANSWERED" }, stranger))).toEqual([404, "data_request_not_found"]);
  expect(
    refusalOf(await stranger.call("POST", `/people/${personId}/data-requests`, { body: { askedBy: "PERSON" } })),
  ).toEqual([403, "home_school_only"]);
});

test("the school that was asked keeps the request, without the name of who has another home now", async () => {
  const personId = await make.person({ school });
  const made = await record(personId);
  await changeDirectory(db, origin, async (change) => {
    await joinSchool(change, { personId, schoolId: other });
    await setHomeSchool(change, { personId, schoolId: other });
  });
  const { status, body } = await stranger.call("GET", `/people/${personId}/data`);
  expect([status, (body as Schemas["PersonData"]).dataRequests]).toEqual([200, []]);
  const kept = { person: null, state: "OPEN", exportedAt: null };
  expect((await admin.call("GET", `/data-requests/${made.id}`)).body).toMatchObject(kept);
  expect((await update(made, { outcome: "REFUSED" })).status).toBe(200);
});

test("a person of the staff who is at no school has no school that could answer", async () => {
  const personId = await make.person({ school });
  await db.pool.query(
    "BEGIN; UPDATE person SET home_school_id = NULL WHERE id = '" +
      personId +
      "'; DELETE FROM affiliation WHERE person_id = '" +
      personId +
      "'; COMMIT",
  );
  const sent = await operator.call("POST", `/people/${personId}/data-requests`, { body: { askedBy: "PERSON" } });
  expect(refusalOf(sent)).toEqual([409, "no_home_school"]);
});

test("today counts open and overdue requests, those that are due first", async () => {
  await db.prisma.dataRequest.deleteMany();
  expect(await readToday()).toEqual({ count: 0, overdue: 0, first: [] });
  const personId = await make.person({ school });
  const [later, overdue] = [
    await record(personId),
    await record(personId, { askedBy: "AUTHORITY", receivedOn: "2025-12-20" }),
  ];
  const { count, overdue: late, first } = await readToday(secretary);
  expect([count, late, first.map(({ id }) => id)]).toEqual([2, 1, [overdue.id, later.id]]);
  await update(overdue, { outcome: "ANSWERED" });
  expect((await readToday()).count).toBe(1);
});

test("of a person who is deleted for good the request stays without them, and is swept in the end", async () => {
  const personId = await make.person({ school });
  const made = await record(personId);
  await changeDirectory(db, origin, async (change) => {
    await softDeletePerson(change, { personId, restoreWindowDays: 0 });
    await deletePerson(change, { personId, forget: askingApps(forgetPerson) });
  });
  expect((await admin.call("GET", `/data-requests/${made.id}`)).body).toMatchObject({
    person: null,
    askedBy: "GUARDIAN",
  });
  expect((await update(made, { outcome: "REFUSED" })).status).toBe(200);
  const closedAt = new Date(clock().getTime() - 1096 * 86_400_000);
  await db.prisma.dataRequest.update({ where: { id: made.id }, data: { closedAt } });
  const open = { id: crypto.randomUUID(), schoolId: school, askedBy: "PERSON", ...on("2020-01-01") } as const;
  await db.prisma.dataRequest.create({ data: open });
  await service.runJob("directory.sweepDataRequests");
  const ids = [made.id, open.id];
  expect((await db.prisma.dataRequest.findMany({ where: { id: { in: ids } } })).map(({ id }) => id)).toEqual([open.id]);
});
