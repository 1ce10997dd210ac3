import { expect, test } from "vitest";
import { findClassesIn, splitClasses } from "../../src/imports/formats/words.ts";
import { getImport, listWarnings } from "../../src/imports/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { makeImporter } from "./rosters.ts";

const db = await testDatabase();
const make = makeMakers(db);
const { run, preview } = makeImporter(db);

test("what cells of classes mean", () => {
  const cells = [
    ..."5a 05A Q1 EF 5/1 5/a 10b 5.a Klasse-5a 5a-bili 5bi 5ad 5b/a".split(" "),
    ...["7a, 7b", "07A/07B", "7a; 7b", "7a 7b", "7a und 7b", "5a/b", "05a/b/c", "5a-c", "5a - c", "5 a+b", "5a b"],
    ...["5ab", "5abc", "5-6", "5/6a", "5a-6a", "5 bis 7", "9/10", "Chor, 5a"],
  ];
  const shown = cells.map((cell) => {
    const names = splitClasses(cell);
    const maybe = names.flatMap(findClassesIn);
    return `${cell}: ${names.join(" | ")}${maybe.length > 0 ? ` (${maybe.join(" ")})` : ""}`;
  });
  expect(shown).toEqual([
    "5a: 5a",
    "05A: 05A",
    "Q1: Q1",
    "EF: EF",
    "5/1: 5/1",
    "5/a: 5/a",
    "10b: 10b",
    "5.a: 5.a",
    "Klasse-5a: Klasse-5a",
    "5a-bili: 5a-bili",
    "5bi: 5bi",
    "5ad: 5ad",
    "5b/a: 5b/a (5b 5a)",
    "7a, 7b: 7a | 7b",
    "07A/07B: 07A | 07B",
    "7a; 7b: 7a | 7b",
    "7a 7b: 7a | 7b",
    "7a und 7b: 7a | 7b",
    "5a/b: 5a/b (5a 5b)",
    "05a/b/c: 05a/b/c (5a 5b 5c)",
    "5a-c: 5a-c (5a 5b 5c)",
    "5a - c: 5a - c (5a 5b 5c)",
    "5 a+b: 5 a+b (5a 5b)",
    "5a b: 5a b (5a 5b)",
    "5ab: 5ab (5a 5b)",
    "5abc: 5abc (5a 5b 5c)",
    "5-6: 5-6 (5 6)",
    "5/6a: 5/6a (5a 6a)",
    "5a-6a: 5a-6a (5a 6a)",
    "5 bis 7: 5 bis 7 (5 7)",
    "9/10: 9/10 (9 10)",
    "Chor, 5a: Chor, 5a",
  ]);
});

const header = "id;role;first_name;last_name;classes\n";
const rowsOf = (classes: string[]) =>
  header + classes.map((name, n) => `${n + 1};student;Kind;Nr${n + 1};${name}\n`).join("");

async function warningsOf(classes: string[], school: Awaited<ReturnType<typeof make.school>>) {
  const { id, warningCount } = await preview(rowsOf(classes), { school, mode: "DELTA" });
  const warnings = await listWarnings(db.pool, await getImport(db, id), { skip: 0, limit: 100 });
  expect(warningCount).toBe(warnings.length);
  return warnings
    .filter(({ kind }) => kind === "CLASS_UNCERTAIN")
    .map(({ line, name, detail }) => `${line}: ${name} (${detail})`);
}

test("a name that may mean classes of the file or of the school is warned about with what it is read as", async () => {
  const school = await make.school();
  expect(await warningsOf(["5a/b", "5-6", "5/1", "5/2", "Q1"], school)).toEqual([]);
  expect(await warningsOf(["05A", "5b", "5a/b", "5-6", "6ab"], school)).toEqual([
    "4: 5a/b (05A, 5b)",
    "5: 5-6 (05A, 5b)",
  ]);
  await run(rowsOf(["6a", "6b", "5a/b"]), { school });
  expect(await warningsOf(["5a/b", "6ab"], school)).toEqual(["3: 6ab (6a, 6b)"]);
});

test("classes between commas in the template are classes of their own", async () => {
  const school = await make.school();
  const { schools } = await preview(rowsOf(["7a, 7b", "7a"]), { school });
  expect(schools[0]!.counts).toMatchObject({ groups: { created: 2 }, memberships: { created: 3 } });
});
