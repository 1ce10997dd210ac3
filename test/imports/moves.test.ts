import { expect, test } from "vitest";
import {
  applyImport,
  confirmImport,
  findImport,
  listGroupMoves,
  setGroupMoves,
  withDifference,
  type ImportId,
  type ImportPeople,
} from "../../src/imports/index.ts";
import type { SchoolId } from "../../src/directory/index.ts";
import { storeOf } from "../../src/platform/database/db.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { makeImporter, now, origin, readDirectory, rules } from "./rosters.ts";

const db = await testDatabase();
const make = makeMakers(db);
const { run, preview } = makeImporter(db);

const header = "id;role;first_name;last_name;classes\n";
const pupils = (from: number, group: string) =>
  Array.from({ length: 6 }, (_, n) => `${from + n};student;Kind;Nr${from + n};${group}\n`).join("");
const teachers = (group: string) => `T1;teacher;Jörg;Groß;${group}\n`;
const lastYear = header + pupils(100, "5a") + pupils(200, "6a") + teachers("5a|6a");
const thisYear = header + pupils(100, "6a") + pupils(200, "7a");

const movesOf = async (id: ImportId, schoolId: SchoolId) =>
  withDifference(db, await findImport(storeOf(db), id, undefined), { schoolId, now }, (tx) =>
    listGroupMoves(tx, { schoolId }),
  );

test.each<[string, string, { mode?: "DELTA"; people?: ImportPeople }, boolean[]]>([
  ["a whole file that does not name them", thisYear + teachers("7a"), {}, [true, false]],
  ["a whole file in which their teacher still has them", thisYear + teachers("5a|6a"), {}, [false, false]],
  ["a part of the school", thisYear, { mode: "DELTA" }, [false, false]],
  ["all students, where the teacher is in both", thisYear, { people: "STUDENTS" }, [false, false]],
])("without a tick a class ends if it is said to: %s", async (_, file, wishes, ends) => {
  const school = await make.school();
  await run(lastYear, { school });
  const { id } = await preview(file, { school, schoolYear: "2026/27", ...wishes });
  const shown = await movesOf(id, school);
  const pairs = shown.map(({ from, to }) => ({
    from: from.sourceSystemIdentifier!,
    to: to.sourceSystemIdentifier,
  }));
  const choose = async (moves: typeof pairs) => {
    const status = await findImport(storeOf(db), id, undefined);
    await setGroupMoves(db, status, { schoolId: school, schoolYear: "2026/27", moves, holdShare: 1 }, origin);
    return (await movesOf(id, school)).map(({ endsOtherwise }) => endsOtherwise);
  };
  expect(pairs.map(({ from }) => from)).toEqual(["class:5a", "class:6a"]);
  // The id of 6a goes to 5a if that one is carried over.
  expect(await choose(pairs)).toEqual([ends[0], true]);
  expect(await choose(pairs.slice(0, 1))).toEqual([ends[0], true]);
  expect(await choose([])).toEqual(ends);
  if ((await findImport(storeOf(db), id, undefined)).state === "HELD") await confirmImport(db, id, origin);
  await applyImport(db, id, { ...rules, holdShare: 1 }, origin);
  const groups = await db.prisma.group.findMany({ where: { schoolId: school }, orderBy: { name: "asc" } });
  const isEnded = (name: string) => groups.find((group) => group.name === name)!.status !== "ACTIVE";
  expect(["5a", "6a"].map(isEnded)).toEqual(ends);
});

test("a class that ended comes back with those whom the file names, not with those of before", async () => {
  const officialId = "DE-BACK";
  const school = await make.school({ officialId });
  await run(lastYear, { school });
  await run(header + pupils(100, "6b") + pupils(200, "7a") + teachers("7a"), { school });
  const { schools } = await run(`${header}900;student;Neu;Kind;5a\n100;student;Kind;Nr100;5a\n`, {
    school,
    mode: "DELTA",
  });
  expect(schools[0]!.counts).toMatchObject({
    groups: { restored: 1 },
    memberships: { created: 2, changed: 0, removed: 1 },
  });
  const { groups } = await readDirectory(db);
  expect(groups.filter((line) => line.startsWith(`${officialId} class:5a`))).toEqual([
    `${officialId} class:5a KLASSE 5a 100=STUDENT,900=STUDENT`,
  ]);
});
