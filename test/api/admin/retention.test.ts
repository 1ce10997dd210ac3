import { beforeEach, expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import type { PersonId } from "../../../src/directory/index.ts";
import { idsOf, makeStaff, refusalOf, nextPage, type AdminClient } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";

type Schemas = components["schemas"];

const service = await startService({
  env: { RETENTION_HOLD_PEOPLE: "2", RETENTION_HOLD_PERCENT: "10", RETENTION_LEFT_MONTHS_MAX: "12" },
});
const { db, clock, runJob } = service;
const make = makeMakers(db);
const { call: operator } = await makeStaff(service, "OPERATOR");
const start = clock();
beforeEach(() => clock.set(start));

const none = { leftMonths: null, inactiveMonths: null, restoreDays: null, auditDays: null };
const leftMonths = { value: 6, reason: "School law.", from: "LEAVING" };

async function makeSchool(wishes: Parameters<typeof make.school>[0] = {}) {
  const school = await make.school(wishes);
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const path = `/schools/${school}/retention`;
  const read = async (by: AdminClient = call) => (await by("GET", path)).body as Schemas["SchoolRetention"];
  const put = (body: object, headers = {}) => call("PUT", path, { body, headers });
  return { school, call, path, read, put };
}

/** A school whose policy soft-deletes three people when its notice is over, and a fourth later. */
async function makeLeavers(wishes: Parameters<typeof make.school>[0] = {}) {
  const made = await makeSchool(wishes);
  const people = await make.people({ school: made.school, count: 4 });
  const leave = (ids: PersonId[], leftAt: Date) =>
    db.prisma.person.updateMany({ where: { id: { in: ids } }, data: { leftAt } });
  await leave(people.slice(0, 3), new Date("2025-07-15T00:00:00Z"));
  await leave(people.slice(3), new Date("2025-12-20T00:00:00Z"));
  expect((await made.put({ ...none, leftMonths })).status).toBe(204);
  return { ...made, people };
}

test("a school sees what applies to it and from whom, and changes it within the limits", async () => {
  const { school, call, path, read, put } = await makeSchool();
  const before = await call("GET", path);
  expect(before.body).toMatchObject({
    policy: none,
    applied: { leftMonths: { value: 0, reason: null, origin: "SERVICE", from: "LEAVING" } },
    limits: { leftMonths: { min: 0, max: 12 }, auditDays: { min: 90, max: 400 } },
    noticeDays: 14,
    effectiveAt: null,
    heldAt: null,
    heldPeople: null,
  });
  const inactive = (value: number) => ({ inactiveMonths: { value, reason: "Unused.", includesRoster: false } });
  for (const [body, code] of [
    [{ leftMonths: { ...leftMonths, value: 13 } }, "retention_out_of_range"],
    [inactive(5), "retention_out_of_range"],
    [{ leftMonths: { ...leftMonths, reason: " " } }, "text_empty"],
  ] as const)
    expect(refusalOf(await put({ ...none, ...body }))).toEqual([400, code]);
  const headers = { "if-match": before.headers.get("etag")! };
  expect((await put({ ...none, ...inactive(0) }, headers)).status).toBe(204);
  expect(refusalOf(await put({ ...none, leftMonths }, headers))).toEqual([412, "precondition_failed"]);
  expect((await put({ ...none, leftMonths })).status).toBe(204);
  expect(await read()).toMatchObject({
    policy: { ...none, leftMonths },
    applied: { leftMonths: { ...leftMonths, origin: "SCHOOL" } },
    effectiveAt: new Date(clock().getTime() + 14 * 86_400_000).toISOString(),
  });
  const lines = await db.prisma.audit.findMany({
    where: { action: "retention_set", schoolId: school },
    orderBy: { id: "asc" },
  });
  expect(lines.map(({ after }) => after)).toContainEqual(expect.objectContaining({ leftMonths }));
  const other = await make.school();
  expect(refusalOf(await call("GET", `/schools/${other}/retention`))).toEqual([404, "school_not_found"]);
});

test("an operator sets the values of a state, which its schools have unless they set their own", async () => {
  const location = { country: "DE", state: "RP" };
  const [own, other] = [await makeSchool({ location }), await makeSchool({ location })];
  await own.put({ ...none, leftMonths });
  const state = "/retention/state?state=DE-RP";
  const before = await operator("GET", state);
  expect(before.body).toEqual(none);
  const headers = { "if-match": before.headers.get("etag")! };
  const body = { ...none, leftMonths: { value: 12, reason: "State law.", from: "SCHOOL_YEAR_END" } };
  const done = await operator("PUT", state, { body, headers });
  expect(done.status).toBe(204);
  expect(refusalOf(await operator("PUT", state, { body, headers }))).toEqual([412, "precondition_failed"]);
  const after = await operator("GET", state);
  expect([after.body, after.headers.get("etag")]).toEqual([body, done.headers.get("etag")]);
  expect((await other.read(operator)).applied.leftMonths).toEqual({ ...body.leftMonths, origin: "STATE" });
  expect((await own.read(operator)).applied.leftMonths).toEqual({ ...leftMonths, origin: "SCHOOL" });
  expect((await operator("GET", "/retention")).body).toMatchObject({
    defaults: { leftMonths: 0, inactiveMonths: 0, restoreDays: 30, auditDays: 400 },
    holdPeople: 2,
    holdPercent: 10,
    states: ["DE-RP"],
  });
  expect(refusalOf(await operator("GET", "/retention/state?state=rp"))).toEqual([400, "invalid_request"]);
});

test("a preview shows by school whom a policy soft-deletes now and later, and changes nothing", async () => {
  const location = { country: "DE", state: "SL" };
  const { school, call, path, read, people } = await makeLeavers({ name: "A", location });
  const other = await make.school({ name: "B", location });
  const first = people.slice(0, 3).toSorted();
  const preview = async (body: object) => {
    const found = await call("POST", `${path}/preview`, { body });
    expect(found.status).toBe(200);
    const { count, first: shown } = found.body as Schemas["RetentionPreview"];
    return [count.people, count.due, count.later, count.isHeld, shown.map(({ id }) => id).toSorted()];
  };
  // The policy that was set before has its notice.
  expect(await preview({ days: 13 })).toEqual([4, 0, 0, false, []]);
  expect(await preview({ days: 14 })).toEqual([4, 0, 3, false, first]);
  const policy = { ...none, leftMonths: { ...leftMonths, value: 2 } };
  expect(await preview({ days: 0, policy })).toEqual([4, 3, 0, true, first]);
  expect(await preview({ days: 30, policy })).toEqual([4, 3, 1, true, people.toSorted()]);
  const tooLong = { ...none, leftMonths: { ...leftMonths, value: 99 } };
  const refused = await call("POST", `${path}/preview`, { body: { days: 0, policy: tooLong } });
  expect(refusalOf(refused)).toEqual([400, "retention_out_of_range"]);
  expect((await read()).policy).toEqual({ ...none, leftMonths });

  const state = "/retention/state/preview?state=DE-SL";
  const counts = await operator("POST", `${state}&limit=1`, { body: { days: 14 } });
  expect(counts.body).toMatchObject([{ schoolId: school, schoolName: "A", people: 4, due: 0, later: 3 }]);
  expect((await operator("POST", nextPage(counts)!, { body: { days: 14 } })).body).toMatchObject([
    { schoolId: other, people: 0, due: 0, later: 0, isHeld: false },
  ]);
});

test("the list names whom the policy soft-deletes soon, page by page, and Today names them beforehand", async () => {
  const { school, call, path } = await makeLeavers();
  const first = await call("GET", `${path}/people?limit=2`);
  const second = await call("GET", nextPage(first)!);
  expect([idsOf(first).length, idsOf(second).length, second.headers.get("link")]).toEqual([2, 1, null]);
  expect(new Set([...idsOf(first), ...idsOf(second)]).size).toBe(3);
  expect(idsOf(await call("GET", `${path}/people?days=200`))).toHaveLength(4);
  const today = (await call("GET", "/today")).body as Schemas["Today"];
  expect(today.atSchools!.retentionSoon).toMatchObject({
    count: 3,
    first: [{ schoolId: school, cause: "LEFT" }, {}, {}],
  });
  expect(today.atSchools!.retentionHolds.count).toBe(0);
});

test("staff keep somebody until a date, with a reason that is part of the person's data", async () => {
  const { call, path, people } = await makeLeavers();
  const [id] = people;
  const one = `/people/${id}/retention`;
  const exemption = { until: "2026-12-31", reason: "Repeats the final examination." };
  const put = (wishes = {}, headers = {}) =>
    call("PUT", `${one}/exemption`, { body: { ...exemption, ...wishes }, headers });
  const due = await call("GET", one);
  expect(due.body).toEqual({
    due: { cause: "LEFT", dueAt: "2026-02-17T08:00:00.000Z" },
    exemption: null,
  });
  expect(refusalOf(await call("DELETE", `${one}/exemption`))).toEqual([404, "exemption_not_found"]);
  for (const until of ["2026-02-02", "2028-03-01"])
    expect(refusalOf(await put({ until }))).toEqual([400, "exemption_date"]);
  const headers = { "if-match": due.headers.get("etag")! };
  expect((await put({}, headers)).status).toBe(204);
  expect(refusalOf(await put({}, headers))).toEqual([412, "precondition_failed"]);
  expect((await call("GET", one)).body).toMatchObject({
    due: { cause: "LEFT", dueAt: "2027-01-01T00:00:00.000Z" },
    exemption: { ...exemption, givenAt: clock().toISOString() },
  });
  const data = (await call("GET", `/people/${id}/data`)).body as Schemas["PersonData"];
  expect(data.exemption).toMatchObject(exemption);
  expect(idsOf(await call("GET", `${path}/people`))).toHaveLength(2);
  expect((await call("DELETE", `${one}/exemption`)).status).toBe(204);
  expect((await call("GET", one)).body).toMatchObject({ exemption: null });
});

test("a held run is on Today, and goes on when staff release just so many", async () => {
  const { school, path, read } = await makeLeavers();
  clock.set("2026-03-02T08:00:00Z");
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  await runJob("retention.softDelete");
  expect(await read(call)).toMatchObject({ heldAt: clock().toISOString(), heldPeople: 3 });
  const today = (await call("GET", "/today")).body as Schemas["Today"];
  expect(today.atSchools!.retentionHolds).toMatchObject({ count: 1, first: [{ schoolId: school, people: 3 }] });
  const release = (people: number) => call("POST", `${path}/release`, { body: { people } });
  expect(refusalOf(await release(2))).toEqual([409, "retention_not_confirmed"]);
  expect((await release(3)).status).toBe(204);
  expect(refusalOf(await release(3))).toEqual([409, "retention_not_held"]);
  await runJob("retention.softDelete");
  const list = await call("GET", `/people?school=${school}&status=SOFT_DELETED`);
  const [one] = list.body as [Schemas["AdminPerson"]];
  expect([idsOf(list).length, one.leftAt]).toEqual([3, "2025-07-15T00:00:00.000Z"]);
  expect((await call("POST", `/people/${one.id}/restoration`)).status).toBe(204);
  expect((await call("GET", `/people/${one.id}`)).body).toMatchObject({ status: "ACTIVE", leftAt: null });
});

test("a school's shorter period deletes older lines of its own audit log, and those of its imports", async () => {
  const { school, put } = await makeSchool();
  const other = await make.school();
  const at = new Date("2025-10-01T00:00:00Z");
  const old = (schoolId: string) => ({ id: crypto.randomUUID(), at, action: "school_updated", schoolId });
  await db.prisma.audit.createMany({ data: [old(school), old(other)] });
  const personId = await make.person({ school });
  const classes = { classesBefore: [], classesAfter: [] };
  await db.prisma.personImport.create({
    data: { ...classes, id: crypto.randomUUID(), at, personId, schoolId: school, importId: school, change: "CHANGED" },
  });
  expect((await put({ ...none, auditDays: { value: 90, reason: "Data economy." } })).status).toBe(204);
  await runJob("retention.sweepAudit");
  expect(
    (await db.prisma.audit.findMany({ where: { at }, orderBy: { id: "asc" } })).map(({ schoolId }) => schoolId),
  ).toEqual([other]);
  expect(await db.prisma.personImport.count({ where: { at } })).toBe(0);
  expect(await db.prisma.audit.count({ where: { action: "retention_set", schoolId: school } })).toBeGreaterThan(0);
});
