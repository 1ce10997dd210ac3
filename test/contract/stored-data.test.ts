import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { leftovers } from "../../src/cli/erasure/leftovers.ts";
import {
  activities,
  columnsWithoutPeople,
  dataCategories,
  periods,
  storedColumns,
  type Activity,
  type DataCategory,
  type Period,
  type StoredTable,
} from "../../src/privacy/index.ts";
import { testDatabase } from "../support/database.ts";

const db = await testDatabase();
const split = (columns: string) => columns.split(" ");
const stored = new Map<string, StoredTable>(Object.entries(storedColumns));
const byCategory = ({ until: _, ...columns }: StoredTable) =>
  Object.entries(columns) as [DataCategory | "none", string][];

test("every column of the database is described: by what it holds about a person, or as none", async () => {
  const { rows } = await db.pool.query<{ column: string }>(
    `SELECT c.relname || '.' || a.attname AS column FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND a.attnum > 0 AND NOT a.attisdropped AND c.relname <> '_prisma_migrations'`,
  );
  const described = [
    ...[...stored].flatMap(([table, columns]) =>
      byCategory(columns).flatMap(([, names]) => split(names).map((name) => `${table}.${name}`)),
    ),
    ...Object.entries(columnsWithoutPeople).flatMap(([table, names]) => split(names).map((name) => `${table}.${name}`)),
  ];
  const columns = rows.map(({ column }) => column);
  const missing = columns.filter((column) => !described.includes(column));
  expect(missing, "to add to src/privacy/columns-without-people.ts, or to stored-columns.ts beside it").toEqual([]);
  expect(
    described.filter((column) => !columns.includes(column)),
    "to remove from these files",
  ).toEqual([]);
});

test("a column that names a person is data about a person", async () => {
  const { rows } = await db.pool.query<{ table: string; column: string }>(
    `SELECT table_name AS table, column_name AS column FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name IN ('person_id', 'actor_id', 'caller', 'first_full', 'last', 'username')`,
  );
  const isNone = ({ table, column }: { table: string; column: string }) =>
    !/^audit_/.test(table) &&
    (stored.get(table) === undefined || split(stored.get(table)!.none ?? "").includes(column));
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter(isNone)).toEqual([]);
});

test("what may remain of a deleted person is data about a person", () => {
  const unknown = leftovers.flatMap(({ tables, columns }) =>
    tables.filter((table) => {
      const names = stored.get(table) === undefined ? [] : byCategory(stored.get(table)!);
      const known = names.filter(([category]) => category !== "none").flatMap(([, text]) => split(text));
      return known.length === 0 || columns?.some((column) => !known.includes(column)) === true;
    }),
  );
  expect(unknown).toEqual([]);
});

test("each category of data is of one activity, and is stored or kept outside the database", () => {
  const all = Object.values<Activity>(activities).flatMap(({ data }) => data);
  expect(all.toSorted()).toEqual(Object.keys(dataCategories).sort());
  const inTables = new Set([...stored.values()].flatMap((table) => byCategory(table).map(([category]) => category)));
  const outside = all.filter((category) => !inTables.has(category));
  expect(outside).toEqual(["serverLog", "backups"]);
});

test("each table is kept as long as prisma/GROWTH.md says", () => {
  let before = "";
  const until = new Map<string, string[]>();
  for (const line of readFileSync("prisma/GROWTH.md", "utf8").split("\n## What removes the rows")[0]!.split("\n")) {
    const [, name = "", , , cell = ""] = line.split("|");
    if (!name.startsWith(" `")) continue;
    before = cell.trim() === "the same" ? before : cell;
    for (const [, table] of name.matchAll(/`([a-z_]+)`/g)) until.set(table!, [...(until.get(table!) ?? []), before]);
  }
  const wrong = [...stored].filter(([table, { until: code }]) => {
    const period: Period = periods[code];
    return !until.get(table)?.some((cell) => new RegExp(period.growth ?? "$^").test(cell));
  });
  expect(wrong.map(([table, { until: code }]) => `${table}: ${code}, but ${until.get(table)?.join(" / ")}`)).toEqual(
    [],
  );
});
