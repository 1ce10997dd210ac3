import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { leftovers } from "../../src/cli/erasure/leftovers.ts";
import { activities, dataCategories, storedTables, type Activity, type PeriodCode } from "../../src/privacy/index.ts";
import { testDatabase } from "../support/database.ts";

const db = await testDatabase();
const stored = Object.entries(storedTables);
const isAboutPeople = (table: string, column: string): boolean =>
  (storedTables[table]?.columns[column] ?? "none") !== "none";

test("every column of the database is described: by what it holds about a person, or as none", async () => {
  const { rows } = await db.pool.query<{ column: string }>(
    `SELECT c.relname || '.' || a.attname AS column FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND a.attnum > 0 AND NOT a.attisdropped AND c.relname <> '_prisma_migrations'`,
  );
  const described = stored.flatMap(([table, { columns }]) => Object.keys(columns).map((name) => `${table}.${name}`));
  expect(described.toSorted()).toEqual(rows.map(({ column }) => column).sort());
});

test("a column that names a person is data about a person", async () => {
  const { rows } = await db.pool.query<{ table: string; column: string }>(
    `SELECT table_name AS table, column_name AS column FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name IN ('person_id', 'actor_id', 'caller', 'first_full', 'last', 'username')`,
  );
  const isNone = ({ table, column }: { table: string; column: string }) =>
    !/^audit_/.test(table) && !isAboutPeople(table, column);
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter(isNone)).toEqual([]);
});

test("what may remain of a deleted person is data about a person", () => {
  const unknown = leftovers.flatMap(({ tables, columns }) =>
    tables.filter(
      (table) =>
        (storedTables[table]?.until ?? null) === null ||
        columns?.some((column) => !isAboutPeople(table, column)) === true,
    ),
  );
  expect(unknown).toEqual([]);
});

test("each category of data is of one activity, and is stored or kept outside the database", () => {
  const all = Object.values<Activity>(activities).flatMap(({ data }) => data);
  expect(all.toSorted()).toEqual(Object.keys(dataCategories).sort());
  const inTables = new Set<string>(stored.flatMap(([, { columns }]) => Object.values(columns)));
  const outside = all.filter((category) => !inTables.has(category));
  expect(outside).toEqual(["serverLog", "backups"]);
});

/** What prisma/GROWTH.md says of each table with this period. */
const growthOf: Partial<Record<PeriodCode, string>> = {
  LEFT: "`RESTORE_WINDOW_DAYS`",
  WITH_PERSON: "person( or the app)? is deleted|person removes it|they are deleted|holder is deleted|person leaves",
  WITH_SIGN_IN: "SESSION_SECONDS",
  UNTIL_TOLD: "70 minutes",
  AT_ONCE: "ended|a second later",
  WORK: "the work ends",
  HOUR: "an hour",
  HALF_DAY: "12 hours",
  DAY: "a day",
  PRINTED: "ten minutes",
  WEEK: "seven days",
  REQUEST_LOG: "7 days",
  CARD: "90 days",
  DEVICE: "180 days",
  UNDO: "`RESTORE_WINDOW_DAYS`",
  EVENTS: "`CHANGE_FEED_DAYS`",
  DELIVERIES: "`WEBHOOK_LOG_DAYS`|with its delivery",
  RECORDS: "`PRIVACY_RECORD_DAYS`",
  ERASURES: "`ERASURE_DAYS`",
  RECORDS_WITHOUT_PERSON: "`PRIVACY_RECORD_DAYS`",
  AUDIT: "`AUDIT_DAYS`",
  MONTH: "30 days",
  YEAR: "a year",
  MOVE: "called off",
  WITH_APP: "the app is deleted",
  WITH_SCHOOL: "the school is deleted",
  AGREED: "never deleted: schools prove",
  KEPT: "never deleted",
  IMPORTS: "never deleted",
};

test("each table is kept as long as prisma/GROWTH.md says", () => {
  let before = "";
  const until = new Map<string, string[]>();
  for (const line of readFileSync("prisma/GROWTH.md", "utf8").split("\n## What removes the rows")[0]!.split("\n")) {
    const [, name = "", , , cell = ""] = line.split("|");
    if (!name.startsWith(" `")) continue;
    before = cell.trim() === "the same" ? before : cell;
    for (const [, table] of name.matchAll(/`([a-z_]+)`/g)) until.set(table!, [...(until.get(table!) ?? []), before]);
  }
  const kept = stored.flatMap(([table, { until: code }]) => (code === null ? [] : [{ table, code }]));
  const wrong = kept.filter(({ table, code }) => {
    return !until.get(table)?.some((cell) => new RegExp(growthOf[code] ?? "$^").test(cell));
  });
  expect(wrong.map(({ table, code }) => `${table}: ${code}, but ${until.get(table)?.join(" / ")}`)).toEqual([]);
});
