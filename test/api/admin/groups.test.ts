import { beforeEach, expect, test } from "vitest";
import type { GroupId, PersonId } from "../../../src/directory/index.ts";
import { setLogin } from "../../support/sign-ins.ts";
import {
  makeStaff,
  type Sent,
  idsOf,
  refusalOf,
  withoutRequest,
  makeClassTeacher,
  nextPage,
} from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { hashAllQuickly } from "../../support/quick-hash.ts";
import { startService } from "../../support/service.ts";

hashAllQuickly();
const service = await startService();
const { db } = service;
const make = makeMakers(db);
const nowhere = "00000000-0000-4000-8000-00000000dead";

let group: GroupId;
let person: PersonId;

const [school, other] = [await make.school(), await make.school()];
const operator = (await makeStaff(service, "OPERATOR")).call;
const office = (await makeStaff(service, "SECRETARY", { schoolIds: [school] })).call;
const support = (await makeStaff(service, "SUPPORT", { schoolIds: [school] })).call;
const watcher = (await make.app()).clientId;
const theirs = await make.group({ school: other });
const stranger = await make.person({ school: other });

beforeEach(async () => {
  group = await make.group({ school, name: "Klasse 5a" });
  person = await make.person({ school });
  await make.grant({ app: watcher as never, school, groups: [group] });
});

type Read = { id: string; name: string; members: number };
const read = async (id: string = group) => (await operator("GET", `/groups/${id}`)).body as Read;
const etag = async () => (await office("GET", `/groups/${group}`)).headers.get("etag")!;
const lineOf = (action: string) =>
  db.prisma.audit.findFirst({ where: { action, detail: { path: ["groupId"], equals: group } } });
const seenBy = ({ body }: Sent, what: "groups" | "people") =>
  (body as Record<string, unknown>[]).find(({ clientId }) => clientId === watcher)?.[what];
const put = (personId: string, body: object = {}, { query = "", headers = {} } = {}) =>
  office("PUT", `/groups/${group}/members/${personId}${query}`, { body, headers });
const take = (personId: string, { query = "", headers = {} } = {}) =>
  office("DELETE", `/groups/${group}/members/${personId}${query}`, { headers });
const membersOf = async () => (await office("GET", `/groups/${group}/members`)).body as { id: string; role: string }[];

test("the groups of a school are listed in the order of classes, other names last, in pages", async () => {
  const at = await make.school();
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [at] });
  const b = await make.group({ school: at, name: "Klasse 5b", sourceSystemIdentifier: "src-77" });
  const a = await make.group({ school: at, name: "Klasse 5a" });
  const gone = await make.group({ school: at, name: "Chor", status: "DELETED" });
  const list = (query = "", of: string = at) => call("GET", `/groups?school=${of}${query}`);
  expect(idsOf(await list())).toEqual([a, b]);
  expect(idsOf(await list("&show-deleted=true"))).toEqual([a, b, gone]);
  expect(idsOf(await list("&search=5A"))).toEqual([a]);
  expect(idsOf(await list("&search=src-77"))).toEqual([b]);
  const first = await list("&limit=1");
  expect(idsOf(first)).toEqual([a]);
  const rest = await call("GET", nextPage(first)!);
  expect([idsOf(rest), rest.headers.get("link")]).toEqual([[b], null]);
  for (const school of [other, nowhere]) expect(refusalOf(await list("", school))).toEqual([404, "school_not_found"]);
  expect(refusalOf(await operator("GET", `/groups?school=${nowhere}`))).toEqual([404, "school_not_found"]);
});

test("a group is made once", async () => {
  const headers = { "Idempotency-Key": "group-1" };
  const body = { schoolId: school, name: "Neue Gruppe", type: "KURS" };
  const made = await office("POST", "/groups", { body, headers });
  expect([made.status, made.body]).toEqual([201, expect.objectContaining({ ...body, status: "ACTIVE", members: 0 })]);
  const { id } = made.body as Read;
  const shown = await office("GET", `/groups/${id}`);
  expect([shown.body, shown.headers.get("etag")]).toEqual([made.body, made.headers.get("etag")]);
  expect(made.headers.get("location")).toBe(`/admin/v1/groups/${id}`);
  const again = await office("POST", "/groups", { body, headers });
  expect([again.status, again.body, again.headers.get("idempotency-replayed")]).toEqual([201, made.body, "true"]);
  expect(await db.prisma.group.count({ where: { name: body.name } })).toBe(1);
  group = id as GroupId;
  expect(await lineOf("group_created")).toMatchObject({ actorRole: "SECRETARY", before: null, after: body });
  const create = async (given: object) => refusalOf(await office("POST", "/groups", { body: { ...body, ...given } }));
  for (const schoolId of [other, nowhere]) expect(await create({ schoolId })).toEqual([404, "school_not_found"]);
  const ofNone = await operator("POST", "/groups", { body: { ...body, schoolId: nowhere } });
  expect(refusalOf(ofNone)).toEqual([404, "school_not_found"]);
  expect(await create({ name: " " })).toEqual([400, "text_empty"]);
  await make.group({ school, sourceSystemIdentifier: "g-1" });
  expect(await create({ sourceSystemIdentifier: "g-1" })).toEqual([409, "source_system_identifier_taken"]);
});

test("a group gets another name from one who knows it", async () => {
  const tag = await etag();
  const body = { name: "Klasse 6a" };
  const looked = await office("PATCH", `/groups/${group}?dry-run=true`, { body });
  expect([looked.status, seenBy(looked, "groups")]).toEqual([200, { enter: 0, change: 1, leave: 0 }]);
  expect((await read()).name).toBe("Klasse 5a");
  const done = await office("PATCH", `/groups/${group}`, { body, headers: { "If-Match": tag } });
  expect([done.status, done.headers.get("etag")]).toEqual([204, await etag()]);
  expect((await read()).name).toBe("Klasse 6a");
  const late = await office("PATCH", `/groups/${group}`, { body: { name: "7a" }, headers: { "If-Match": tag } });
  expect(refusalOf(late)).toEqual([412, "precondition_failed"]);
  expect((late.body as { current: object }).current).toEqual(await read());
  expect(await lineOf("group_renamed")).toMatchObject({
    actorRole: "SECRETARY",
    schoolId: school,
    before: { name: "Klasse 5a" },
    after: body,
  });
});

test("a deleted group is restored with its members", async () => {
  await put(person);
  const [before, tag] = [await read(), await etag()];
  const looked = await office("DELETE", `/groups/${group}?dry-run=true`);
  expect([looked.status, seenBy(looked, "groups")]).toEqual([200, { enter: 0, change: 0, leave: 1 }]);
  expect(await read()).toEqual(before);
  expect((await office("DELETE", `/groups/${group}`, { headers: { "If-Match": tag } })).status).toBe(204);
  const stale = await office("DELETE", `/groups/${group}`, { headers: { "If-Match": tag } });
  expect(refusalOf(stale)).toEqual([412, "precondition_failed"]);
  expect(await lineOf("group_deleted")).toMatchObject({ before: { status: "ACTIVE" }, after: { status: "DELETED" } });
  for (const sent of [
    await office("DELETE", `/groups/${group}`),
    await office("PATCH", `/groups/${group}`, { body: { name: "x" } }),
    await put(person),
    await take(person),
  ])
    expect(refusalOf(sent)).toEqual([409, "group_wrong_status"]);
  const back = await office("POST", `/groups/${group}/restoration?dry-run=true`);
  expect([back.status, seenBy(back, "groups")]).toEqual([200, { enter: 1, change: 0, leave: 0 }]);
  const done = await office("POST", `/groups/${group}/restoration`);
  expect([done.status, done.headers.get("etag")]).toEqual([204, tag]);
  expect(await read()).toEqual(before);
  expect(await lineOf("group_restored")).toMatchObject({ after: { status: "ACTIVE" } });
  expect(refusalOf(await office("POST", `/groups/${group}/restoration`))).toEqual([409, "group_wrong_status"]);
});

test("a person is put into a group, gets another role there, and is taken out", async () => {
  const tag = await etag();
  const looked = await put(person, {}, { query: "?dry-run=true" });
  expect([looked.status, seenBy(looked, "people")]).toEqual([200, { enter: 0, change: 1, leave: 0 }]);
  expect(await membersOf()).toEqual([]);
  const done = await put(person, {}, { headers: { "If-Match": tag } });
  expect([done.status, done.headers.get("etag")]).toEqual([204, tag]);
  expect(await membersOf()).toMatchObject([{ id: person, role: "STUDENT", status: "ACTIVE", hasLogin: false }]);
  expect((await read()).members).toBe(1);
  const membership = { personId: person, role: "STUDENT" };
  expect(await lineOf("membership_added")).toMatchObject({
    personId: person,
    actorRole: "SECRETARY",
    before: { membership: null },
    after: { membership },
  });
  const lines = await db.prisma.audit.count();
  expect((await put(person)).status).toBe(204);
  expect(await db.prisma.audit.count()).toBe(lines);
  expect((await put(person, { role: "TEACHER" })).status).toBe(204);
  expect(await membersOf()).toMatchObject([{ id: person, role: "TEACHER" }]);
  expect(await lineOf("membership_role_changed")).toMatchObject({ before: { membership: { role: "STUDENT" } } });
  expect((await put(person)).status).toBe(204);
  expect(await membersOf()).toMatchObject([{ id: person, role: "STUDENT" }]);
  await take(person, { query: "?dry-run=true" });
  expect(await membersOf()).toHaveLength(1);
  expect((await take(person, { headers: { "If-Match": tag } })).status).toBe(204);
  expect(await membersOf()).toEqual([]);
  expect(await lineOf("membership_removed")).toMatchObject({ before: { membership }, after: { membership: null } });
  expect(refusalOf(await take(person))).toEqual([404, "membership_not_found"]);
  await office("PATCH", `/groups/${group}`, { body: { name: "Klasse 6a" } });
  for (const sent of [
    await put(person, {}, { headers: { "If-Match": tag } }),
    await take(person, { headers: { "If-Match": tag } }),
  ])
    expect(refusalOf(sent)).toEqual([412, "precondition_failed"]);
  expect(await membersOf()).toEqual([]);
});

test("only people whom the caller reaches, and who are at the school, come into a group", async () => {
  for (const change of [put, take]) {
    const [foreign, nobody] = [await change(stranger), await change(nowhere)];
    expect(refusalOf(foreign)).toEqual([404, "person_not_found"]);
    expect(withoutRequest(foreign)).toEqual(withoutRequest(nobody));
  }
  const sent = await operator("PUT", `/groups/${group}/members/${stranger}`, { body: {} });
  expect(refusalOf(sent)).toEqual([409, "person_not_at_school"]);
  await office("POST", `/people/${person}/soft-deletion`);
  expect(refusalOf(await put(person))).toEqual([409, "person_wrong_status"]);
});

test("the members of a group are listed by name, in pages and by every filter", async () => {
  const called = (first: string, last: string) => ({ firstFull: first, firstCall: first, last });
  const teacher = await make.person({ school, role: "TEACHER", name: called("Cem", "Zander"), groups: [group] });
  const ada = await make.person({ school, name: called("Ada", "Adler"), groups: [group], status: "SOFT_DELETED" });
  await setLogin(
    db,
    { personId: teacher, username: "cem", password: "correct horse battery" },
    { at: service.clock() },
  );
  const list = (query: string, call = support) => call("GET", `/groups/${group}/members?${query}`);
  expect((await list("")).body).toEqual([
    {
      id: ada,
      role: "STUDENT",
      name: called("Ada", "Adler"),
      status: "SOFT_DELETED",
      username: null,
      hasLogin: false,
      isGuest: false,
      blockedAt: null,
      lastSignInAt: null,
    },
    {
      id: teacher,
      role: "TEACHER",
      name: called("Cem", "Zander"),
      status: "ACTIVE",
      username: "cem",
      hasLogin: true,
      isGuest: false,
      blockedAt: null,
      lastSignInAt: null,
    },
  ]);
  expect(idsOf(await list("has-login=true"))).toEqual([teacher]);
  expect(idsOf(await list("has-login=false"))).toEqual([ada]);
  expect(idsOf(await list("search=ZANDER%20cem"))).toEqual([teacher]);
  const first = await list("limit=1");
  const rest = await support("GET", nextPage(first)!);
  expect([idsOf(first), idsOf(rest)]).toEqual([[ada], [teacher]]);
});

test("a class teacher sees the groups in which they teach, and no other", async () => {
  const { personId: holder, call } = await makeClassTeacher(service, { school, groups: [group] });
  const learnt = await make.group({ school });
  await make.membership({ group: learnt, person: holder, role: "STUDENT" });
  expect(idsOf(await call("GET", `/groups?school=${school}`))).toEqual([group]);
  expect((await call("GET", `/groups/${group}`)).status).toBe(200);
  expect(idsOf(await call("GET", `/groups/${group}/members`))).toEqual([holder]);
  const classes = await call("GET", `/schools/${school}/class-sign-ins`);
  expect(classes.body).toEqual([expect.objectContaining({ id: group, students: 0 })]);
  expect((await call("GET", `/schools/${school}/class-sign-ins?search=nowhere`)).body).toEqual([]);
  expect(refusalOf(await call("GET", `/schools/${other}/class-sign-ins`))).toEqual([404, "school_not_found"]);
  for (const id of [learnt, theirs, nowhere])
    for (const path of [`/groups/${id}`, `/groups/${id}/members`])
      expect(refusalOf(await call("GET", path)), path).toEqual([404, "group_not_found"]);
  expect(refusalOf(await call("GET", `/groups?school=${other}`))).toEqual([404, "school_not_found"]);
  const automation = (await makeStaff(service, "CLASS_TEACHER", { schoolIds: [school] })).call;
  for (const path of [`/groups?school=${school}`, `/schools/${school}/class-sign-ins`])
    expect((await automation("GET", path)).body, path).toEqual([]);
  expect(refusalOf(await automation("GET", `/groups/${group}`))).toEqual([404, "group_not_found"]);
});
