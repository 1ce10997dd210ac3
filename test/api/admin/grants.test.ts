import { expect, test } from "vitest";
import type { ClientId } from "../../../src/access/index.ts";
import type { PersonId, SchoolId } from "../../../src/directory/index.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, readPages } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";

type Schemas = components["schemas"];
type Counts = Schemas["ViewChangeCounts"];

const service = await startService();
const make = makeMakers(service.db);
const school = await make.school({ name: "Goethe-Schule" });
const otherSchool = await make.school({ name: "Anne-Frank-Schule" });
const [classA, classB] = [await make.group({ school }), await make.group({ school })];
const students: PersonId[] = [];
for (let n = 0; n < 3; n++) students.push(await make.person({ school, groups: [classA] }));
const teacher = await make.person({ school, role: "TEACHER", groups: [classA, classB] });
await make.person({ school, groups: [classB] });
const atOther = await make.group({ school: otherSchool });
const operator = await makeStaff(service, "OPERATOR");
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });

const pathOf = (schoolId: SchoolId, clientId: ClientId) => `/schools/${schoolId}/grants/${clientId}`;
const nobody = { signOn: { kind: "NOBODY" }, sync: false, syncedGroupIds: [] };
const everybody = { signOn: { kind: "EVERYBODY" }, sync: true, syncedGroupIds: [classA] };
const codeOf = (body: unknown) => (body as { code?: string }).code;
const without = (body: unknown) => ({ ...(body as object), requestId: null });

type Event = { type: string; action: string; subject_id: string };

async function eventsOf(clientId: ClientId): Promise<Event[]> {
  const text = "SELECT type, action, subject_id FROM app_event WHERE client_id = $1 ORDER BY seq";
  return (await service.db.pool.query<Event>(text, [clientId])).rows;
}

const ways = { create: "enter", restore: "enter", update: "change", delete: "leave" } as Record<string, keyof Counts>;

/** What events say, counted as a dry run counts it. */
function countEvents(events: Event[], type: string): Counts {
  const counts = { enter: 0, change: 0, leave: 0 };
  for (const event of events) if (event.type === type) counts[ways[event.action]!]++;
  return counts;
}

async function auditOf(clientId: ClientId, action: string) {
  return service.db.prisma.audit.findMany({ where: { clientId, action }, orderBy: { id: "asc" } });
}

/** Asks for a dry run, makes the change, and holds the one against the events that the other wrote. */
async function compare(method: "PUT" | "DELETE", clientId: ClientId, body?: object): Promise<Schemas["ViewChange"]> {
  const path = pathOf(school, clientId);
  const given = body === undefined ? {} : { body };
  const earlier = await eventsOf(clientId);
  const before = await admin.call("GET", path);
  const lines = await service.db.prisma.audit.count();
  const dry = await admin.call(method, `${path}?dry-run=true`, given);
  expect([dry.status, dry.headers.get("etag")]).toEqual([200, null]);
  expect(await eventsOf(clientId)).toEqual(earlier);
  expect(without((await admin.call("GET", path)).body)).toEqual(without(before.body));
  expect(await service.db.prisma.audit.count()).toBe(lines);
  expect((await admin.call(method, path, given)).status).toBe(204);
  const events = (await eventsOf(clientId)).slice(earlier.length);
  const [change, ...more] = dry.body as Schemas["ViewChange"][];
  expect(more).toEqual([]);
  expect(change!.people).toEqual(countEvents(events, "person"));
  expect(change!.groups).toEqual(countEvents(events, "group"));
  expect(change!.schools).toEqual(countEvents(events, "school"));
  for (const way of ["enter", "leave"] as const) {
    const people = events.filter(({ type, action }) => type === "person" && ways[action] === way);
    const named = change!.names[way].map(({ id }) => id);
    expect([...named].sort()).toEqual(people.map((event) => event.subject_id).sort());
  }
  return change!;
}

const noRoles = { students: 0, teachers: 0, others: 0 };

test("the dry run of switching sync on, of other groups and of withdrawing says what then happens", async () => {
  const { clientId } = await make.app({ name: "Lernapp" });
  const syncOnly = { ...everybody, signOn: { kind: "NOBODY" } };
  const on = await compare("PUT", clientId, syncOnly);
  expect(on).toMatchObject({
    clientId,
    appName: "Lernapp",
    schools: { enter: 1, change: 0, leave: 0 },
    people: { enter: 4, change: 0, leave: 0 },
    groups: { enter: 1, change: 0, leave: 0 },
  });
  expect(on.names.enter.map(({ id }) => id).sort()).toEqual([...students, teacher].sort());
  const { length } = students;
  expect(on.roles).toEqual({ enter: { students: length, teachers: 1, others: 0 }, leave: noRoles });
  expect(on.names.enter.every(({ name }) => name !== null && name.last !== "")).toBe(true);
  const other = await compare("PUT", clientId, { ...syncOnly, syncedGroupIds: [classB] });
  expect(other.people).toEqual({ enter: 1, change: 1, leave: 3 });
  const users = await compare("PUT", clientId, { ...everybody, syncedGroupIds: [classB] });
  expect(users.people).toEqual({ enter: 3, change: 0, leave: 0 });
  const off = await compare("DELETE", clientId);
  expect(off.people).toEqual({ enter: 0, change: 0, leave: 5 });
  expect(off.schools).toEqual({ enter: 0, change: 0, leave: 1 });
});

test("the dry run of a grant that lets people sign in only says that no app sees a difference", async () => {
  const { clientId } = await make.app();
  const path = pathOf(school, clientId);
  const dry = await admin.call("PUT", `${path}?dry-run=true`, { body: { ...nobody, signOn: { kind: "EVERYBODY" } } });
  expect([dry.status, dry.body]).toEqual([200, []]);
  expect(codeOf((await admin.call("GET", path)).body)).toBe("grant_not_found");
});

test("a grant is set, read back, changed and withdrawn; each leaves an audit line of who, in which role, and what", async () => {
  const { clientId } = await make.app();
  const path = pathOf(school, clientId);
  const put = await admin.call("PUT", path, { body: everybody });
  const read = await admin.call("GET", path);
  const signOn = { kind: "EVERYBODY", roles: [], groupIds: [] };
  expect(read.body).toEqual({ clientId, schoolId: school, signOn, sync: true, syncedGroupIds: [classA] });
  expect(read.headers.get("etag")).toBe(put.headers.get("etag"));
  const roles = { ...everybody, signOn: { kind: "ROLES", roles: ["TEACHER"] } };
  const ifMatch = { "if-match": read.headers.get("etag")! };
  expect((await admin.call("PUT", path, { body: roles, headers: ifMatch })).status).toBe(204);
  const stale = await admin.call("PUT", path, { body: nobody, headers: ifMatch });
  const now = await admin.call("GET", path);
  expect(now.body).toMatchObject({ signOn: { kind: "ROLES", roles: ["TEACHER"], groupIds: [] } });
  expect([stale.status, codeOf(stale.body)]).toEqual([412, "precondition_failed"]);
  expect((stale.body as { current: unknown }).current).toEqual(now.body);
  expect(stale.headers.get("etag")).toBe(now.headers.get("etag"));
  expect((await admin.call("DELETE", path, { headers: ifMatch })).status).toBe(412);
  const groups = { ...nobody, signOn: { kind: "GROUPS", groupIds: [classB] } };
  expect((await admin.call("PUT", path, { body: groups })).status).toBe(204);
  expect((await admin.call("GET", path)).body).toMatchObject({ signOn: { kind: "GROUPS", groupIds: [classB] } });
  expect((await admin.call("DELETE", path)).status).toBe(204);
  expect(codeOf((await admin.call("DELETE", path)).body)).toBe("grant_not_found");
  const gone = await admin.call("PUT", path, { body: nobody, headers: ifMatch });
  expect([gone.status, (gone.body as { current: unknown }).current]).toEqual([412, null]);

  const lines = await auditOf(clientId, "grant_set");
  const first = lines.find(({ before }) => before === null);
  const second = lines.find(({ after }) => JSON.stringify(after).includes('"TEACHER"'));
  const actor = { actorId: `app:${admin.app.clientId}`, actorRole: "SCHOOL_ADMIN", schoolId: school };
  expect(first).toMatchObject({ ...actor, before: null, after: read.body });
  expect(second).toMatchObject({ ...actor, before: { signOn }, after: { signOn: { kind: "ROLES" } } });
  expect(await auditOf(clientId, "grant_withdrawn")).toMatchObject([{ ...actor, after: null }]);
});

test("a group of another school, and roles or groups that do not fit the kind, are refused", async () => {
  const { clientId } = await make.app();
  const codes = [];
  for (const body of [
    { ...everybody, syncedGroupIds: [atOther] },
    { ...nobody, signOn: { kind: "GROUPS", groupIds: [atOther] } },
    { ...nobody, signOn: { kind: "ROLES" } },
    { ...nobody, signOn: { kind: "EVERYBODY", roles: ["TEACHER"] } },
    { ...nobody, signOn: { kind: "ROLES", roles: ["TEACHER"], groupIds: [] } },
  ]) {
    const sent = await admin.call("PUT", pathOf(school, clientId), { body });
    codes.push([sent.status, codeOf(sent.body)]);
  }
  const [otherGroup, invalid] = [
    [400, "group_of_other_school"],
    [400, "invalid_request"],
  ];
  const unknownApp = await admin.call("PUT", pathOf(school, "no-such-app" as ClientId), { body: nobody });
  expect([unknownApp.status, codeOf(unknownApp.body)]).toEqual([404, "app_not_found"]);
  expect(codes).toEqual([otherGroup, otherGroup, invalid, invalid, invalid]);
  expect(codeOf((await admin.call("GET", pathOf(school, clientId))).body)).toBe("grant_not_found");
});

test("partners and support read the grants of theirs", async () => {
  const { clientId } = await make.app();
  const { clientId: foreign } = await make.app();
  await make.grant({ app: clientId, school });
  await make.grant({ app: foreign, school });
  const path = pathOf(school, clientId);
  const partner = await makeStaff(service, "PARTNER", { clientIds: [clientId] });
  const support = await makeStaff(service, "SUPPORT", { schoolIds: [school] });
  expect((await support.call("GET", path)).status).toBe(200);
  expect((await partner.call("GET", path)).status).toBe(200);
  const other = await partner.call("GET", pathOf(school, foreign));
  const missing = await partner.call("GET", pathOf(school, "no-such-app" as ClientId));
  expect([other.status, without(other.body)]).toEqual([404, without(missing.body)]);
  const listed = (await partner.call("GET", "/grants")).body as Schemas["Grant"][];
  expect(listed.map((grant) => grant.clientId)).toEqual([clientId]);
  const { name } = await service.db.prisma.school.findUniqueOrThrow({ where: { id: school } });
  expect(listed).toMatchObject([{ schoolId: school, schoolName: name }]);
  expect((await partner.call("GET", `/grants?school=${school}`)).body).toEqual(listed);
  expect(codeOf((await partner.call("GET", `/grants?school=${otherSchool}`)).body)).toBe("school_not_found");
  expect(codeOf((await partner.call("GET", `/grants?app=${foreign}`)).body)).toBe("app_not_found");
});

test("grants are listed by names of app and school, in pages, within reach", async () => {
  const [zebra, apfel] = [await make.app({ name: "Zebra 9" }), await make.app({ name: "Äpfel 9" })];
  const third = await make.school({ name: "Zuse-Schule" });
  const district = await makeStaff(service, "DISTRICT", { schoolIds: [school, otherSchool] });
  for (const { clientId } of [zebra, apfel])
    for (const at of [third, school, otherSchool]) await make.grant({ app: clientId, school: at });
  const mine = (body: unknown) =>
    (body as Schemas["Grant"][])
      .filter(({ clientId }) => clientId === zebra.clientId || clientId === apfel.clientId)
      .map(({ clientId, schoolId }) => [clientId, schoolId]);
  const expected = [
    [apfel.clientId, otherSchool],
    [apfel.clientId, school],
    [zebra.clientId, otherSchool],
    [zebra.clientId, school],
  ];
  const whole = await district.call("GET", "/grants?limit=1000");
  expect(whole.headers.get("link")).toBeNull();
  expect(mine(whole.body)).toEqual(expected);
  expect((await readPages(district.call, "/grants?limit=1")).flat()).toEqual(whole.body);
  const one = await district.call("GET", `/grants?app=${zebra.clientId}&school=${school}`);
  expect(mine(one.body)).toEqual([[zebra.clientId, school]]);
  expect(codeOf((await district.call("GET", `/grants?school=${third}`)).body)).toBe("school_not_found");
  expect(codeOf((await district.call("GET", "/grants?app=no-such-app")).body)).toBe("app_not_found");
  const everything = await operator.call("GET", "/grants?limit=1000");
  expect(mine(everything.body)).toHaveLength(6);
  expect(mine((await operator.call("GET", `/grants?school=${third}`)).body)).toHaveLength(2);
});
