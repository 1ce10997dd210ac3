import { expect, test } from "vitest";
import { makeMatcher } from "./matcher.ts";
import { scan, type FoundRow, type Section } from "./scan.ts";

const matcher = makeMatcher(
  { ids: ["0198c2f4-0000-7abc-8000-00000000dead"], firstNames: [], lastNames: ["Beispiel"], userNames: [], others: [] },
  [],
);
const megabyte = 1024 ** 2;

/** Searches the text in chunks of a size; returns what was found as text, and how many lines there are. */
async function search(text: string, chunk: number, section: Section = null, isDump = false) {
  const bytes = Buffer.from(text);
  const found: string[] = [];
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk);
  }
  const onRow = ({ section: of, line, matches: columns }: FoundRow) =>
    found.push(
      `${of?.table ?? ""} ${line} ${[...columns].map(([column, whats]) => `${column} ${[...whats].join()}`).join()}`,
    );
  return { lines: await scan(chunks(), { matcher, section, isDump, onRow }), found };
}

test.each([1, 3, 7, 1000])("lines and columns are found wherever chunks of %i bytes end", async (chunk) => {
  const section = { table: "t", columns: ["a", "b"] };
  const { lines, found } = await search("1\tx\n2\tBeispiel\nBeispiel\tBeispiel\n\\N\t\\N", chunk, section);
  expect([lines, found]).toEqual([4, ["t 2 b lastName", "t 3 a lastName,b lastName"]]);
});

test("a column is found behind megabytes in the same row, and a row counts once", async () => {
  const long = " y".repeat(megabyte);
  const section = { table: "t", columns: ["a", "b", "c", "d"] };
  const rows = `1\t2\t3\t4\n${long}\tBeispiel${long} Beispiel\t${long}\tBeispiel\n5\t6\t7\tBeispiel\n`;
  const { lines, found } = await search(rows, megabyte, section);
  expect([lines, found]).toEqual([3, ["t 2 b lastName,d lastName", "t 3 d lastName"]]);
});

test("a value across the parts of a long line is found", async () => {
  for (const before of [4 * megabyte - 4, 4 * megabyte + 60_000]) {
    const { found } = await search(`${"y".repeat(before)} Beispiel ${"y".repeat(megabyte)}\n`, megabyte);
    expect(found).toEqual([" 1  lastName"]);
  }
});

test("rows of a dump are of the table before them", async () => {
  const dump = `SELECT 1;\nCOPY public."group" (id, "natural key") FROM stdin;\n1\tBeispiel\n\\.\n-- Beispiel\nCOPY x.y (z) FROM stdin;\nBeispiel\n\\.\n`;
  for (const chunk of [5, 1000])
    expect((await search(dump, chunk, null, true)).found).toEqual([
      "group 3 natural key lastName",
      " 5  lastName",
      "y 7 z lastName",
    ]);
});
