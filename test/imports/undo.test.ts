import { expect, test } from "vitest";
import { changeDirectory } from "../../src/access/index.ts";
import { addMembership, removeMembership, softDeletePerson, updatePerson } from "../../src/directory/index.ts";
import type { GroupId, PersonId, SchoolId } from "../../src/directory/index.ts";
import {
  confirmUndo,
  findImport,
  listUndo,
  makeImportSweep,
  undoImport,
  type ImportId,
} from "../../src/imports/index.ts";
import { storeOf } from "../../src/platform/database/db.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { makeImporter, now, origin, readDirectory } from "./rosters.ts";

const db = await testDatabase();
const make = makeMakers(db);
let seconds = 0;
const { run } = makeImporter(db, () => ({ ...origin, at: new Date(now.getTime() + 1000 * ++seconds) }));
const header = "id;role;first_name;last_name;classes\n";

const undo = async (id: ImportId, confirmed?: number) =>
  undoImport(db, id, { kept: await confirmUndo(db, id, { confirmed, now }), restoreWindowDays: 30 }, origin);
const personOf = (school: string, sourceId: string) =>
  db.prisma.person.findFirstOrThrow({ where: { homeSchoolId: school, sourceSystemIdentifier: sourceId } });
const groupOf = async (school: string, name: string) =>
  (await db.prisma.group.findFirstOrThrow({ where: { schoolId: school, name, status: "ACTIVE" } })).id as GroupId;
const directoryOf = async (school: SchoolId) => {
  const { officialId } = await db.prisma.school.findUniqueOrThrow({ where: { id: school } });
  const { people, groups } = await readDirectory(db);
  return {
    people: people.filter((line) => line.startsWith(`${officialId} `)),
    groups: groups.filter((line) => line.startsWith(`${officialId} `)),
  };
};
const keptOf = async (id: ImportId) =>
  (
    await listUndo(db, await findImport(storeOf(db), id, undefined), {
      schoolId: undefined,
      isKept: true,
      limit: 50,
      now,
    })
  ).map(({ name, reasons }) => [name, reasons]);

const first = `${header}1;student;Ada;Muster;5a\n2;student;Bo;Bei;5a\n3;student;Cem;Chor;5b\n4;teacher;Dan;Dur;5a\n`;
const second = `${header}1;student;Ada;Married;6a\n2;student;Bo;Bei;6a\n4;teacher;Dan;Dur;6a|5b\n5;student;Eve;Neu;5b\n`;

test("what was changed by hand since stays, with the reason, and the rest is undone once that is confirmed", async () => {
  const school = await make.school();
  await run(first, { school });
  const { id } = await run(second, { school });
  const [bo, eve, ada] = await Promise.all(["2", "5", "1"].map((one) => personOf(school, one)));
  const from = await groupOf(school, "6a");
  const to = await make.group({ school, name: "6b" });
  const later = { ...origin, at: new Date("2026-02-05T08:00:00Z") };
  await changeDirectory(db, later, async (change) => {
    await removeMembership(change, { groupId: from, personId: bo!.id as PersonId });
    await addMembership(change, { groupId: to, personId: bo!.id as PersonId });
    const name = { firstFull: "Eva", firstCall: "Eva", last: "Neu" };
    await updatePerson(change, { personId: eve!.id as PersonId, name });
  });
  const people = await directoryOf(school);
  expect(await keptOf(id)).toEqual([
    [["Bo", "Bo", "Bei"], ["GROUPS"]],
    [["Eva", "Eva", "Neu"], ["NAME"]],
  ]);
  await expect(undo(id)).rejects.toMatchObject({ code: "undo_not_confirmed" });
  await expect(undo(id, 1)).rejects.toMatchObject({ code: "undo_not_confirmed" });
  expect(await directoryOf(school)).toEqual(people);
  expect((await undo(id, 2)).state).toBe("UNDONE");
  expect(await personOf(school, "1")).toMatchObject({ id: ada!.id, last: "Muster" });
  expect(await personOf(school, "5")).toMatchObject({ status: "ACTIVE", firstFull: "Eva" });
  const classesOf = async (person: string) =>
    (await db.prisma.membership.findMany({ where: { personId: person }, include: { group: true } })).map(
      ({ group }) => group.name,
    );
  expect(await classesOf(bo!.id)).toEqual(["6b"]);
  expect(await classesOf(ada!.id)).toEqual(["5a"]);
});

test("a class that the import made stays while somebody is in it who stays", async () => {
  const school = await make.school();
  const byHand = await make.person({ school });
  const { id } = await run(first, { school });
  await make.membership({ group: await groupOf(school, "5b"), person: byHand });
  expect(await keptOf(id)).toEqual([["5b", ["HAS_MEMBERS"]]]);
  await undo(id, 1);
  expect((await directoryOf(school)).groups).toHaveLength(1);
  expect((await directoryOf(school)).people).toHaveLength(1);
});

test("classes that were moved up get their names and ids back, and the same file moves them up again", async () => {
  const school = await make.school();
  await run(`${header}1;student;Ada;Muster;5a\n2;student;Bo;Bei;6a\n`, { school });
  const [five, six] = [await groupOf(school, "5a"), await groupOf(school, "6a")];
  const before = await directoryOf(school);
  const year = `${header}1;student;Ada;Muster;6a\n2;student;Bo;Bei;7a\n3;student;Cem;Neu;5a\n`;
  const wishes = {
    school,
    schoolYear: "2026/27",
    carryOvers: new Map([
      ["class:6a", "class:5a"],
      ["class:7a", "class:6a"],
    ]),
  };
  const { id } = await run(year, wishes);
  expect([await groupOf(school, "6a"), await groupOf(school, "7a")]).toEqual([five, six]);
  await undo(id);
  expect([await groupOf(school, "5a"), await groupOf(school, "6a")]).toEqual([five, six]);
  expect(await directoryOf(school)).toEqual(before);
  const again = await run(year, wishes);
  expect(again.schools[0]!.counts.groups).toMatchObject({ carriedOver: 2 });
  expect([await groupOf(school, "6a"), await groupOf(school, "7a")]).toEqual([five, six]);
});

test("only the latest import of a school can be undone, and only within the restore window", async () => {
  const school = await make.school();
  const one = await run(first, { school });
  const two = await run(second, { school });
  const same = await run(second, { school });
  await expect(undo(same.id)).rejects.toMatchObject({ code: "import_changed_nothing" });
  await expect(undo(one.id)).rejects.toMatchObject({ code: "import_followed" });
  await undo(two.id);
  expect((await undo(one.id)).state).toBe("UNDONE");
  expect((await directoryOf(school)).people).toEqual([]);
  const three = await run(first, { school });
  const after = new Date(now.getTime() + 31 * 86_400_000);
  await expect(confirmUndo(db, three.id, { confirmed: 0, now: after })).rejects.toMatchObject({
    code: "import_undo_over",
  });
  await makeImportSweep({ db, clock: () => after }).run(new AbortController().signal);
  expect(await db.prisma.importChange.count()).toBe(0);
});

test("people who hold a staff role are not deleted, and who was deleted for good does not come back", async () => {
  const school = await make.school();
  await run(first, { school });
  const { id } = await run(`${header}1;student;Ada;Muster;5a\n4;teacher;Dan;Dur;5a\n6;teacher;Fia;Rolle;\n`, {
    school,
  });
  const fia = await personOf(school, "6");
  await db.prisma.staffRole.create({
    data: { id: fia.id, personId: fia.id, role: "SECRETARY", givenAt: now, schools: { create: { schoolId: school } } },
  });
  const bo = await personOf(school, "2");
  await db.pool.query("DELETE FROM person WHERE id = $1", [bo.id]);
  expect(await keptOf(id)).toEqual([[["Fia", "Fia", "Rolle"], ["STAFF_ROLE"]]]);
  await undo(id, 1);
  expect((await directoryOf(school)).people.map((line) => line.split(" ")[1])).toEqual(["1", "3", "4", "6"]);
});

test("a person whom the import sent to their other school comes home with the same affiliation", async () => {
  const [school, guestAt] = [await make.school(), await make.school()];
  await run(first, { school });
  const bo = await personOf(school, "2");
  await db.prisma.affiliation.create({ data: { id: bo.id, personId: bo.id, schoolId: guestAt } });
  const before = await db.prisma.affiliation.findMany({ where: { personId: bo.id }, orderBy: { id: "asc" } });
  const { id } = await run(`${header}1;student;Ada;Muster;5a\n3;student;Cem;Chor;5b\n4;teacher;Dan;Dur;5a\n`, {
    school,
  });
  expect(await db.prisma.person.findUnique({ where: { id: bo.id } })).toMatchObject({ homeSchoolId: guestAt });
  await undo(id);
  expect(await personOf(school, "2")).toMatchObject({ id: bo.id, status: "ACTIVE" });
  expect(await db.prisma.affiliation.findMany({ where: { personId: bo.id }, orderBy: { id: "asc" } })).toEqual(before);
  expect(await db.prisma.membership.count({ where: { personId: bo.id } })).toBe(1);
});

test("a person deleted by hand since the import stays deleted", async () => {
  const school = await make.school();
  await run(first, { school });
  const { id } = await run(second, { school });
  const ada = (await personOf(school, "1")).id as PersonId;
  await changeDirectory(db, origin, (change) => softDeletePerson(change, { personId: ada, restoreWindowDays: 30 }));
  expect(await keptOf(id)).toEqual([[["Ada", "Ada", "Married"], ["STATUS"]]]);
  await undo(id, 1);
  expect(await personOf(school, "1")).toMatchObject({ status: "SOFT_DELETED", last: "Married" });
});
