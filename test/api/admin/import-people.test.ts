import { beforeEach, expect, test } from "vitest";
import type { SchoolId } from "../../../src/directory/index.ts";
import { makeStaff, readPages, refusalOf, type AdminClient } from "../../support/admin.ts";
import { expectDescribed } from "../../support/described.ts";
import { rosterType } from "../../support/import-office.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";

const service = await startService();
const make = makeMakers(service.db);

let school: SchoolId;
let office: AdminClient;

beforeEach(async () => {
  school = await make.school();
  office = (await makeStaff(service, "SECRETARY", { schoolIds: [school] })).call;
});

type State = { name: { firstFull: string; last: string } | null; role: string; classes: string[]; groups: string[] };
type Listed = { id: string | null; kinds: string[]; before: State | null; after: State | null; losesAccess: boolean };
type Change = { groupId: string | null; name: string; members: Record<string, number>; size: Record<string, number> };
type Made = { id: string; state: string; leavers: number; schools: { lists: object; people: object }[] };

const handIn = async (rows: string[], query = "", header = "id;role;first_name;last_name;classes;courses") => {
  const body = Buffer.from([header, ...rows, ""].join("\n"));
  return (await office("POST", `/imports?school=${school}${query}`, { body, headers: rosterType })).body as Made;
};
const applied = async (rows: string[]) => {
  const { id } = await handIn(rows);
  expect((await office("POST", `/imports/${id}/application`, { body: {} })).status).toBe(200);
};
const people = async (id: string, query = "") =>
  (await office("GET", `/imports/${id}/people?${query}`)).body as Listed[];
const nameOf = ({ before, after }: Listed) => (after ?? before)!.name!.last;
const stateOf = (state: State | null) =>
  state && [state.name?.firstFull, state.role, state.classes.join("+"), state.groups.join("+")].join("/");
const linesOf = (listed: Listed[]) =>
  listed.map((one) => `${nameOf(one)} ${one.kinds.join("+")}: ${stateOf(one.before)} > ${stateOf(one.after)}`);

const start = [
  "1;student;Ada;Acker;5a;Chor",
  "2;student;Bo;Berg;5a;",
  "3;student;Cem;Celik;5a;",
  "4;student;Dana;Dorn;5a;",
  "5;teacher;Eva;Ernst;5a;",
  "6;student;Fee;Falk;5b;",
];

test("a preview names everybody whom it changes, with what they are before and after", async () => {
  await applied(start);
  const made = await handIn([
    "1;student;Ada;Acker;5b;",
    "2;student;Viktor;Zander;5a;",
    "3;student;Cem;Celik;;",
    "5;other;Eva;Ernst-Roth;5a;",
    "6;student;Fee;Falk;5b;",
    "7;student;Gil;Groß;;",
  ]);
  const listed = await office("GET", `/imports/${made.id}/people`);
  expectDescribed("listImportPeople", listed);
  expect(linesOf(listed.body as Listed[])).toEqual([
    "Acker CLASSES_CHANGED+GROUPS_CHANGED: Ada/STUDENT/5a/Chor > Ada/STUDENT/5b/",
    "Celik CLASSES_CHANGED+WITHOUT_CLASS: Cem/STUDENT/5a/ > Cem/STUDENT//",
    "Dorn LEAVING: Dana/STUDENT/5a/ > null",
    "Ernst-Roth CHANGED: Eva/TEACHER/5a/ > Eva/OTHER/5a/",
    "Groß NEW+WITHOUT_CLASS: null > Gil/STUDENT//",
    "Zander CHANGED+RENAMED: Bo/STUDENT/5a/ > Viktor/STUDENT/5a/",
  ]);
  expect(made.schools[0]!.lists).toEqual({
    renamed: 1,
    classesChanged: 2,
    groupsChanged: 1,
    withoutClass: 2,
    losingClasses: 1,
  });
  const support = (await makeStaff(service, "SUPPORT", { schoolIds: [school] })).call;
  expect((await support("GET", `/imports/${made.id}/people`)).body).toEqual(listed.body);
  const stranger = (await makeStaff(service, "SECRETARY", { schoolIds: [await make.school()] })).call;
  expect(refusalOf(await stranger("GET", `/imports/${made.id}/people`))).toEqual([404, "import_not_found"]);
});

test("each class that loses members is listed with its size and with who leaves it", async () => {
  await applied(start);
  const byHand = await make.person({ school, name: { firstFull: "Hand", firstCall: "Hand", last: "Hartung" } });
  const { id: groupId } = await service.db.prisma.group.findFirstOrThrow({ where: { schoolId: school, name: "5b" } });
  await office("PUT", `/groups/${groupId}/members/${byHand}`, { body: {} });
  const rows = [
    "1;student;Ada;Acker;5c;",
    "3;student;Cem;Celik;5a;",
    "5;teacher;Eva;Ernst;5a;",
    "6;student;Fee;Falk;5c;",
  ];
  const made = await handIn(rows);
  const losing = await office("GET", `/imports/${made.id}/changes?loses-members=true`);
  expectDescribed("listImportChanges", losing);
  expect((losing.body as Change[]).map(({ name, size }) => ({ name, ...size }))).toEqual([
    { name: "5a", before: 5, after: 2, pupilsBefore: 4, pupilsAfter: 1 },
    { name: "5b", before: 2, after: 0, pupilsBefore: 2, pupilsAfter: 0 },
  ]);
  expect(made.schools[0]!.lists).toMatchObject({ losingClasses: 2 });
  const leaving = await Promise.all(
    (losing.body as Change[]).map(async ({ groupId: id }) => linesOf(await people(made.id, `leaves-group=${id}`))),
  );
  expect(leaving).toEqual([
    [
      "Acker CLASSES_CHANGED+GROUPS_CHANGED: Ada/STUDENT/5a/Chor > Ada/STUDENT/5c/",
      "Berg LEAVING: Bo/STUDENT/5a/ > null",
      "Dorn LEAVING: Dana/STUDENT/5a/ > null",
    ],
    [
      "Falk CLASSES_CHANGED: Fee/STUDENT/5b/ > Fee/STUDENT/5c/",
      "Hartung CLASSES_CHANGED+WITHOUT_CLASS: Hand/STUDENT/5b/ > Hand/STUDENT//",
    ],
  ]);
  const found = (await office("GET", `/imports/${made.id}/changes?search=5C`)).body as Change[];
  expect(found.map(({ name }) => name)).toEqual(["5c"]);
});

test("people are found by words of their names, by number and by class, before and after", async () => {
  await applied(["11;student;Paul;Müller;5a;", "12;student;Paula;Möller;5a;", "13;student;Mia;Abel;5a;"]);
  const made = await handIn(["11;student;Paul;Meyer;5b;", "12;student;Paula;Möller;5c;", "13;student;Mia;Abel;5a;x"]);
  const found = async (search: string) => (await people(made.id, `search=${encodeURIComponent(search)}`)).map(nameOf);
  expect(await found("Müller, Paul")).toEqual(["Meyer"]);
  expect(await found("meyer")).toEqual(["Meyer"]);
  expect(await found("paul")).toEqual(["Meyer", "Möller"]);
  expect(await found("12")).toEqual(["Möller"]);
  expect(await found("5C")).toEqual(["Möller"]);
  expect(await found("mia 5b")).toEqual([]);
});

test("namesakes come one after the other in pages, and each is there once", async () => {
  const namesakes = Array.from({ length: 7 }, (_, n) => `${n + 1};student;Ada;Zimmer;5a;`);
  const made = await handIn([...namesakes, "99;student;Ada;Abel;5a;"]);
  const pages = await readPages(office, `/imports/${made.id}/people?kind=NEW&limit=3`);
  expect(pages.map((page) => page.length)).toEqual([3, 3, 2]);
  const numbers = (pages.flat() as { sourceSystemIdentifier: string }[]).map((one) => one.sourceSystemIdentifier);
  expect(numbers).toEqual(["99", "1", "2", "3", "4", "5", "6", "7"]);
});

test("every number of a preview is the length of its list", async () => {
  await applied([...start, "20;student;Ira;Ilg;5b;", "21;student;Jo;Jahn;5b;"]);
  await applied(start);
  const made = await handIn(
    ["1;student;Ada;Acker;;Band", "2;student;Viktor;Zander;5b;", "20;student;Ira;Ilg;;", "30;student;Neu;Nolte;6a;"],
    "&mode=DELTA",
  );
  const { people: counts, lists } = made.schools[0] as unknown as Record<"people" | "lists", Record<string, number>>;
  const lengthOf = async (kind: string) => (await people(made.id, `kind=${kind}`)).length;
  const losing = (await office("GET", `/imports/${made.id}/changes?loses-members=true`)).body as Change[];
  expect({
    created: await lengthOf("NEW"),
    restored: await lengthOf("RESTORED"),
    joined: await lengthOf("JOINING"),
    changed: await lengthOf("CHANGED"),
    leavers: await lengthOf("LEAVING"),
    lists: {
      renamed: await lengthOf("RENAMED"),
      classesChanged: await lengthOf("CLASSES_CHANGED"),
      groupsChanged: await lengthOf("GROUPS_CHANGED"),
      withoutClass: await lengthOf("WITHOUT_CLASS"),
      losingClasses: losing.length,
    },
  }).toEqual({
    created: counts["created"],
    restored: counts["restored"],
    joined: counts["joined"],
    changed: counts["changed"],
    leavers: made.leavers,
    lists,
  });
  expect([counts["created"], counts["restored"], lists]).toEqual([
    1,
    1,
    { renamed: 1, classesChanged: 2, groupsChanged: 1, withoutClass: 2, losingClasses: 1 },
  ]);
});

test("members of a deleted class are in no list and no number, whether an undo deleted it or a file", async () => {
  await applied(start);
  const withNewClass = [
    ...start.slice(0, 5),
    "6;student;Fee;Falk;7x;",
    "8;student;Hal;Hahn;7x;",
    "9;student;Ina;Iser;7x;",
  ];
  const undone = await handIn(withNewClass);
  await office("POST", `/imports/${undone.id}/application`, { body: {} });
  expect((await office("POST", `/imports/${undone.id}/undo`, { body: {} })).status).toBe(200);
  const membershipsOf = (made: Made) => (made.schools[0] as unknown as { memberships: object }).memberships;
  const changesOf = async ({ id }: Made) =>
    ((await office("GET", `/imports/${id}/changes`)).body as Change[]).map(({ name, members, size }) => [
      name,
      ...Object.entries(members).flatMap(([kind, count]) => (count > 0 ? [`${kind} ${count}`] : [])),
      `${size["before"]} > ${size["after"]}`,
    ]);
  const again = await handIn([...start, "8;student;Hal;Hahn;5b;", "7;student;Gil;Groß;7x;"]);
  expect([membershipsOf(again), await changesOf(again)]).toEqual([
    { created: 2, changed: 0, removed: 0 },
    [
      ["5a", "same 5", "5 > 5"],
      ["5b", "new 1", "same 1", "1 > 2"],
      ["7x", "new 1", "0 > 1"],
      ["Chor", "same 1", "1 > 1"],
    ],
  ]);
  expect(linesOf(await people(again.id))).toEqual([
    "Groß NEW: null > Gil/STUDENT/7x/",
    "Hahn RESTORED: Hal/STUDENT// > Hal/STUDENT/5b/",
  ]);
  await office("POST", `/imports/${again.id}/application`, { body: {} });
  const ended = await handIn(start.map((row) => row.replace("5a", "6a")));
  const confirmHolds = (ended as unknown as { holds: object[] }).holds;
  await office("POST", `/imports/${ended.id}/application`, { body: { confirmHolds } });
  const delta = await handIn(["1;student;Ada;Acker;6b;Chor"], "&mode=DELTA");
  expect([membershipsOf(delta), await changesOf(delta)]).toEqual([
    { created: 1, changed: 0, removed: 1 },
    [
      ["6a", "movedOut 1", "same 4", "5 > 4"],
      ["6b", "movedIn 1", "0 > 1"],
      ["Chor", "same 1", "1 > 1"],
    ],
  ]);
  expect(linesOf(await people(delta.id))).toEqual(["Acker CLASSES_CHANGED: Ada/STUDENT/6a/Chor > Ada/STUDENT/6b/Chor"]);
});
