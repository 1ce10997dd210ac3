// @module-tag slow
import { expect, test } from "vitest";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { besideAnalyze, countPagesRead, setKnownRows } from "../support/statistics.ts";
import { makeImporter } from "./rosters.ts";

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
