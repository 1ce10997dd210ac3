import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { runHere } from "./program.ts";
import { writeRoster } from "../imports/rosters.ts";

const db = await testDatabase();
const make = makeMakers(db);

const run = runHere({ DATABASE_URL: db.url });

async function schultor(...args: string[]): Promise<{ code: number | null; output: string }> {
  const { code, out, err } = await run(["import", ...args]);
  return { code, output: err + out };
}

test("the template is previewed, applied, shown and listed from the command line", async () => {
  const school = await make.school();
  const template = await schultor("template");
  expect(template.code).toBe(0);
  const path = await writeRoster(template.output, "template.csv");
  expect((await readFile(path, "utf8")).startsWith("\ufeffid;role;")).toBe(true);

  const previewed = await schultor("preview", path, "--school", school);
  expect(previewed.output).toContain("people       4 created");
  const id = /Import (\S+): PLAIN, BULK, READY/.exec(previewed.output)![1]!;
  const countPeople = () => db.prisma.person.count({ where: { homeSchoolId: school } });
  expect(await countPeople()).toBe(0);

  const applied = await schultor("apply", id, "--json");
  expect(applied.code).toBe(0);
  const result = JSON.parse(applied.output.split("\n").find((line) => line.startsWith("{"))!) as object;
  expect(result).toMatchObject({ id, state: "APPLIED", schools: [{ id: school, state: "APPLIED" }] });
  expect(await countPeople()).toBe(4);
  expect((await schultor("show", id)).output).toContain("It has been applied.");
  expect((await schultor("list", "--school", school)).output).toContain(id);
  expect(await schultor("apply", id)).toMatchObject({ code: 3, output: expect.stringContaining("applied already") });
});

test("a school's own file shows its columns, and is read with them or with others", async () => {
  const school = await make.school();
  const path = await writeRoster("Familienname,Vorname,Kl,Kürzel\nMuster,Ada,5a,mus\nBei,Bo,5b,bei\n", "lul.csv");
  const previewed = await schultor("preview", path, "--school", school);
  expect(previewed.code).toBe(3);
  expect(previewed.output).toMatch(/3 +Kl +classes +5a \| 5b\n +4 +Kürzel +id +mus \| bei/);
  expect(previewed.output).toContain("Encoding: utf-8; separator: comma");
  const id = /import columns (\S+)\n/.exec(previewed.output)![1]!;
  const again = await schultor("columns", id, "--encoding", "windows-1252");
  expect(again.output).toMatch(/KÃ¼rzel[^]*Encoding: windows-1252; separator: comma/);
  expect((await schultor("columns", id, "--encoding", "utf-8")).code).toBe(3);
  expect((await schultor("columns", id, "--separator", "tab")).output).toContain("has a single column");
  expect((await schultor("columns", id, "--column", "9=id")).output).toContain("--column: '9=id' is not of the form");
  expect((await schultor("columns", id, "--column", "4=-")).output).toContain("no column with a number of each person");
  const read = await schultor("columns", id, "--column", "3=-", "--role", "teacher");
  expect(read.output).toMatch(/PLAIN, DELTA, READY[^]*people +2 created[^]*groups +no change/);
  expect((await schultor("preview", path, "--school", school)).output).toContain("READY");

  const mappings = await schultor("mappings", school);
  expect(mappings.output).toContain("Familienname=last_name, Vorname=first_name, Kl=-, Kürzel=id");
  const [mapping = ""] = /[0-9a-f-]{36}/.exec(mappings.output) ?? [];
  expect((await schultor("delete-mapping", school, mapping)).output).toContain("Mapping deleted.");
  expect((await schultor("preview", path, "--school", school)).output).toContain("UNMAPPED");
});

test("a list of all students is read as one, and what was chosen is kept with its columns", async () => {
  const school = await make.school();
  const idIn = ({ output: text }: { output: string }) => /Import (\S+):/.exec(text)![1]!;
  const template = await writeRoster("id;role;first_name;last_name\n1;student;A;B\n2;student;C;D\nT;teacher;E;F\n");
  await schultor("apply", idIn(await schultor("preview", template, "--school", school)));
  const pupils = await writeRoster("Name,Vorname,Schülernummer\nB,A,1\nH,G,3\n", "schueler.csv");
  const asked = await schultor("preview", pupils, "--school", school, "--people", "students");
  expect(asked.output).toContain("Mode: bulk students");
  const id = /import columns (\S+)\n/.exec(asked.output)![1]!;
  expect((await schultor("columns", id)).output).toMatch(/PLAIN, BULK STUDENTS, [A-Z]+[^]*1 created[^]*1 removed/);
  expect((await schultor("preview", pupils, "--school", school)).output).toContain("PLAIN, BULK STUDENTS, ");
  expect((await schultor("preview", pupils, "--school", school, "--mode", "delta")).output).toContain("PLAIN, DELTA, ");
});

test("a broken roster prints every fault with its place, and a held one says how to confirm it", async () => {
  const school = await make.school();
  const broken = await writeRoster(
    "id;role;first_name;last_name\n1;guest;Ada;Muster\n1;student;Bo;Bei\n",
    "broken.csv",
  );
  const { code, output } = await schultor("preview", broken, "--school", school);
  expect([code, output]).toEqual([
    3,
    expect.stringContaining(
      "broken.csv:2:2 role: The role is not student, teacher or other.\nbroken.csv:3:1 id: Duplicate id: already used in line 2.\nThe file has 2 faults; nothing was changed.",
    ),
  ]);

  const roster = (ids: number[]) =>
    writeRoster(`id;role;first_name;last_name\n${ids.map((id) => `${id};student;A;B\n`).join("")}`);
  const idIn = ({ output: text }: { output: string }) => /Import (\S+):/.exec(text)![1]!;
  await schultor("apply", idIn(await schultor("preview", await roster([1, 2]), "--school", school)));
  const held = await schultor("preview", await roster([1]), "--school", school);
  expect(held.output).toContain(`import confirm ${idIn(held)}`);
  expect((await schultor("apply", idIn(held))).code).toBe(3);
  expect((await schultor("confirm", idIn(held))).code).toBe(0);
  expect(await db.prisma.person.count({ where: { homeSchoolId: school, status: "ACTIVE" } })).toBe(1);
});

test("faulty rows are printed as CSV and left out, with the warnings beside them, and handed in again alone", async () => {
  const school = await make.school();
  const headings = "id;role;first_name;last_name;classes";
  const rows = ["1;student;Ada;Muster;5a", "2;wizard;Bo;Bei;5a", "3;student;Cem;Ch?r;"];
  const broken = await writeRoster([headings, ...rows, ""].join("\n"), "some.csv");
  const shown = await schultor("preview", broken, "--school", school);
  const id = /Import (\S+):/.exec(shown.output)![1]!;
  expect(shown.output).toContain("some.csv:4: warning: lost characters: Cem Ch?r");
  expect(shown.output).toContain(`To go on with the other 2 rows and leave out 1: import leave-out ${id}`);
  const left = await schultor("left-out", id);
  expect(left.output).toBe(
    'id,role,first_name,last_name,classes,left_out_because\n2,wizard,Bo,Bei,5a,"role: The role is not student, teacher or other."\n',
  );
  expect((await schultor("leave-out", id)).output).toContain(`Left out: 1 faulty row.`);
  expect((await schultor("apply", id)).code).toBe(0);
  const corrected = await writeRoster(left.output.replace("wizard", "student"), "corrected.csv");
  const added = await schultor("preview", corrected, "--school", school);
  expect(added.output).toContain("PLAIN, DELTA, READY");
  expect((await schultor("apply", /Import (\S+):/.exec(added.output)![1]!)).code).toBe(0);
  expect(await db.prisma.person.count({ where: { homeSchoolId: school, status: "ACTIVE" } })).toBe(3);
});
