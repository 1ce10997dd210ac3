import { expect, test } from "vitest";
import { findGrades, makeSortKey, naturalKey } from "../../src/directory/index.ts";
import { findRows, sql, statement } from "../../src/platform/database/sql.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";

const db = await testDatabase();
const make = makeMakers(db);

const order = statement<{ names: readonly string[]; keys: readonly string[] }>(
  ({ names, keys }) => sql`SELECT name FROM unnest(${names}::text[], ${keys}::text[]) AS g (name, key)
    ORDER BY ${naturalKey(sql`key`)} COLLATE "C"`,
);

async function sorted(names: string[]): Promise<string[]> {
  const rows = await findRows<{ name: string }, { names: readonly string[]; keys: readonly string[] }>(db.pool, order, {
    names,
    keys: names.map(makeSortKey),
  });
  return rows.map(({ name }) => name);
}

test.for([
  [
    "numbers before the upper grades before names",
    ["1a", "5a", "5b", "9d", "10a", "12/1", "E1", "EF", "Q1", "Q2a", "AG Schach", "Mathe"],
  ],
  [
    "the word in front does not count",
    ["Klasse 1a", "2a", "Klasse 3a", "Jg. 7", "Klasse 10b", "Klasse E1", "Q1", "Klasse der Löwen"],
  ],
  ["numbers inside names sort by value", ["Mathe 5", "Mathe 10", "Mathe-7", "Ökologie 2", "Ökologie 11", "Physik"]],
  ["a leading zero is no other class", ["05a", "5b", "05c", "09a", "10a"]],
  ["words that begin like an upper grade are names", ["Q1", "Q11", "E-Learning", "Effekte", "Eltern", "Q1000", "Quiz"]],
  ["classes of two grades and of one letter", ["1/2a", "3/4b", "a", "Igel", "文学"]],
] as [string, string[]][])("%s", async ([, names]) => {
  expect(await sorted(names.toReversed())).toEqual(names);
});

test("the grade of a person is the highest of their active classes", async () => {
  const school = await make.school();
  const class5 = await make.group({ school, name: "5a" });
  const class6 = await make.group({ school, name: "Klasse 6b" });
  const old = await make.group({ school, name: "7c", status: "DELETED" });
  const course = await make.group({ school, name: "10 Physik", type: "KURS" });
  const both = await make.person({ school, groups: [class5, class6, course] });
  const one = await make.person({ school, groups: [class5, old] });
  const none = await make.person({ school, groups: [course] });
  const grades = await findGrades(db, [both, one, none]);
  expect([...grades]).toEqual([
    [both, 6],
    [one, 5],
    [none, null],
  ]);
});
