// @module-tag slow
import { expect, test } from "vitest";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { besideAnalyze, countPagesRead, setKnownRows } from "../support/statistics.ts";
import { makeImporter, zip } from "./rosters.ts";

const people = 600;
const tables = ["person", "affiliation", "group", "membership"];
const rosterOf = (first: number): string => {
  const rows = Array.from({ length: people }, (_, at) => {
    const n = first + at;
    return `${n};student;V;N${n % 700};${n % 100};k${n % 30},k${(n + 7) % 30}`;
  });
  return ["id;role;first_name;last_name;classes;courses", ...rows, ""].join("\n");
};

async function makeWorld() {
  const db = await testDatabase({ poolSize: 1 });
  const school = await makeMakers(db).school();
  return { db, school, ...makeImporter(db) };
}

// With every look-up by its key it is about 95 for each person; another index makes some 450 of it, and more for more.
const most = 145 * people;
const sum = (pages: Record<string, number>) => Object.values(pages).reduce((all, count) => all + count, 0);

test.each(["never", 0, 3] as const)(
  "an import reads by keys, whenever others run ANALYZE, and if %s rows were known",
  async (known) => {
    const { db, school, preview, apply } = await makeWorld();
    const record = await preview(rosterOf(0), { school });
    await setKnownRows(db, tables, known);
    const pages = await countPagesRead(db, tables, () =>
      besideAnalyze(db.url, tables, async () => {
        expect((await apply(record.id)).state).toBe("APPLIED");
      }),
    );
    expect(sum(pages), JSON.stringify(pages)).toBeLessThan(most);
  },
);

test.each([0, 3])("so do its preview and itself where many people are, of whom %s rows are known", async (known) => {
  const { db, school, run, preview, apply } = await makeWorld();
  await run(rosterOf(0), { school });
  const other = await makeMakers(db).school();
  await setKnownRows(db, tables, known);
  const pages = await countPagesRead(db, tables, async () => {
    const { id } = await preview(rosterOf(people), { school: other });
    await apply(id);
  });
  expect(sum(pages), JSON.stringify(pages)).toBeLessThan(most);
});

const rosterOfSchools = (schools: readonly string[], year: number) => {
  const rows = schools.flatMap((org) => Array.from({ length: people / schools.length }, (_, n) => `${org}-${n}`));
  return zip({
    "users.csv": ["sourcedId,orgSourcedIds,role,givenName,familyName"]
      .concat(rows.map((id) => `${id},${id.replace(/-\d+$/, "")},student,V,N${year}`))
      .join("\n"),
    "classes.csv": "sourcedId,title,classType,schoolSourcedId",
    "enrollments.csv": "sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role",
  });
};

test("the part of a school of a file does not read the people of the other schools", async () => {
  const db = await testDatabase({ poolSize: 1 });
  const make = makeMakers(db);
  const { run, preview } = makeImporter(db);
  const schools = Array.from({ length: 20 }, (_, n) => `DE-${n}`);
  for (const officialId of schools) await make.school({ officialId });
  await run(await rosterOfSchools(schools, 1));
  const pages = await countPagesRead(db, tables, async () => {
    expect((await preview(await rosterOfSchools(schools, 2))).schools).toHaveLength(schools.length);
  });
  // About 30 for each person; with all people of the file read for each school it is 90, and more for more schools.
  expect(sum(pages), JSON.stringify(pages)).toBeLessThan(55 * people);
});
