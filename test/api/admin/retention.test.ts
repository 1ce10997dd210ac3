import { expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import type { PersonId } from "../../../src/directory/index.ts";
import { idsOf, makeStaff, refusalOf, nextPage } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { makeTestClock, startService } from "../../support/service.ts";

type Schemas = components["schemas"];

const clock = makeTestClock();
const service = await startService({
  clock,
  env: { RETENTION_HOLD_PEOPLE: "2", RETENTION_HOLD_PERCENT: "10", RETENTION_LEFT_MONTHS_MAX: "12" },
});
const { db } = service;
const make = makeMakers(db);
const location = { country: "DE", state: "RP" };
const [school, other] = [await make.school({ name: "A", location }), await make.school({ name: "B", location })];
let [admin, secretary, operator] = await signInStaff();
const path = `/schools/${school}/retention`;
const { runJob } = service;

function signInStaff() {
  return Promise.all([
    makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] }),
    makeStaff(service, "SECRETARY", { schoolIds: [school] }),
    makeStaff(service, "OPERATOR"),
  ]);
}

const none = { leftMonths: null, inactiveMonths: null, restoreDays: null, auditDays: null };
const leftMonths = { value: 6, reason: "School law.", from: "LEAVING" };
const leave = (ids: readonly string[], leftAt: string) =>
  db.prisma.person.updateMany({ where: { id: { in: [...ids] } }, data: { leftAt: new Date(leftAt) } });
const read = async () => (await secretary.call("GET", path)).body as Schemas["SchoolRetention"];
const put = (body: object, headers = {}) => admin.call("PUT", path, { body, headers });

test("a school sees what applies to it and from whom, and changes it within the limits", async () => {
  const before = await secretary.call("GET", path);
  const headers = { "if-match": before.headers.get("etag")! };
  expect(before.body).toMatchObject({
    policy: none,
    applied: { leftMonths: { value: 0, reason: null, origin: "SERVICE", from: "LEAVING" } },
    limits: { leftMonths: { min: 0, max: 12 }, auditDays: { min: 90, max: 400 } },
    noticeDays: 14,
    effectiveAt: null,
    heldAt: null,
    heldPeople: null,
  });
  expect(refusalOf(await put({ ...none, leftMonths: { ...leftMonths, value: 13 } }))).toEqual([
    400,
    "retention_out_of_range",
  ]);
  const inactive = (value: number) => ({ value, reason: "Unused.", includesRoster: false });
  expect(refusalOf(await put({ ...none, inactiveMonths: inactive(5) }))).toEqual([400, "retention_out_of_range"]);
  expect((await put({ ...none, inactiveMonths: inactive(0) })).status).toBe(204);
  expect(refusalOf(await put({ ...none, leftMonths: { ...leftMonths, reason: " " } }))).toEqual([400, "text_empty"]);
  expect(refusalOf(await put({ ...none, leftMonths }, headers))).toEqual([412, "precondition_failed"]);
  expect((await put({ ...none, leftMonths })).status).toBe(204);
  expect(await read()).toMatchObject({
    policy: { ...none, leftMonths },
    applied: { leftMonths: { ...leftMonths, origin: "SCHOOL" } },
    effectiveAt: new Date(clock().getTime() + 14 * 86_400_000).toISOString(),
  });
  const lines = await db.prisma.audit.findMany({ where: { action: "retention_set", schoolId: school } });
  expect(lines.map(({ after }) => after)).toContainEqual(expect.objectContaining({ leftMonths }));
  expect(refusalOf(await admin.call("GET", `/schools/${other}/retention`))).toEqual([404, "school_not_found"]);
});

test("an operator sets the values of a state, which its schools have unless they set their own", async () => {
  const state = "/retention/state?state=DE-RP";
  const before = await operator.call("GET", state);
  expect([before.status, before.body]).toEqual([200, none]);
  const body = { ...none, leftMonths: { value: 12, reason: "State law.", from: "SCHOOL_YEAR_END" } };
  const headers = { "if-match": before.headers.get("etag")! };
  const done = await operator.call("PUT", state, { body, headers });
  expect(done.status).toBe(204);
  expect(refusalOf(await operator.call("PUT", state, { body, headers }))).toEqual([412, "precondition_failed"]);
  const after = await operator.call("GET", state);
  expect([after.body, after.headers.get("etag")]).toEqual([body, done.headers.get("etag")]);
  const appliedAt = async (id: string) =>
    ((await operator.call("GET", `/schools/${id}/retention`)).body as Schemas["SchoolRetention"]).applied.leftMonths;
  expect(await appliedAt(other)).toEqual({ ...body.leftMonths, origin: "STATE" });
  expect(await appliedAt(school)).toEqual({ ...leftMonths, origin: "SCHOOL" });
  expect((await operator.call("GET", "/retention")).body).toMatchObject({
    defaults: { leftMonths: 0, inactiveMonths: 0, restoreDays: 30, auditDays: 400 },
    holdPeople: 2,
    holdPercent: 10,
    states: ["DE-RP"],
  });
  expect(refusalOf(await operator.call("GET", "/retention/state?state=rp"))).toEqual([400, "invalid_request"]);
});

test("a preview shows by school whom a policy soft-deletes now and later, and changes nothing", async () => {
  const people = await make.people({ school, groups: [], count: 4 });
  const [first, second, third, fourth] = people as [PersonId, PersonId, PersonId, PersonId];
  await leave([first, second, third], "2025-07-15T00:00:00Z");
  await leave([fourth], "2025-12-20T00:00:00Z");
  const preview = async (body: object) => {
    const found = await admin.call("POST", `${path}/preview`, { body });
    expect(found.status).toBe(200);
    const { count, first: shown } = found.body as Schemas["RetentionPreview"];
    return [count.people, count.due, count.later, count.isHeld, shown.map(({ id }) => id).toSorted()];
  };
  // The policy that was set before has its notice.
  expect(await preview({ days: 13 })).toEqual([4, 0, 0, false, []]);
  expect(await preview({ days: 14 })).toEqual([4, 0, 3, false, [first, second, third].toSorted()]);
  const policy = { ...none, leftMonths: { ...leftMonths, value: 2 } };
  expect(await preview({ days: 0, policy })).toEqual([4, 3, 0, true, [first, second, third].toSorted()]);
  expect(await preview({ days: 30, policy })).toEqual([4, 3, 1, true, [...people].toSorted()]);
  const tooLong = { ...none, leftMonths: { ...leftMonths, value: 99 } };
  expect(refusalOf(await admin.call("POST", `${path}/preview`, { body: { days: 0, policy: tooLong } }))).toEqual([
    400,
    "retention_out_of_range",
  ]);
  expect((await read()).policy).toEqual({ ...none, leftMonths });

  const state = "/retention/state/preview?state=DE-RP";
  const counts = await operator.call("POST", `${state}&limit=1`, { body: { days: 14 } });
  expect(counts.body).toMatchObject([{ schoolId: school, schoolName: "A", people: 4, due: 0, later: 3 }]);
  const next = nextPage(counts)!;
  expect((await operator.call("POST", next, { body: { days: 14 } })).body).toMatchObject([
    { schoolId: other, people: 0, due: 0, later: 0, isHeld: false },
  ]);
});

test("the list names whom the policy soft-deletes soon, page by page, and Today names them beforehand", async () => {
  const first = await secretary.call("GET", `${path}/people?limit=2`);
  const second = await secretary.call("GET", nextPage(first)!);
  expect([idsOf(first).length, idsOf(second).length, second.headers.get("link")]).toEqual([2, 1, null]);
  expect(new Set([...idsOf(first), ...idsOf(second)]).size).toBe(3);
  expect(idsOf(await secretary.call("GET", `${path}/people?days=200`))).toHaveLength(4);
  const today = (await secretary.call("GET", "/today")).body as Schemas["Today"];
  expect(today.atSchools!.retentionSoon).toMatchObject({
    count: 3,
    first: [{ schoolId: school, cause: "LEFT" }, {}, {}],
  });
  expect(today.atSchools!.retentionHolds.count).toBe(0);
});

test("staff keep somebody until a date, with a reason that is part of the person's data", async () => {
  const [{ id }] = (await secretary.call("GET", `${path}/people`)).body as [Schemas["RetentionDuePerson"]];
  const one = `/people/${id}/retention`;
  const exemption = { until: "2026-12-31", reason: "Repeats the final examination." };
  const due = await secretary.call("GET", one);
  expect(due.body).toEqual({ due: { cause: "LEFT", dueAt: "2026-02-17T08:00:00.000Z" }, exemption: null });
  expect(refusalOf(await secretary.call("DELETE", `${one}/exemption`))).toEqual([404, "exemption_not_found"]);
  for (const until of ["2026-02-02", "2028-03-01"])
    expect(refusalOf(await secretary.call("PUT", `${one}/exemption`, { body: { ...exemption, until } }))).toEqual([
      400,
      "exemption_date",
    ]);
  const headers = { "if-match": due.headers.get("etag")! };
  expect((await secretary.call("PUT", `${one}/exemption`, { body: exemption, headers })).status).toBe(204);
  expect(refusalOf(await secretary.call("PUT", `${one}/exemption`, { body: exemption, headers }))).toEqual([
    412,
    "precondition_failed",
  ]);
  expect((await secretary.call("GET", one)).body).toMatchObject({
    due: { cause: "LEFT", dueAt: "2027-01-01T00:00:00.000Z" },
    exemption: { ...exemption, givenAt: clock().toISOString() },
  });
  const data = (await admin.call("GET", `/people/${id}/data`)).body as Schemas["PersonData"];
  expect(data.exemption).toMatchObject(exemption);
  expect(idsOf(await secretary.call("GET", `${path}/people`))).toHaveLength(2);
  expect((await secretary.call("DELETE", `${one}/exemption`)).status).toBe(204);
  expect((await secretary.call("GET", one)).body).toMatchObject({ exemption: null });
});

test("a held run is on Today, and goes on when staff release just so many", async () => {
  clock.set("2026-03-02T08:00:00Z");
  [admin, secretary, operator] = await signInStaff();
  await runJob("retention.softDelete");
  expect(await read()).toMatchObject({ heldAt: clock().toISOString(), heldPeople: 3 });
  const today = (await secretary.call("GET", "/today")).body as Schemas["Today"];
  expect(today.atSchools!.retentionHolds).toMatchObject({ count: 1, first: [{ schoolId: school, people: 3 }] });
  const release = (people: number) => admin.call("POST", `${path}/release`, { body: { people } });
  expect(refusalOf(await release(2))).toEqual([409, "retention_not_confirmed"]);
  expect((await release(3)).status).toBe(204);
  expect(refusalOf(await release(3))).toEqual([409, "retention_not_held"]);
  await runJob("retention.softDelete");
  const list = await secretary.call("GET", `/people?school=${school}&status=SOFT_DELETED`);
  const [one] = list.body as [Schemas["AdminPerson"]];
  expect([idsOf(list).length, one.leftAt]).toEqual([3, "2025-07-15T00:00:00.000Z"]);
  expect((await secretary.call("POST", `/people/${one.id}/restoration`)).status).toBe(204);
  expect((await secretary.call("GET", `/people/${one.id}`)).body).toMatchObject({ status: "ACTIVE", leftAt: null });
});

test("a school's shorter period deletes older lines of its own audit log, and those of its imports", async () => {
  const old = (schoolId: string) => ({
    id: crypto.randomUUID(),
    at: new Date("2025-10-01T00:00:00Z"),
    action: "school_updated",
    schoolId,
  });
  await db.prisma.audit.createMany({ data: [old(school), old(other)] });
  const [personId] = await make.people({ school, groups: [], count: 1 });
  const personImport = { personId: personId!, schoolId: school, importId: crypto.randomUUID(), change: "CHANGED" };
  const classes = { classesBefore: [], classesAfter: [] };
  const times = { id: crypto.randomUUID(), at: new Date("2025-10-01T00:00:00Z") };
  await db.prisma.personImport.create({ data: { ...times, ...personImport, ...classes } });
  expect((await put({ ...none, auditDays: { value: 90, reason: "Data economy." } })).status).toBe(204);
  await runJob("retention.sweepAudit");
  const where = { at: new Date("2025-10-01T00:00:00Z") };
  expect((await db.prisma.audit.findMany({ where })).map(({ schoolId }) => schoolId)).toEqual([other]);
  expect(await db.prisma.personImport.count({ where })).toBe(0);
  expect(await db.prisma.audit.count({ where: { action: "retention_set", schoolId: school } })).toBeGreaterThan(0);
});
