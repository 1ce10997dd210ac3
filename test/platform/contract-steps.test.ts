// @module-tag slow
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { findContractSteps, readCatalogue } from "../../prisma/contract-steps.ts";
import { applyMigrations, migrationsFolder, readContract } from "../../src/platform/migrations/migrate.ts";
import { emptyDatabase, testDatabase } from "../support/database.ts";
import { listReleases } from "../releases/record.ts";

const db = await testDatabase();
const all = readdirSync(migrationsFolder).filter((name) => /^\d/.test(name));

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** The contract steps of these migrations, found by applying all in order. */
async function findSteps(names: string[]): Promise<Map<string, string[]>> {
  const url = await emptyDatabase();
  const client = await connect(url);
  const folder = mkdtempSync(join(tmpdir(), "schultor-migrations-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const applyNext = async (next: string[]) => {
    for (const name of next) cpSync(join(migrationsFolder, name), join(folder, name), { recursive: true });
    await applyMigrations(url, { say: () => undefined, folder });
    return readCatalogue(client);
  };
  const found = new Map<string, string[]>();
  let [done, catalogue] = [0, await readCatalogue(client)];
  for (const name of names) {
    const between = all.slice(done, all.indexOf(name));
    const before = between.length === 0 ? catalogue : await applyNext(between);
    catalogue = await applyNext([name]);
    found.set(name, findContractSteps(before, catalogue));
    done = all.indexOf(name) + 1;
  }
  return found;
}

test("a migration since the first release takes nothing away, unless it names a release that no longer uses it", async () => {
  const releases = listReleases();
  const later = all.filter((name) => !releases[0]!.migrations.includes(name));
  const found = await findSteps(["0006_webhook_queues", "0013_staff_roles", ...later]);
  // Each of these was seen once, so that the finding is known to work: 0006 came before the first release.
  expect(found.get("0006_webhook_queues")).toContain("drops the column webhook_delivery.next_attempt_at");
  expect(found.get("0013_staff_roles")).toEqual([]);
  const wrong = later.flatMap((name) => {
    const sql = readFileSync(join(migrationsFolder, name, "migration.sql"), "utf8");
    const since = readContract(sql);
    const isReleased = releases.some(({ version, migrations }) => version === since && !migrations.includes(name));
    const isExcused = (step: string) => /^-- looser: .+/m.test(sql) && / of what is written$/.test(step);
    return isReleased ? [] : found.get(name)!.flatMap((step) => (isExcused(step) ? [] : `${name} ${step}`));
  });
  expect(wrong, 'expand first; "Migrations" in docs/design/database.md says how, and how to name the release').toEqual(
    [],
  );
});

const steps: [step: string, finding: string | null][] = [
  ["DROP TABLE kept", "drops the table kept"],
  ["ALTER TABLE kept RENAME TO other", "drops the table kept"],
  ["ALTER TABLE kept DROP COLUMN plain", "drops the column kept.plain"],
  ["ALTER TABLE kept RENAME COLUMN plain TO other", "drops the column kept.plain"],
  ["ALTER TABLE kept ALTER COLUMN plain TYPE varchar(9)", "changes kept.plain from text to character varying(9)"],
  ["ALTER TABLE kept ALTER COLUMN plain SET NOT NULL", "asks for a value of kept.plain"],
  ["ALTER TABLE kept ALTER COLUMN number DROP DEFAULT", "asks for a value of kept.number"],
  ["ALTER TABLE kept ADD COLUMN more int NOT NULL", "asks for a value of kept.more"],
  ["ALTER TABLE kept ADD CONSTRAINT c CHECK (plain <> '') NOT VALID", "asks kept c of what is written"],
  [
    "ALTER TABLE kept ADD CONSTRAINT c CHECK (plain <> '')",
    "asks kept c of what is written, and of every row under a lock (without NOT VALID)",
  ],
  ["CREATE UNIQUE INDEX u ON kept (plain)", "asks kept u of what is written"],
  ["CREATE UNIQUE INDEX u ON kept (lower(plain))", "asks kept u of what is written"],
  ["ALTER TYPE word RENAME VALUE 'one' TO 'other'", "drops the word word one"],
  ["DROP FUNCTION used()", "drops the function used()"],
  ["ALTER TABLE kept ADD COLUMN more int NOT NULL DEFAULT 1 CHECK (more > 0), ADD COLUMN other text UNIQUE", null],
  ["CREATE TABLE new (id int PRIMARY KEY, kept int NOT NULL UNIQUE)", null],
  ["ALTER TABLE kept ALTER COLUMN number DROP NOT NULL", null],
  ["ALTER TABLE kept VALIDATE CONSTRAINT later", null],
  ["CREATE INDEX i ON kept (plain); ALTER TYPE word ADD VALUE 'two'", null],
];

test("what an older version can no longer do after a step is found, and nothing else", async () => {
  const client = await connect(db.url);
  await client.query(`BEGIN; CREATE TYPE word AS ENUM ('one'); CREATE FUNCTION used() RETURNS int LANGUAGE sql RETURN 1;
    CREATE TABLE kept (id int PRIMARY KEY, plain text, number int NOT NULL DEFAULT 0);
    ALTER TABLE kept ADD CONSTRAINT later CHECK (number >= 0) NOT VALID`);
  const before = await readCatalogue(client);
  for (const [step, finding] of steps) {
    await client.query(`SAVEPOINT before_step; ${step}`);
    expect([step, ...findContractSteps(before, await readCatalogue(client))]).toEqual([step, finding].filter(Boolean));
    await client.query("ROLLBACK TO before_step");
  }
});
