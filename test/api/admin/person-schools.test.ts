import { beforeEach, expect, test } from "vitest";
import type { PersonId } from "../../../src/directory/index.ts";
import { makeStaff, type Sent, refusalOf } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";

const service = await startService();
const { db } = service;
const make = makeMakers(db);
const nowhere = "00000000-0000-4000-8000-00000000dead";

let person: PersonId;

const [school, second, other] = [await make.school(), await make.school(), await make.school()];
const operator = (await makeStaff(service, "OPERATOR")).call;
const office = (await makeStaff(service, "SECRETARY", { schoolIds: [school, second] })).call;
const { clientId } = await make.app();
const app = clientId;
for (const at of [school, second]) await make.grant({ app: clientId, school: at });

beforeEach(async () => {
  person = await make.person({ school, groups: [await make.group({ school })] });
});

type Read = { homeSchoolId: string; schools: { id: string }[]; groups: unknown[] };
const get = async (call = operator) => (await call("GET", `/people/${person}`)).body as Read;
const schoolsOf = async () => (await get()).schools.map(({ id }) => id).sort();
const etag = async () => (await office("GET", `/people/${person}`)).headers.get("etag")!;
const lineOf = (action: string) =>
  db.prisma.audit.findFirstOrThrow({ where: { personId: person, action }, orderBy: { id: "desc" } });
const countsOf = ({ body }: Sent) =>
  (body as { clientId: string; people: object }[]).find(({ clientId }) => clientId === app)?.people;
const move = (toSchoolId: string, fromSchoolId?: string, query = "") =>
  office("POST", `/people/${person}/move${query}`, { body: { toSchoolId, ...(fromSchoolId && { fromSchoolId }) } });
const setHome = (schoolId: string, headers = {}) =>
  office("PUT", `/people/${person}/home-school`, { body: { schoolId }, headers });
const at = (method: "PUT" | "DELETE", schoolId: string, query = "", headers = {}) =>
  office(method, `/people/${person}/schools/${schoolId}${query}`, { headers });

test("a person moves with their home and leaves the groups of the old school", async () => {
  const looked = await move(second, undefined, "?dry-run=true");
  expect([looked.status, countsOf(looked)]).toEqual([200, { enter: 0, change: 1, leave: 0 }]);
  expect(await schoolsOf()).toEqual([school]);
  const done = await move(second);
  expect([done.status, done.headers.get("etag")]).toEqual([204, await etag()]);
  expect(await get()).toMatchObject({ homeSchoolId: second, schools: [{ id: second }], groups: [] });
  expect(await lineOf("home_school_changed")).toMatchObject({
    actorRole: "SECRETARY",
    before: { homeSchoolId: school },
    after: { homeSchoolId: second },
  });
});

test("nobody is moved to or from a school that the caller does not reach", async () => {
  for (const to of [other, nowhere]) expect(refusalOf(await move(to))).toEqual([404, "school_not_found"]);
  expect(refusalOf(await move(school))).toEqual([400, "move_to_same_school"]);
  expect(refusalOf(await move(school, second))).toEqual([404, "affiliation_not_found"]);
  person = await make.person({ schools: [other, school] });
  for (const from of [undefined, other, school])
    expect(refusalOf(await move(second, from))).toEqual([403, "home_school_only"]);
  expect(await schoolsOf()).toEqual([school, other].sort());
  expect([(await at("PUT", second)).status, (await at("DELETE", school)).status]).toEqual([204, 204]);
  expect(await schoolsOf()).toEqual([second, other].sort());
  expect((await get()).homeSchoolId).toBe(other);
});

test("the home is one of the person's schools, given by one who reaches both", async () => {
  expect(refusalOf(await setHome(second))).toEqual([404, "affiliation_not_found"]);
  await at("PUT", second);
  const tag = await etag();
  const done = await setHome(second, { "If-Match": tag });
  expect([done.status, done.headers.get("etag")]).toEqual([204, await etag()]);
  expect((await get()).homeSchoolId).toBe(second);
  expect(refusalOf(await setHome(school, { "If-Match": tag }))).toEqual([412, "precondition_failed"]);
  expect(await lineOf("home_school_changed")).toMatchObject({ after: { homeSchoolId: second } });
  for (const to of [other, nowhere]) expect(refusalOf(await setHome(to))).toEqual([404, "school_not_found"]);
  person = await make.person({ schools: [other, school] });
  expect(refusalOf(await setHome(school))).toEqual([403, "home_school_only"]);
  expect((await get()).homeSchoolId).toBe(other);
});

test("a person joins a school once", async () => {
  const tag = await etag();
  const looked = await at("PUT", second, "?dry-run=true");
  expect([looked.status, countsOf(looked)]).toEqual([200, { enter: 0, change: 1, leave: 0 }]);
  expect((await at("PUT", second, "", { "If-Match": tag })).status).toBe(204);
  expect(await schoolsOf()).toEqual([school, second].sort());
  const lines = await db.prisma.audit.count({ where: { personId: person } });
  const again = await at("PUT", second);
  expect([again.status, again.headers.get("etag")]).toEqual([204, await etag()]);
  expect(await db.prisma.audit.count({ where: { personId: person } })).toBe(lines);
  expect(refusalOf(await at("PUT", second, "", { "If-Match": tag }))).toEqual([412, "precondition_failed"]);
  expect(await lineOf("affiliation_added")).toMatchObject({
    before: { schools: [{ id: school }] },
    schoolId: second,
    actorRole: "SECRETARY",
  });
  for (const to of [other, nowhere]) expect(refusalOf(await at("PUT", to))).toEqual([404, "school_not_found"]);
  expect(refusalOf(await operator("PUT", `/people/${person}/schools/${nowhere}`))).toEqual([404, "school_not_found"]);
});

test("a person leaves a school that is not their home, and that the caller reaches", async () => {
  expect(refusalOf(await at("DELETE", school))).toEqual([409, "home_school_left"]);
  expect(refusalOf(await at("DELETE", second))).toEqual([404, "affiliation_not_found"]);
  const old = await etag();
  await at("PUT", second);
  expect(refusalOf(await at("DELETE", second, "", { "If-Match": old }))).toEqual([412, "precondition_failed"]);
  const looked = await at("DELETE", second, "?dry-run=true");
  expect([looked.status, countsOf(looked)]).toEqual([200, { enter: 0, change: 1, leave: 0 }]);
  expect(await schoolsOf()).toHaveLength(2);
  expect((await at("DELETE", second)).status).toBe(204);
  expect(await schoolsOf()).toEqual([school]);
  expect(await lineOf("affiliation_removed")).toMatchObject({ after: { schools: [{ id: school }] } });
  for (const from of [other, nowhere]) expect(refusalOf(await at("DELETE", from))).toEqual([404, "school_not_found"]);
});

test("one who leaves the only school that the caller reaches is gone for them", async () => {
  person = await make.person({ schools: [other, school] });
  expect((await at("DELETE", school)).status).toBe(204);
  expect(await schoolsOf()).toEqual([other]);
  expect(refusalOf(await at("DELETE", school))).toEqual([404, "person_not_found"]);
});

test("no school is changed of a person who is soft-deleted", async () => {
  await at("PUT", second);
  await office("POST", `/people/${person}/soft-deletion`);
  for (const sent of [await move(second), await setHome(second), await at("DELETE", second)])
    expect(refusalOf(sent)).toEqual([409, "person_wrong_status"]);
});
