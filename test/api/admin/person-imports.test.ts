import { beforeEach, expect, test } from "vitest";
import type { PersonId, SchoolId } from "../../../src/directory/index.ts";
import {
  applyImport,
  confirmImport,
  previewImport,
  type ImportId,
  type NewImport,
} from "../../../src/imports/index.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { rules, writeRoster } from "../../imports/rosters.ts";
import { makeStaff, refusalOf, type AdminClient, nextPage } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { makePortalUser } from "../../support/portal.ts";
import { startService } from "../../support/service.ts";

type PersonImport = components["schemas"]["PersonImport"];

const service = await startService();
const { db } = service;
const make = makeMakers(db);
const start = service.clock().getTime();
const day = 86_400_000;
const header = "id;role;first_name;last_name;classes";

let school: SchoolId;
let call: AdminClient;

const foreign = (await makeStaff(service, "SECRETARY", { schoolIds: [await make.school()] })).call;

beforeEach(async () => {
  school = await make.school();
  call = (await makeStaff(service, "SECRETARY", { schoolIds: [school] })).call;
});

type Roster = { people?: string[]; carryOvers?: NewImport["carryOvers"] };

/** Applies a roster of one school on a day; Zoe is in each, so that none is empty. */
async function importOn(days: number, { people = [], carryOvers }: Roster = {}): Promise<ImportId> {
  const origin = { at: new Date(start + days * day), actorId: "test" };
  const path = await writeRoster([header, "9;student;Zoe;Zett;5z", ...people, ""].join("\n"));
  const wanted = { path, holdShare: rules.holdShare, schoolId: school, carryOvers, schoolYear: "2026/27" };
  const { id, state } = await previewImport(db, wanted, origin);
  if (state === "HELD") await confirmImport(db, id, origin);
  await applyImport(db, id, rules, origin);
  return id;
}

async function findPerson(sourceSystemIdentifier: string): Promise<PersonId> {
  const where = { homeSchoolId: school, sourceSystemIdentifier };
  return (await db.prisma.person.findFirstOrThrow({ where })).id as PersonId;
}
const list = async (personId: string, query = "") =>
  (await call("GET", `/people/${personId}/imports${query}`)).body as PersonImport[];
const show = ({ change, classesBefore, classesAfter, at }: PersonImport) =>
  [(Date.parse(at) - start) / day, change, classesBefore?.join() ?? null, classesAfter?.join() ?? null] as const;
const nothing = [null, null] as const;

test("imports that bring, move, take away and bring back a person are listed, the latest first", async () => {
  const first = await importOn(0, { people: ["1;student;Ada;Aal;5a"] });
  await importOn(1, { people: ["1;student;Ada;Aal;5a"] });
  await importOn(2, { people: ["1;student;Ada;Aal;5b"] });
  await importOn(3, { people: ["1;student;Ada Marie;Aal;5b"] });
  await importOn(4);
  await importOn(5, { people: ["1;student;Ada Marie;Aal;6c"] });
  const ada = await findPerson("1");
  const all = await list(ada);
  expect(all.map(show)).toEqual([
    [5, "RESTORED", "", "6c"],
    [4, "REMOVED", ...nothing],
    [3, "CHANGED", ...nothing],
    [2, "CLASSES", "5a", "5b"],
    [0, "CREATED", ...nothing],
  ]);
  expect(all.at(-1)).toMatchObject({ importId: first, schoolId: school });
  expect((await list(ada, "?limit=2")).map(({ change }) => change)).toEqual(["RESTORED", "REMOVED"]);
  const page = await call("GET", `/people/${ada}/imports?limit=4`);
  expect((await call("GET", nextPage(page)!)).body).toEqual([all[4]]);
  // Only who was there and changed has a row: Ada four times, Zoe never.
  expect(await db.prisma.personImport.count({ where: { schoolId: school } })).toBe(4);
});

test("a class that goes on under another name, and one that ends, are changes of their pupils", async () => {
  await importOn(0, { people: ["1;student;Ada;Aal;5a", "2;student;Bo;Bei;8b"] });
  const bo = { people: ["1;student;Ada;Aal;6a", "2;student;Bo;Bei;"] };
  await importOn(1, { ...bo, carryOvers: new Map([["class:6a", "class:5a"]]) });
  expect((await list(await findPerson("1"))).map(show)[0]).toEqual([1, "CLASSES", "5a", "6a"]);
  expect((await list(await findPerson("2"))).map(show)[0]).toEqual([1, "CLASSES", "8b", ""]);
});

test("a person of another school is unknown, and imports of another school are not told", async () => {
  await importOn(-2, { people: ["1;student;Ada;Aal;5a"] });
  await importOn(-1, { people: ["1;student;Ada;Aal;5b"] });
  const ada = await findPerson("1");
  expect(refusalOf(await foreign("GET", `/people/${ada}/imports`))).toEqual([404, "person_not_found"]);
  const other = await make.school();
  const id = await make.person({ schools: [school, other] });
  const row = { at: service.clock(), personId: id, importId: crypto.randomUUID(), change: "JOINED" };
  const classes = { classesBefore: [], classesAfter: [] };
  await db.prisma.personImport.create({ data: { ...row, ...classes, id: crypto.randomUUID(), schoolId: other } });
  expect(await list(id)).toEqual([]);
});

test("the timeline tells two imports into different classes, and that the person left", async () => {
  await importOn(-3, { people: ["1;student;Ada;Aal;5a"] });
  await importOn(-2, { people: ["1;student;Ada;Aal;5b"] });
  await importOn(-1);
  const { browser } = await makePortalUser(service, "SECRETARY", { schoolIds: [school] });
  const { html } = await browser.open(`/admin/schools/${school}/people/${await findPerson("1")}`);
  const moments = [...html.matchAll(/<li><time[^>]*>[^<]*<\/time>([\s\S]*?)<\/li>/g)].map(([, text]) =>
    text!
      .replace(/<[^>]+>/g, "")
      .replace(/\s+/g, " ")
      .trim(),
  );
  expect(moments).toEqual([
    "Hat die Schule verlassen · Import",
    "Jetzt in 5b statt 5a · Import",
    "Importiert · Import",
  ]);
});

test("a job deletes what is older than the audit log is kept", async () => {
  await importOn(-500, { people: ["1;student;Ada;Aal;5a"] });
  await importOn(-499, { people: ["1;student;Ada;Aal;5b"] });
  await importOn(-1, { people: ["1;student;Ada;Aal;5c"] });
  await service.runJob("imports.sweepOfPeople");
  const told = (await list(await findPerson("1"))).map(show);
  expect(told).toEqual([
    [-1, "CLASSES", "5b", "5c"],
    [-500, "CREATED", ...nothing],
  ]);
});
