import { beforeEach, expect, test } from "vitest";
import type { ClientId } from "../../../src/access/index.ts";
import { makeMergerSweep, type GroupId, type PersonId, type SchoolId } from "../../../src/directory/index.ts";
import { makeStaff, refusalOf, type AdminClient } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { issueAppToken, type TestApp } from "../../support/token.ts";

const service = await startService();
const { db } = service;
const make = makeMakers(db);

let [from, into]: SchoolId[] = [];
let [ours, theirs, free]: GroupId[] = [];
let [pupil, teacher, both]: PersonId[] = [];
let call: AdminClient;

type Merger = { id: string; state: string; people: number; groups: number; apps: number };
type Preview = { apps: object[]; renamedGroups: string[]; views: { clientId: string; people: object }[] };

beforeEach(async () => {
  [from, into] = [await make.school({ name: "Waldschule" }), await make.school({ name: "Seeschule" })];
  ours = await make.group({ school: from!, name: "5a", sourceSystemIdentifier: "wald-5a" });
  free = await make.group({ school: from!, name: "9c" });
  theirs = await make.group({ school: into!, name: "5a", sourceSystemIdentifier: "see-5a" });
  pupil = await make.person({ school: from!, groups: [ours], sourceSystemIdentifier: "4001" });
  teacher = await make.person({ school: from!, role: "TEACHER", groups: [ours], sourceSystemIdentifier: "77" });
  both = await make.person({ school: into!, groups: [theirs], sourceSystemIdentifier: "4001" });
  await db.prisma.affiliation.create({ data: { id: crypto.randomUUID(), personId: both, schoolId: from! } });
  await db.prisma.membership.create({
    data: { groupId: free, personId: both, schoolId: from!, role: "STUDENT" },
  });
  call = (await makeStaff(service, "DISTRICT", { schoolIds: [from!, into!] })).call;
});

const merge = (body: object = {}, query = "", caller = call) =>
  caller("POST", `/schools/${from!}/mergers${query}`, { body: { intoSchoolId: into!, ...body } });
const merged = async (body: object = {}) => {
  const { status, body: made } = await merge(body);
  expect([status, made]).toMatchObject([201, { state: "MERGED" }]);
  return made as Merger;
};
const undo = (id: string, caller = call, at = into!) => caller("DELETE", `/schools/${at}/mergers/${id}`);

/** Everything of both schools, without times. */
async function everything() {
  const at = { in: [from!, into!] };
  const [people, groups, grants, roles] = await Promise.all([
    db.prisma.person.findMany({
      where: { affiliations: { some: { schoolId: at } } },
      omit: { updatedAt: true },
      include: {
        affiliations: {
          orderBy: { schoolId: "asc" },
          include: {
            memberships: { orderBy: { groupId: "asc" } },
            cards: { select: { id: true } },
            choices: { select: { clientId: true } },
          },
        },
      },
      orderBy: { id: "asc" },
    }),
    db.prisma.group.findMany({ where: { schoolId: at }, omit: { updatedAt: true }, orderBy: { id: "asc" } }),
    db.prisma.grant.findMany({
      where: { schoolId: at },
      omit: { updatedAt: true, createdAt: true },
      include: { syncedGroups: { orderBy: { groupId: "asc" } }, signOnGroups: { orderBy: { groupId: "asc" } } },
      orderBy: [{ clientId: "asc" }, { schoolId: "asc" }],
    }),
    db.prisma.staffRoleSchool.findMany({ where: { schoolId: at }, orderBy: [{ roleId: "asc" }, { schoolId: "asc" }] }),
  ]);
  return { people, groups, grants, roles };
}
/** Who was at both gets a new record at the school that they left. */
const withoutIdsOf = ({ people, ...rest }: Awaited<ReturnType<typeof everything>>, guest: PersonId) => ({
  ...rest,
  people: people.map((person) =>
    person.id === guest ? { ...person, affiliations: person.affiliations.map((one) => ({ ...one, id: "" })) } : person,
  ),
});

/** The users or groups of a school that the app gets by the IDM API. */
async function seenBy(clientId: ClientId, list: "users" | "groups", school = into!): Promise<string[]> {
  const token = await issueAppToken(service, { clientId } as TestApp, ["users:read", "groups:read"]);
  const address = `${service.url}/idm/ep/v1/schools/${school}/${list}`;
  const answer = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { id: string }[]).map(({ id }) => id).sort();
}

test("everybody moves with groups, and keeps ids, login cards and memberships", async () => {
  const affiliation = await db.prisma.affiliation.findUniqueOrThrow({
    where: { personId_schoolId: { personId: pupil!, schoolId: from! } },
  });
  expect(await merged()).toMatchObject({ people: 3, groups: 2, apps: 0, from: { id: from }, into: { id: into } });
  const { people, groups } = await everything();
  expect(people.map(({ id, homeSchoolId }) => [id, homeSchoolId]).sort()).toEqual(
    [pupil!, teacher!, both!].map((id) => [id, into]).sort(),
  );
  expect(people.flatMap((person) => person.affiliations.map(({ schoolId }) => schoolId))).toEqual([into, into, into]);
  expect(people.find(({ id }) => id === pupil)).toMatchObject({
    sourceSystemIdentifier: null,
    affiliations: [{ id: affiliation.id, memberships: [{ groupId: ours, schoolId: into }] }],
  });
  expect(people.find(({ id }) => id === both)?.affiliations[0]?.memberships).toHaveLength(2);
  expect(groups.find(({ id }) => id === ours)).toMatchObject({ name: "5a (Waldschule)", schoolId: into });
  expect(groups.find(({ id }) => id === free)).toMatchObject({ name: "9c", schoolId: into });
});

test("ids of the source system are kept on request, unless the receiving school has them", async () => {
  const preview = (await merge({ keepSourceIds: true }, "?dry-run=true")).body as Preview;
  expect(preview).toMatchObject({ people: 3, peopleAtBoth: 1, groups: 2, renamedGroups: ["5a"], removedSourceIds: 1 });
  await merged({ keepSourceIds: true });
  const idOf = async (id: PersonId) =>
    (await db.prisma.person.findUniqueOrThrow({ where: { id } })).sourceSystemIdentifier;
  expect([await idOf(pupil!), await idOf(teacher!), await idOf(both!)]).toEqual([null, "77", "4001"]);
});

test("an app gets after it exactly what either school gave it, for the same people", async () => {
  const apps = await Promise.all(["only left", "both", "only right", "withheld"].map((name) => make.app({ name })));
  const [left, joint, right, guarded] = apps.map(({ clientId }) => clientId);
  await make.grant({ app: left!, school: from!, groups: [ours!] });
  await make.grant({ app: joint!, school: from!, groups: [ours!], signOn: { kind: "GROUPS", groups: [ours!] } });
  await make.grant({ app: joint!, school: into!, groups: [theirs!], signOn: { kind: "GROUPS", groups: [theirs!] } });
  await make.grant({ app: right!, school: into!, groups: [theirs!], signOn: { kind: "GROUPS", groups: [theirs!] } });
  await make.grant({ app: guarded!, school: from!, groups: [ours!] });
  await make.withheld({ app: guarded!, school: from!, attributes: ["PERSON_NAME"] });
  await make.grant({ app: guarded!, school: into!, groups: [theirs!], signOn: { kind: "GROUPS", groups: [theirs!] } });
  const stranger = await make.person({ school: into!, groups: [theirs!] });

  const before = await seenBy(left!, "users", from);

  const outcomes = ((await merge({}, "?dry-run=true")).body as Preview).apps;
  expect(outcomes).toEqual([
    { clientId: joint, name: "both", outcome: "JOINED", losesAudience: false },
    { clientId: left, name: "only left", outcome: "MOVED", losesAudience: false },
    { clientId: guarded, name: "withheld", outcome: "LEFT_BEHIND", losesAudience: false },
  ]);
  await merged();
  expect(await seenBy(left!, "groups")).toEqual([ours]);
  expect(await seenBy(left!, "users")).toEqual(before);
  expect(await seenBy(joint!, "users")).toEqual([pupil!, teacher!, both!, stranger].sort());
  expect(await seenBy(right!, "users")).toEqual([both!, stranger].sort());
  expect(await seenBy(guarded!, "users")).toEqual([both!, stranger].sort());
  const grants = await db.prisma.grant.findMany({ where: { schoolId: into!, clientId: left! } });
  expect(grants).toMatchObject([{ signOnAudience: "GROUPS" }]);
  expect(await db.prisma.grant.count({ where: { schoolId: from! } })).toBe(0);
});

test("what was withheld from an app of one school stays withheld", async () => {
  const { clientId } = await make.app();
  await make.grant({ app: clientId, school: from!, groups: [ours!] });
  await make.withheld({ app: clientId, school: from!, attributes: ["PERSON_NAME"] });
  await merged();
  expect(await db.prisma.withheldItem.findMany({ where: { schoolId: into! } })).toMatchObject([
    { item: "PERSON_NAME" },
  ]);
});

test("a preview changes nothing", async () => {
  const { clientId } = await make.app();
  await make.grant({ app: clientId, school: from!, groups: [ours!] });
  const before = await everything();
  const { views } = (await merge({}, "?dry-run=true")).body as Preview;
  expect(views.map((view) => view.clientId)).toEqual([clientId]);
  expect(await everything()).toEqual(before);
  expect((await call("GET", `/schools/${into!}/mergers`)).body).toEqual([]);
});

test("undone, both schools are as they were, also who is at both, and roles and grants", async () => {
  const apps = await Promise.all(["one", "two"].map((name) => make.app({ name })));
  const [one, two] = apps.map(({ clientId }) => clientId);
  await make.grant({ app: one!, school: from!, groups: [ours!], signOn: { kind: "ROLES", roles: ["TEACHER"] } });
  await make.grant({ app: two!, school: from!, groups: [ours!, free!] });
  await make.grant({ app: two!, school: into!, groups: [theirs!], signOn: { kind: "GROUPS", groups: [theirs!] } });
  await makeStaff(service, "CLASS_TEACHER", { schoolIds: [from!] });
  await makeStaff(service, "SECRETARY", { schoolIds: [from!] });
  const before = await everything();
  const { id } = await merged();
  const between = await everything();
  expect(between.roles).toHaveLength(before.roles.length + 1);
  expect(await undo(id)).toMatchObject({ status: 200, body: { id, state: "UNDONE" } });
  expect(withoutIdsOf(await everything(), both!)).toEqual(withoutIdsOf(before, both!));
  expect(refusalOf(await undo(id))).toEqual([409, "merger_closed"]);
});

test("undone after changes, what is new stays at the receiving school, and who has left stays away", async () => {
  const { id } = await merged();
  const { clientId } = await make.app();
  await make.grant({ app: clientId, school: into!, groups: [ours!, theirs!] });
  await make.membership({ group: theirs!, person: pupil! });
  await call("PUT", `/people/${teacher!}/home-school`, { body: { schoolId: into! } });
  const later = await make.person({ school: into!, groups: [theirs!] });
  expect((await undo(id)).status).toBe(200);
  const { people, grants } = await everything();
  expect(people.find((person) => person.id === pupil)?.affiliations).toMatchObject([
    { schoolId: from, memberships: [{ groupId: ours }] },
  ]);
  expect(people.find((person) => person.id === later)?.homeSchoolId).toBe(into);
  expect(grants).toMatchObject([{ clientId, schoolId: into, syncedGroups: [{ groupId: theirs }] }]);
});

test("a merger whose groups others have joined is undone only when they are out again", async () => {
  const { id } = await merged();
  const newcomer = await make.person({ school: into!, groups: [ours!] });
  expect(refusalOf(await undo(id))).toEqual([409, "merger_groups_joined"]);
  await db.prisma.membership.deleteMany({ where: { personId: newcomer } });
  expect((await undo(id)).status).toBe(200);
});

test("a school that was merged on is separated last first", async () => {
  const third = await make.school();
  const { call: operator } = await makeStaff(service, "OPERATOR");
  const { id } = await merged();
  const on = await operator("POST", `/schools/${into!}/mergers`, { body: { intoSchoolId: third } });
  expect(on.status).toBe(201);
  expect(refusalOf(await undo(id, operator))).toEqual([409, "merger_closed"]);
  expect((await undo((on.body as Merger).id, operator, third)).status).toBe(200);
  expect((await undo(id, operator)).status).toBe(200);
});

test("after its time nothing of people is kept, and it is final", async () => {
  const { id } = await merged();
  await db.prisma.schoolMerger.update({ where: { id }, data: { undoUntil: new Date("2020-01-01T00:00:00Z") } });
  await makeMergerSweep({ db, clock: service.clock }).run(new AbortController().signal);
  expect(await db.prisma.mergedPerson.count({ where: { mergerId: id } })).toBe(0);
  expect(refusalOf(await undo(id))).toEqual([409, "merger_closed"]);
  const list = (await call("GET", `/schools/${from!}/mergers`)).body as Merger[];
  expect(list).toMatchObject([{ id, state: "FINAL" }]);
});

test("whoever does not manage both schools can neither merge them nor undo it", async () => {
  const { call: ofOne } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [from!] });
  expect(refusalOf(await merge({}, "", ofOne))).toEqual([404, "school_not_found"]);
  const { id } = await merged();
  expect(refusalOf(await undo(id, ofOne, from!))).toEqual([404, "school_not_found"]);
  expect(refusalOf(await call("POST", `/schools/${from!}/mergers`, { body: { intoSchoolId: from! } }))).toEqual([
    400,
    "merged_with_itself",
  ]);
  expect(refusalOf(await undo("019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a20"))).toEqual([404, "merger_not_found"]);
});

test("both schools and everybody who moved have it in the audit log", async () => {
  const { id } = await merged();
  const all = await db.prisma.audit.findMany({ where: { action: "school_merged" }, orderBy: { id: "asc" } });
  const lines = all.filter((line) => (line.detail as { mergerId?: string } | null)?.mergerId === id);
  expect(lines).toHaveLength(5);
  expect(new Set(lines.map(({ schoolId }) => schoolId))).toEqual(new Set([from, into]));
});
