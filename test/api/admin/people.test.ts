import { beforeEach, expect, test } from "vitest";
import type { GroupId, PersonId, SchoolId } from "../../../src/directory/index.ts";
import { setLogin } from "../../support/sign-ins.ts";
import { makeStaff, type Sent, idsOf, refusalOf, nextPage } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { hashAllQuickly } from "../../support/quick-hash.ts";
import { startService } from "../../support/service.ts";

hashAllQuickly();
const service = await startService();
const { db } = service;
const make = makeMakers(db);
const nowhere = "00000000-0000-4000-8000-00000000dead" as SchoolId & PersonId;
const name = { firstFull: "Bo Emil", firstCall: "Bo", last: "Muster" };

type Body = Record<string, unknown> & { id: PersonId; schools: { id: SchoolId }[]; groups: { id: GroupId }[] };
const bodyOf = ({ body }: Sent) => body as Body;
const namesOf = ({ body }: Sent) => (body as { name: { last: string } }[]).map((person) => person.name.last);

let person: PersonId;

const [school, second, other] = [await make.school(), await make.school(), await make.school()];
const operator = (await makeStaff(service, "OPERATOR")).call;
const secretary = await makeStaff(service, "SECRETARY", { schoolIds: [school, second] });
const office = secretary.call;
const secretaryApp = secretary.app.clientId;
const app = await make.app({ name: "Watcher" });
const watcher = app.clientId;
for (const id of [school, second, other]) await make.grant({ app: app.clientId, school: id });
const stranger = await make.person({ school: other });

beforeEach(async () => {
  person = await make.person({ school, name });
});

const get = async (id: string, call = office) => bodyOf(await call("GET", `/people/${id}`));
const etagOf = async (id: string, call = office) => (await call("GET", `/people/${id}`)).headers.get("etag")!;
const linesOf = (personId: string) => db.prisma.audit.findMany({ where: { personId }, orderBy: { id: "asc" } });
const lineOf = async (personId: string, action: string) =>
  (await linesOf(personId)).find((line) => line.action === action);
const countsOf = ({ body }: Sent) =>
  (body as { clientId: string; people: object }[]).find(({ clientId }) => clientId === watcher)?.people;

test("a person is read with what the caller reaches of them", async () => {
  const both = await make.person({ schools: [school, other], groups: [await make.group({ school: other })], name });
  const read = await office("GET", `/people/${both}`);
  expect(read.status).toBe(200);
  expect(read.headers.get("etag")).toMatch(/^"/);
  expect(read.body).toMatchObject({ id: both, name, hasLogin: false, homeSchoolId: school, groups: [] });
  expect(bodyOf(read).schools.map(({ id }) => id)).toEqual([school]);
  expect((await get(both, operator)).schools).toHaveLength(2);
  expect((await get(both, operator)).groups).toHaveLength(1);
});

test("names are found as they are typed on any keyboard", async () => {
  const own = await make.school();
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [own] });
  const asTyped: [last: string, searches: string[]][] = [
    ["O’Neill", ["O'Neill", "oʼneill", "O‘Neill", "o`neill", "O´Neill", "o’neill"]],
    ["Işık", ["ışık", "Işık", "işık"]],
    ["Großmann", ["grossmann", "GROSSMANN", "großmann"]],
    ["Łukasz-Sørensen", ["łukasz-sørensen", "ŁUKASZ"]],
  ];
  for (const [last, searches] of asTyped) {
    const id = await make.person({ school: own, name: { firstFull: "Uma", firstCall: "Uma", last } });
    for (const search of searches) {
      const query = `search=${encodeURIComponent(search)}`;
      expect(idsOf(await call("GET", `/people?${query}`)), search).toEqual([id]);
      expect(idsOf(await operator("GET", `/people?${query}`)), search).toEqual([id]);
    }
  }
});

test("people are listed by name, in pages and by every filter", async () => {
  const own = await make.school();
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [own] });
  const group = await make.group({ school: own });
  const called = (first: string, last: string) => ({ firstFull: `${first} Maria`, firstCall: first, last });
  const cem = await make.person({ school: own, name: called("Cem", "Cäsar"), sourceSystemIdentifier: "src-100%" });
  const ada = await make.person({ school: own, name: called("Ada", "Adler"), groups: [group] });
  const gone = await make.person({ schools: [other, own], name: called("Bo", "Berg"), status: "SOFT_DELETED" });
  await setLogin(db, { personId: ada, username: "ada", password: "correct horse battery" }, { at: service.clock() });
  const list = (query: string) => call("GET", `/people?${query}`);
  expect(idsOf(await list(""))).toEqual([ada, gone, cem]);
  expect(idsOf(await list("status=SOFT_DELETED"))).toEqual([gone]);
  expect(idsOf(await list("status=SOFT_DELETED&left-days=1"))).toEqual([gone]);
  const longAgo = new Date(service.clock().getTime() - 9 * 86_400_000);
  await db.prisma.person.update({ where: { id: gone }, data: { softDeletedAt: longAgo } });
  expect(idsOf(await list("status=SOFT_DELETED&left-days=8"))).toEqual([]);
  expect(idsOf(await list(`group=${group}`))).toEqual([ada]);
  expect((await list("has-login=true")).body).toMatchObject([{ id: ada, hasLogin: true }]);
  expect(idsOf(await list("has-login=false"))).toEqual([gone, cem]);
  for (const search of ["CÄSAR cem", "100%", "maria src-", "Cäsar, Cem", "Cem Maria Cäsar", "Ca\u0308sar,Cem"])
    expect(idsOf(await list(`search=${encodeURIComponent(search)}`)), search).toEqual([cem]);
  expect(idsOf(await list("search=maria"))).toHaveLength(3);
  expect(idsOf(await list("search=a%25"))).toEqual([]);
  const { call: operator } = await makeStaff(service, "OPERATOR");
  for (const search of ["CÄSAR cem", "rc-100%", "äsa c-", "c-100 em"])
    expect(idsOf(await operator("GET", `/people?search=${encodeURIComponent(search)}`)), search).toEqual([cem]);
  for (const search of ["c_100", "\\c-100", "cäsar%"])
    expect(idsOf(await operator("GET", `/people?search=${encodeURIComponent(search)}`)), search).toEqual([]);
  expect(bodyOf((await list("status=SOFT_DELETED")) as never)).toMatchObject([{ schools: [{ id: own }] }]);
  const first = await list("limit=2&search=maria");
  expect(idsOf(first)).toEqual([ada, gone]);
  const rest = await call("GET", nextPage(first)!);
  expect(idsOf(rest)).toEqual([cem]);
  expect(rest.headers.get("link")).toBeNull();
  expect(namesOf(await operator("GET", `/people?school=${own}`))).toEqual(["Adler", "Berg", "Cäsar"]);
  expect(refusalOf(await list(`school=${other}`))).toEqual([404, "school_not_found"]);
  expect(refusalOf(await operator("GET", `/people?school=${nowhere}`))).toEqual([404, "school_not_found"]);
  expect(refusalOf(await list(`group=${await make.group({ school: other })}`))).toEqual([404, "group_not_found"]);
  expect(refusalOf(await list("cursor=nonsense"))).toEqual([400, "invalid_cursor"]);
});

test("a new person is registered once, in their groups", async () => {
  const group = await make.group({ school });
  const body = { schoolIds: [school, second], role: "STUDENT", name, groupIds: [group] };
  const looked = await office("POST", "/people?dry-run=true", { body });
  expect([looked.status, countsOf(looked)]).toEqual([200, { enter: 1, change: 0, leave: 0 }]);
  const people = await db.prisma.person.count();
  const headers = { "Idempotency-Key": "once-1" };
  const made = await office("POST", "/people", { body, headers });
  expect(made.status).toBe(201);
  const { id } = bodyOf(made);
  expect(made.headers.get("location")).toBe(`/admin/v1/people/${id}`);
  expect(await get(id)).toEqual(made.body);
  expect(await etagOf(id)).toBe(made.headers.get("etag"));
  expect(made.body).toMatchObject({ homeSchoolId: school, groups: [{ id: group, role: "STUDENT" }] });
  const again = await office("POST", "/people", { body, headers });
  expect([again.status, again.body, again.headers.get("idempotency-replayed")]).toEqual([201, made.body, "true"]);
  expect(await db.prisma.person.count()).toBe(people + 1);
  const reused = await office("POST", "/people", { body: { ...body, role: "OTHER" }, headers });
  expect(refusalOf(reused)).toEqual([422, "idempotency_key_reused"]);
  expect(await lineOf(id, "person_created")).toMatchObject({
    actorId: `app:${secretaryApp}`,
    actorRole: "SECRETARY",
    before: null,
    after: { name, role: "STUDENT" },
  });
});

test("a person is not registered where the caller does not reach, or in a group that does not fit", async () => {
  const people = await db.prisma.person.count();
  const create = async (given: object) =>
    refusalOf(
      await office("POST", "/people", { body: { schoolIds: [school], role: "STUDENT", name: null, ...given } }),
    );
  expect(await create({ schoolIds: [school, other] })).toEqual([404, "school_not_found"]);
  expect(await create({ schoolIds: [school, nowhere] })).toEqual([404, "school_not_found"]);
  expect(await create({ groupIds: [await make.group({ school: other })] })).toEqual([404, "group_not_found"]);
  expect(await create({ groupIds: [nowhere] })).toEqual([404, "group_not_found"]);
  expect(await create({ groupIds: [await make.group({ school: second })] })).toEqual([409, "person_not_at_school"]);
  const deleted = await make.group({ school, status: "DELETED" });
  expect(await create({ groupIds: [deleted] })).toEqual([409, "group_wrong_status"]);
  expect(await create({ name: { ...name, last: " " } })).toEqual([400, "text_empty"]);
  await make.person({ school, sourceSystemIdentifier: "taken-1" });
  expect(await create({ sourceSystemIdentifier: "taken-1" })).toEqual([409, "source_system_identifier_taken"]);
  expect(refusalOf(await operator("POST", "/people", { body: { schoolIds: [nowhere], role: "OTHER", name } }))).toEqual(
    [...[404, "school_not_found"]],
  );
  expect(await db.prisma.person.count()).toBe(people + 1);
});

test("a change is made by one who knows the record, and looked at without being made", async () => {
  const tag = await etagOf(person);
  const body = { name: { ...name, last: "Neu" } };
  const looked = await office("PATCH", `/people/${person}?dry-run=true`, { body });
  expect([looked.status, countsOf(looked)]).toEqual([200, { enter: 0, change: 1, leave: 0 }]);
  expect(await etagOf(person)).toBe(tag);
  const done = await office("PATCH", `/people/${person}`, { body, headers: { "If-Match": tag } });
  expect([done.status, done.headers.get("etag")]).toEqual([204, await etagOf(person)]);
  expect(await get(person)).toMatchObject(body);
  const late = await office("PATCH", `/people/${person}`, { body: { role: "OTHER" }, headers: { "If-Match": tag } });
  expect(refusalOf(late)).toEqual([412, "precondition_failed"]);
  expect((late.body as { current: object }).current).toEqual(await get(person));
  expect(await lineOf(person, "person_updated")).toMatchObject({
    actorId: `app:${secretaryApp}`,
    actorRole: "SECRETARY",
    schoolId: school,
    before: { name },
    after: body,
  });
});

test("a soft-deleted person is restored as they were", async () => {
  const before = await get(person);
  const looked = await office("POST", `/people/${person}/soft-deletion?dry-run=true`);
  expect([looked.status, countsOf(looked)]).toEqual([200, { enter: 0, change: 0, leave: 1 }]);
  expect(await get(person)).toEqual(before);
  const done = await office("POST", `/people/${person}/soft-deletion`);
  expect([done.status, done.headers.get("etag")]).toEqual([204, await etagOf(person)]);
  expect(await get(person)).toMatchObject({ status: "SOFT_DELETED", purgeAt: expect.any(String) });
  expect(await lineOf(person, "person_soft_deleted")).toMatchObject({
    before: { status: "ACTIVE" },
    after: { status: "SOFT_DELETED" },
  });
  expect(refusalOf(await office("POST", `/people/${person}/soft-deletion`))).toEqual([409, "person_wrong_status"]);
  const change = await office("PATCH", `/people/${person}`, { body: { role: "OTHER" } });
  expect(refusalOf(change)).toEqual([409, "person_wrong_status"]);
  const back = await office("POST", `/people/${person}/restoration?dry-run=true`);
  expect([back.status, countsOf(back)]).toEqual([200, { enter: 1, change: 0, leave: 0 }]);
  expect((await office("POST", `/people/${person}/restoration`)).status).toBe(204);
  expect(await get(person)).toEqual(before);
  expect(refusalOf(await office("POST", `/people/${person}/restoration`))).toEqual([409, "person_wrong_status"]);
  expect(await lineOf(person, "person_restored")).toMatchObject({ after: { status: "ACTIVE", purgeAt: null } });
});

test("a person deleted for good leaves nothing in the audit", async () => {
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  expect(refusalOf(await call("DELETE", `/people/${person}`))).toEqual([409, "person_wrong_status"]);
  const old = await etagOf(person, call);
  await office("POST", `/people/${person}/soft-deletion`);
  const stale = await call("DELETE", `/people/${person}`, { headers: { "If-Match": old } });
  expect(refusalOf(stale)).toEqual([412, "precondition_failed"]);
  expect((await call("DELETE", `/people/${person}?dry-run=true`)).status).toBe(200);
  expect(await get(person)).toMatchObject({ status: "SOFT_DELETED" });
  expect((await call("DELETE", `/people/${person}`)).status).toBe(204);
  expect(refusalOf(await call("GET", `/people/${person}`))).toEqual([404, "person_not_found"]);
  expect(refusalOf(await call("DELETE", `/people/${person}`))).toEqual([404, "person_not_found"]);
  expect(refusalOf(await call("DELETE", `/people/${stranger}`))).toEqual([404, "person_not_found"]);
  const line = await db.prisma.audit.findFirst({ where: { action: "person_deleted" }, orderBy: { id: "desc" } });
  expect(line).toMatchObject({
    personId: null,
    schoolId: school,
    actorRole: "SCHOOL_ADMIN",
    before: null,
    after: null,
  });
  expect(await linesOf(person)).toEqual([]);
  expect(await db.prisma.tombstone.count({ where: { personId: person } })).toBe(1);
});

test("a new person has a user name by the rule of the home school, is found by it, and has no password yet", async () => {
  const given = { firstFull: "Zoë", firstCall: "Zoë", last: "Quast" };
  const body = { role: "STUDENT", name: given, sourceSystemIdentifier: "zq-77", schoolIds: [school] };
  const made = await office("POST", "/people", { body });
  expect([made.status, made.body]).toMatchObject([201, { username: "zoe.quast", hasLogin: false }]);
  const { id } = made.body as { id: string };
  for (const search of ["ZOE.quast", "zq-77", "quast zoe."])
    expect(idsOf(await office("GET", `/people?search=${search}`)), search).toEqual([id]);
  const login = await office("GET", `/people/${id}/login`);
  expect(login.body).toMatchObject({ username: "zoe.quast", hasPassword: false });
  expect(idsOf(await office("GET", "/people?has-login=false&search=zoe"))).toEqual([id]);
  const next = await office("POST", "/people", { body: { ...body, sourceSystemIdentifier: "zq-78" } });
  expect(next.body).toMatchObject({ username: "zoe.quast2" });
});

test("people are listed by their role, with their first and last sign-in, which makes no other record of them", async () => {
  const here = await make.school();
  const pupil = await make.person({ school: here, name });
  const teaching = await make.person({ school: here, name, role: "TEACHER" });
  const list = async (role: string) => idsOf(await operator("GET", `/people?school=${here}&role=${role}`));
  expect([await list("STUDENT"), await list("TEACHER"), await list("OTHER")]).toEqual([[pupil], [teaching], []]);
  const { clientId } = await make.app();
  const before = await operator("GET", `/people/${pupil}`);
  await make.signIn({ app: clientId, person: pupil });
  const after = await operator("GET", `/people/${pupil}`);
  const at = "2026-02-03T08:00:00.000Z";
  expect(before.body).toMatchObject({ createdAt: at, firstSignInAt: null, lastSignInAt: null });
  expect(after.body).toMatchObject({ firstSignInAt: at, lastSignInAt: at });
  expect(after.headers.get("etag")).toBe(before.headers.get("etag"));
});
