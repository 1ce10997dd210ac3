import { expect, test } from "vitest";
import { makeSortKey, naturalKey } from "../../src/directory/index.ts";
import { findRows, sql, statement } from "../../src/platform/database/sql.ts";
import { testDatabase } from "../support/database.ts";

const db = await testDatabase();

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
