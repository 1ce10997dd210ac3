import { beforeEach, expect, test } from "vitest";
import type { ClientId } from "../../../src/access/index.ts";
import type { SchoolId } from "../../../src/directory/index.ts";
import { foldGroupName } from "../../../src/imports/difference/look-alikes.ts";
import { makeStaff, refusalOf, type AdminClient, readPages } from "../../support/admin.ts";
import { expectDescribed } from "../../support/described.ts";
import { rosterType } from "../../support/import-office.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";

const service = await startService();
const { db } = service;
const make = makeMakers(db);
const nowhere = "00000000-0000-4000-8000-00000000dead";

let school: SchoolId;
let office: AdminClient;
let support: AdminClient;

beforeEach(async () => {
  school = await make.school();
  office = (await makeStaff(service, "SECRETARY", { schoolIds: [school] })).call;
  support = (await makeStaff(service, "SUPPORT", { schoolIds: [school] })).call;
});

type Shown = { id: string; state: string; leavers: number; schools: { groups: Record<string, number> }[] };
type LookAlike = {
  inRoster: { sourceSystemIdentifier: string };
  existing: { groupId: string; name: string; sourceSystemIdentifier: string | null };
};

const csv = (...rows: string[]) =>
  Buffer.from(["id;role;first_name;last_name;classes;courses", ...rows, ""].join("\n"));
const handIn = async (file: Buffer, query = "") =>
  (await office("POST", `/imports?school=${school}${query}`, { body: file, headers: rosterType })).body as Shown;
const apply = async (id: string, body: object = {}) => {
  const sent = await office("POST", `/imports/${id}/application`, { body });
  expect([sent.status, sent.body]).toEqual([200, expect.objectContaining({ state: "APPLIED" })]);
};
const read = async (id: string) => (await office("GET", `/imports/${id}`)).body as Shown;
const join = (id: string, groupId: string, sourceSystemIdentifier: string, call = office) =>
  call("POST", `/imports/${id}/joined-groups?school=${school}`, { body: { groupId, sourceSystemIdentifier } });
const lookAlikes = async (id: string) => (await office("GET", `/imports/${id}/look-alikes`)).body as LookAlike[];
const groupNamed = (name: string) => db.prisma.group.findFirstOrThrow({ where: { schoolId: school, name } });

test("group names look alike whatever the word in front, zeros, spaces and capitals", () => {
  const pairs = (text: string) => text.split(",").map((pair) => pair.split("="));
  for (const [one, other] of pairs("5a=Klasse 5 A,05a=5a,Bär=BÄR,10-b=10b"))
    expect(foldGroupName(one!)).toBe(foldGroupName(other!));
  for (const [one, other] of pairs("5a=5b,Bär=Bar,50=5,Klassenrat=rat"))
    expect(foldGroupName(one!)).not.toBe(foldGroupName(other!));
});

test("a class of the roster that looks like one made by hand is joined with it and keeps its id and guests", async () => {
  const byHand = await make.group({ school, name: "Klasse 5 A", type: "KLASSE" });
  await make.group({ school, name: "5a", type: "KURS" });
  const guest = await make.person({ school });
  await office("PUT", `/groups/${byHand}/members/${guest}`, { body: {} });
  const { id } = await handIn(csv("1;student;Jörg;Müßig;5a;"));
  const listed = await office("GET", `/imports/${id}/look-alikes?school=${school}`);
  expectDescribed("listImportLookAlikes", listed);
  expect(listed.body).toEqual([
    {
      type: "KLASSE",
      inRoster: { name: "5a", sourceSystemIdentifier: "class:5a", members: 1 },
      existing: { groupId: byHand, name: "Klasse 5 A", sourceSystemIdentifier: null, members: 1 },
    },
  ]);
  expect((await support("GET", `/imports/${id}/look-alikes`)).body).toEqual(listed.body);
  expect(refusalOf(await join(id, byHand, "class:5b"))).toEqual([409, "not_look_alike"]);
  expect(refusalOf(await join(id, nowhere, "class:5a"))[0]).toBeGreaterThanOrEqual(404);
  expect(refusalOf(await join(id, byHand, "class:5a", support))).toEqual([403, "role_forbids"]);
  const joined = await join(id, byHand, "class:5a");
  expect(joined.status).toBe(204);
  const line = await db.prisma.audit.findFirst({ where: { action: "group_source_id_set", schoolId: school } });
  expect(line).toMatchObject({
    actorRole: "SECRETARY",
    detail: { groupId: byHand },
    before: { sourceSystemIdentifier: null },
    after: { sourceSystemIdentifier: "class:5a" },
  });
  expect(await lookAlikes(id)).toEqual([]);
  expect((await read(id)).schools).toMatchObject([{ groups: { created: 0, changed: 1 } }]);
  expect(refusalOf(await join(id, byHand, "class:5a"))).toEqual([409, "not_look_alike"]);
  await apply(id);
  expect(await groupNamed("5a")).toBeDefined();
  const members = (await office("GET", `/groups/${byHand}/members`)).body as { name: { last: string } }[];
  expect(members).toHaveLength(2);
  expect((await office("GET", `/groups/${byHand}`)).body).toMatchObject({ name: "5a" });
});

test("a class that has another id in the roster is joined, and the import is then not held for its end", async () => {
  const first = await handIn(csv("1;student;A;A;5a;"));
  await apply(first.id);
  const group = await groupNamed("5a");
  await db.prisma.group.update({ where: { id: group.id }, data: { sourceSystemIdentifier: "alt-17" } });
  const second = await handIn(csv("1;student;A;A;5a;"));
  expect(second.state).toBe("HELD");
  expect(await lookAlikes(second.id)).toMatchObject([
    {
      existing: { groupId: group.id, sourceSystemIdentifier: "alt-17" },
      inRoster: { sourceSystemIdentifier: "class:5a" },
    },
  ]);
  expect((await join(second.id, group.id, "class:5a")).status).toBe(204);
  expect(await read(second.id)).toMatchObject({ state: "READY", schools: [{ groups: { created: 0, removed: 0 } }] });
  await apply(second.id);
  expect((await groupNamed("5a")).id).toBe(group.id);
  expect(refusalOf(await join(second.id, group.id, "class:5a"))).toEqual([409, "import_applied"]);
});

test("look-alikes come in pages", async () => {
  for (const name of ["Klasse 5a", "Klasse 5b", "Klasse 5c"]) await make.group({ school, name, type: "KLASSE" });
  const { id } = await handIn(csv("1;student;A;A;5a|5b|5c;"));
  const all = await lookAlikes(id);
  expect(all).toHaveLength(3);
  const pages = await readPages(office, `/imports/${id}/look-alikes?limit=2`);
  expect([pages.length, pages.flat()]).toEqual([2, all]);
});

test("at the change of the school year each class is listed with the one where its pupils go on", async () => {
  const pupils = (first: number, from: string, many: number) =>
    Array.from({ length: many }, (_, n) => `${first + n};student;K;N${first + n};${from};`);
  const start = await handIn(
    csv(...pupils(1, "5a", 4), ...pupils(11, "5b", 4), ...pupils(21, "9c", 3), "99;teacher;L;L;5a|5b;"),
  );
  await apply(start.id);
  const [a, b] = [await groupNamed("5a"), await groupNamed("5b")];
  const next = csv(
    ...pupils(1, "6a", 4),
    ...pupils(11, "6b", 3),
    "14;student;K;N14;6a;",
    ...pupils(21, "9c", 3),
    "99;teacher;L;L;6a|6b;",
  );
  const { id } = await handIn(next);
  const listed = await office("GET", `/imports/${id}/group-moves?school=${school}`);
  expectDescribed("listImportGroupMoves", listed);
  expect(listed.body).toEqual([
    {
      from: { groupId: a.id, name: "5a", sourceSystemIdentifier: "class:5a", members: 5 },
      to: { name: "6a", sourceSystemIdentifier: "class:6a", members: 6 },
      moving: 4,
      isCarriedOver: false,
      endsOtherwise: true,
      apps: [],
    },
    {
      from: { groupId: b.id, name: "5b", sourceSystemIdentifier: "class:5b", members: 5 },
      to: { name: "6b", sourceSystemIdentifier: "class:6b", members: 4 },
      moving: 3,
      isCarriedOver: false,
      endsOtherwise: true,
      apps: [],
    },
  ]);
  const pairs = encodeURIComponent("class:5a=class:6a\nclass:5b=class:6b");
  const again = await handIn(next, `&school-year=2026%2F27&carry-over=${pairs}`);
  expect((await office("GET", `/imports/${again.id}/group-moves`)).body).toMatchObject([
    { from: { groupId: a.id, name: "5a" }, to: { name: "6a" }, isCarriedOver: true },
    { from: { groupId: b.id, name: "5b" }, to: { name: "6b" }, isCarriedOver: true },
  ]);
  await apply(again.id);
  expect([(await groupNamed("6a")).id, (await groupNamed("6b")).id]).toEqual([a.id, b.id]);
});

test("classes go on as others by what is said of an import, so that its file need not be handed in again", async () => {
  await apply((await handIn(csv("1;student;A;A;5a;", "2;student;B;B;6a;"))).id);
  const [five, six] = [await groupNamed("5a"), await groupNamed("6a")];
  const { id, state } = await handIn(csv("1;student;A;A;6a;", "2;student;B;B;7a;"));
  expect(state).toBe("HELD");
  const set = (moves: { from: string; to: string }[], call = office) =>
    call("POST", `/imports/${id}/group-moves?school=${school}`, { body: { schoolYear: "2026/27", moves } });
  const move = (from: string, to: string) => ({ from: `class:${from}`, to: `class:${to}` });
  for (const [moves, code] of [
    [[move("5a", "6a"), move("5a", "7a")], "carried_over_twice"],
    [[move("5a", "9z")], "carry_over_unknown"],
  ] as const) {
    const refused = await set([...moves]);
    expectDescribed("setImportGroupMoves", refused);
    expect(refusalOf(refused)).toEqual([400, code]);
  }
  const moves = [move("5a", "6a"), move("6a", "7a")];
  expect(refusalOf(await set(moves, support))).toEqual([403, "role_forbids"]);
  expect((await set([move("6a", "7a")])).status).toBe(204);
  expect((await set(moves)).status).toBe(204);
  expect(await read(id)).toMatchObject({
    state: "READY",
    schools: [{ groups: { carriedOver: 2, created: 0, removed: 0 } }],
  });
  const line = {
    where: { action: "import_group_moves_set", schoolId: school, detail: { path: ["moves"], equals: 2 } },
  };
  expect(await db.prisma.audit.findMany({ ...line, orderBy: { id: "asc" } })).toMatchObject([
    { actorRole: "SECRETARY", detail: { importId: id } },
  ]);
  await apply(id);
  expect([(await groupNamed("6a")).id, (await groupNamed("7a")).id]).toEqual([five.id, six.id]);
  expect(refusalOf(await set(moves))).toEqual([409, "import_applied"]);
});

test("an import goes on being undone behind the answer", async () => {
  const { id } = await handIn(csv("1;student;A;A;5a;"), "&format=PLAIN&people=ALL");
  await apply(id);
  const going = await office("POST", `/imports/${id}/undo?in-background=true`, { body: {} });
  expectDescribed("undoImport", going);
  while ((await read(id)).state !== "UNDONE");
});

test("the look ahead says who becomes visible to which app, and changes nothing", async () => {
  const { clientId, name } = { clientId: (await make.app({ name: "Lernapp Ä" })).clientId, name: "Lernapp Ä" };
  await make.grant({ app: clientId as ClientId, school, signOn: { kind: "EVERYBODY" } });
  const { id } = await handIn(csv("1;student;Jörg;Müßig;5a;", "2;teacher;Bo;B;5a;"));
  const before = await db.prisma.audit.count();
  const countEvents = () => db.prisma.appEvent.count({ where: { clientId, type: "person" } });
  const looked = await office("GET", `/imports/${id}/view-changes?school=${school}`);
  expectDescribed("previewImport", looked);
  expect([looked.status, (looked.body as object[]).length]).toEqual([200, 1]);
  expect(looked.body).toMatchObject([{ clientId, appName: name, people: { enter: 2, change: 0, leave: 0 } }]);
  const [{ names }] = looked.body as [{ names: { enter: { name: { last: string } }[] } }];
  expect(names.enter.map(({ name: of }) => of.last).sort()).toEqual(["B", "Müßig"]);
  expect(await db.prisma.person.count({ where: { homeSchoolId: school } })).toBe(0);
  expect([await db.prisma.audit.count(), await countEvents()]).toEqual([before, 0]);
  expect(await read(id)).toMatchObject({ state: "READY", progress: null });
  await apply(id);
  expect(await countEvents()).toBe(2);
  expect(refusalOf(await office("GET", `/imports/${id}/view-changes`))).toEqual([409, "import_applied"]);
  const held = await handIn(csv("2;teacher;Bo;B;5a;"));
  expect(held.state).toBe("HELD");
  expect((await office("GET", `/imports/${held.id}/view-changes`)).body).toMatchObject([{ people: { leave: 1 } }]);
});

type Import = { id: string; state: string; undoUntil: string | null; undoneAt: string | null };
type Entry = { id: string; kind: string; personName: { last: string } | null; groupName: string | null } & {
  step: string;
  reasons: string[];
  changedAt: string | null;
} & Record<"classesNow" | "classesThen", string[]>;

async function applyRows(...rows: string[]): Promise<Import> {
  const made = await handIn(csv(...rows.map((row) => `${row};`)));
  service.clock.forwardSeconds(60);
  const confirm = { body: { confirmLeavers: made.leavers } };
  return (await office("POST", `/imports/${made.id}/application`, confirm)).body as Import;
}

test("an import is previewed, listed and undone as far as nobody changed anything since", async () => {
  const foreign = (await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [await make.school()] })).call;
  const { clientId } = await make.app();
  await make.grant({ app: clientId, school });
  await applyRows("1;student;Ada;Muster;5a", "2;student;Bo;Bei;5a", "3;student;Cem;Chor;5a");
  const applied = await applyRows("1;student;Ada;Muster;6a", "2;student;Bo;Bei;6a", "4;student;Di;Dur;6a");
  expect(applied).toMatchObject({ state: "APPLIED", undoneAt: null, undoUntil: expect.any(String) });
  const { id } = applied;
  const bo = await db.prisma.person.findFirstOrThrow({ where: { homeSchoolId: school, last: "Bei" } });
  const six = await db.prisma.group.findFirstOrThrow({ where: { schoolId: school, name: "6a" } });
  const other = await make.group({ school, name: "6b" });
  await office("DELETE", `/groups/${six.id}/members/${bo.id}`);
  await office("PUT", `/groups/${other}/members/${bo.id}`, { body: {} });

  const preview = await support("GET", `/imports/${id}/undo?school=${school}`);
  expectDescribed("previewImportUndo", preview);
  expect(preview.body).toMatchObject({
    people: { restored: 1, removed: 1, changed: 1 },
    groups: { restored: 1, removed: 1, changed: 0 },
    memberships: { restored: 2, removed: 1 },
    kept: { people: 1, groups: 0 },
    deletedForGood: 0,
    viewChanges: [{ clientId, people: { enter: 1, leave: 1 } }],
  });
  expect(await db.prisma.person.count({ where: { homeSchoolId: school, status: "ACTIVE" } })).toBe(3);

  const kept = await support("GET", `/imports/${id}/undo/entries?kept=true&school=${school}`);
  expectDescribed("listImportUndoEntries", kept);
  expect(kept.body).toEqual([
    expect.objectContaining({
      kind: "PERSON",
      id: bo.id,
      reasons: ["GROUPS"],
      classesNow: ["6b"],
      classesThen: ["5a"],
    }),
  ]);
  expect((kept.body as Entry[])[0]!.changedAt).not.toBeNull();
  const all = (await readPages<Entry>(office, `/imports/${id}/undo/entries?limit=3`)).flat();
  expect(all.map(({ groupName, personName, step }) => [groupName ?? personName!.last, step])).toEqual([
    ["5a", "RESTORED"],
    ["6a", "REMOVED"],
    ["Chor", "RESTORED"],
    ["Dur", "REMOVED"],
    ["Muster", "CHANGED"],
  ]);

  expect(refusalOf(await support("POST", `/imports/${id}/undo`, { body: {} }))).toEqual([403, "role_forbids"]);
  expect(refusalOf(await foreign("POST", `/imports/${id}/undo`, { body: {} }))).toEqual([404, "import_not_found"]);
  const unconfirmed = await office("POST", `/imports/${id}/undo`, { body: {} });
  expectDescribed("undoImport", unconfirmed);
  expect(refusalOf(unconfirmed)).toEqual([409, "undo_not_confirmed"]);
  const undone = await office("POST", `/imports/${id}/undo`, { body: { confirmKept: 1 } });
  expectDescribed("undoImport", undone);
  expect(undone).toMatchObject({
    status: 200,
    body: { state: "UNDONE", undoUntil: null, undoneAt: expect.any(String) },
  });
  const lines = await db.prisma.audit.findMany({
    where: { action: "import_undone", schoolId: school },
    orderBy: { id: "asc" },
  });
  expect(lines).toMatchObject([{ actorRole: "SECRETARY", detail: { importId: id, kept: { people: 1, groups: 0 } } }]);
  const history = (await office("GET", `/people/${bo.id}/imports`)).body as { change: string }[];
  expect(history.map(({ change }) => change)).not.toContain("UNDONE");
  const ada = await db.prisma.person.findFirstOrThrow({ where: { homeSchoolId: school, last: "Muster" } });
  // All at one time of the test's clock, so in any order.
  const ofAda = (await office("GET", `/people/${ada.id}/imports`)).body as { change: string }[];
  expect(ofAda.toSorted((a, b) => a.change.localeCompare(b.change))).toMatchObject([
    { change: "CLASSES" },
    { change: "CREATED" },
    { change: "UNDONE", classesBefore: ["6a"], classesAfter: ["5a"] },
  ]);
  for (const path of [`/imports/${id}/undo`, `/imports/${id}/undo/entries`])
    expect(refusalOf(await office("GET", path))).toEqual([409, "import_undone"]);
  expect(refusalOf(await office("POST", `/imports/${id}/undo`, { body: {} }))).toEqual([409, "import_undone"]);
  expect(refusalOf(await office("POST", `/imports/${id}/application`, { body: {} }))).toEqual([409, "import_undone"]);
});
