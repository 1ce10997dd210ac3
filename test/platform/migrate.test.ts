// @module-tag every-postgresql
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import packageFile from "../../package.json" with { type: "json" };
import { diagnoseMigrations, diffWithSchema } from "../../prisma/schema-engine.ts";
import { applyMigrations, checkMigrated, migrationsFolder, worksWith } from "../../src/platform/migrations/migrate.ts";
import { emptyDatabase, testDatabase } from "../support/database.ts";
import { untilWaiting } from "../support/waiting.ts";

const say = () => undefined;
const all = readdirSync(migrationsFolder).filter((name) => /^\d/.test(name));
let folder: string;
let url: string;
let client: pg.Client;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "schultor-migrations-"));
  cpSync(migrationsFolder, folder, { recursive: true });
  ({ url } = await testDatabase());
  client = new pg.Client({ connectionString: url });
  await client.connect();
});

afterEach(async () => {
  await client.end();
  rmSync(folder, { recursive: true });
});

async function connect(to = url): Promise<pg.Client> {
  const other = new pg.Client({ connectionString: to });
  await other.connect();
  onTestFinished(() => other.end());
  return other;
}

function addMigration(name: string, sql: string): void {
  mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, name, "migration.sql"), sql);
}

test("processes that start together apply each migration once, with the checksum of its file, and lead to prisma/schema", async () => {
  const empty = await emptyDatabase();
  const applied = await Promise.all([1, 2, 3, 4].map(() => applyMigrations(empty, { say })));
  expect(applied.flat()).toEqual(all);
  const migrated = await connect(empty);
  await checkMigrated(migrated);
  const { rows } = await migrated.query(
    'SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished FROM "_prisma_migrations"',
  );
  const checksum = (name: string) =>
    createHash("sha256")
      .update(readFileSync(join(migrationsFolder, name, "migration.sql")))
      .digest("hex");
  expect(rows).toEqual(all.map((name) => ({ name, checksum: checksum(name), finished: true })));
  // Prisma's own engine finds nothing left to do after us.
  expect(await diagnoseMigrations(empty, migrationsFolder)).toMatchObject({
    history: null,
    editedMigrationNames: [],
    failedMigrationNames: [],
    hasMigrationsTable: true,
  });
  expect(await diffWithSchema(empty)).toBe("");
});

test("a model that no migration makes is found", async () => {
  await client.query(
    'ALTER TABLE "school" DROP COLUMN "zip_code"; DROP INDEX "affiliation_school_id_sort_key_person_id_idx"',
  );
  const difference = await diffWithSchema(url);
  expect(difference).toContain("zip_code");
  expect(difference).toContain('CREATE INDEX "affiliation_school_id_sort_key_person_id_idx"');
});

test("a later migration is applied alone", async () => {
  addMigration("9001_later", "CREATE TABLE later (id int)");
  await expect(checkMigrated(client, folder)).rejects.toThrow("Not yet migrated: 9001_later");
  expect(await applyMigrations(url, { say, folder })).toEqual(["9001_later"]);
});

test("a migration that was changed after it was applied is refused", async () => {
  addMigration(all[0]!, "SELECT 1");
  await expect(applyMigrations(url, { say, folder })).rejects.toThrow(
    `The migration ${all[0]} was changed after it had been applied`,
  );
});

test("a version works on a database whose newer migrations only added something", async () => {
  addMigration("9001_newer", "CREATE TABLE newer (id int)");
  await applyMigrations(url, { say, folder });
  expect(await applyMigrations(url, { say })).toEqual([]);
  await checkMigrated(client);
});

test("a version neither starts nor stays ready once a newer one took away what it uses", async () => {
  await checkMigrated(client);
  addMigration("9001_newer", "-- contract since 99.0.0: school.zip_code is asked for by nobody\nSELECT 1");
  await applyMigrations(url, { say, folder });
  const refusal =
    "The database holds the migration 9001_newer of a newer version, beside which this version does not work";
  await expect(applyMigrations(url, { say })).rejects.toThrow(refusal);
  await expect(checkMigrated(client)).rejects.toThrow(refusal);
});

test("a version since which something is not used works beside the migration that takes it away", async () => {
  addMigration(
    "9001_newer",
    `-- contract since ${packageFile.version}: school.zip_code is asked for by nobody\nSELECT 1`,
  );
  await applyMigrations(url, { say, folder });
  expect(await applyMigrations(url, { say })).toEqual([]);
  await checkMigrated(client);
});

test("a migration without a note of what it takes away, as Prisma's own tool writes it, keeps other versions from starting", async () => {
  addMigration("9001_newer", "CREATE TABLE newer (id int)");
  await applyMigrations(url, { say, folder });
  await client.query('UPDATE "_prisma_migrations" SET logs = NULL');
  await expect(applyMigrations(url, { say })).rejects.toThrow("The database holds the migration 9001_newer");
});

test("releases are compared by their numbers", () => {
  expect(worksWith("contract since 0.9.0", "0.10.0")).toBe(true);
  expect(worksWith("contract since 0.10.0", "0.9.1")).toBe(false);
  expect(worksWith("contract since 1.2.3", "1.2.3")).toBe(true);
  expect(worksWith("contract since 1.2.3", "1.2.2")).toBe(false);
  expect(worksWith("expand", "0.0.1")).toBe(true);
  expect(worksWith(null, "0.0.1")).toBe(null);
});

test("while a migration waits for a lock, the service reads and writes the table", async () => {
  addMigration("9001_waits", "ALTER TABLE school ADD COLUMN more int");
  const holder = await connect();
  await holder.query("BEGIN; SELECT FROM school");
  const migrated = applyMigrations(url, { say, folder, locks: { waitMs: 200, pauseMs: 20, attempts: 1000 } });
  await untilWaiting({ pool: client }, 1, { table: "school" });
  await client.query("SELECT FROM school; UPDATE school SET name = name");
  await holder.query("COMMIT");
  expect(await migrated).toEqual(["9001_waits"]);
});

test("a migration whose lock stays taken fails, names the remedy and is applied when the lock is free", async () => {
  addMigration("9001_waits", "ALTER TABLE school ADD COLUMN more int");
  const holder = await connect();
  await holder.query("BEGIN; SELECT FROM school");
  await expect(applyMigrations(url, { say, folder, locks: { waitMs: 20, pauseMs: 1, attempts: 2 } })).rejects.toThrow(
    /9001_waits failed, and nothing of it was kept: .*pg_stat_activity.*run `schultor migrate` again/s,
  );
  await holder.query("COMMIT");
  expect(await applyMigrations(url, { say, folder })).toEqual(["9001_waits"]);
});

test("a process killed in the middle of a migration leaves nothing of it, and the next one applies it", async () => {
  addMigration("9001_slow", "CREATE TABLE half (id int); SELECT pg_sleep(600) WHERE EXISTS (SELECT FROM hurdle)");
  await applyMigrations(url, { say });
  await client.query("CREATE TABLE hurdle AS SELECT 1");
  const failed = expect(applyMigrations(url, { say, folder })).rejects.toThrow("9001_slow failed, and nothing of it");
  const sleeping = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
  while ((await client.query(sleeping)).rowCount !== 1);
  await client.query(`SELECT pg_terminate_backend(pid) FROM (${sleeping}) migrations`);
  await failed;
  expect((await client.query("SELECT to_regclass('half') AS half")).rows).toEqual([{ half: null }]);
  await client.query("DELETE FROM hurdle");
  expect(await applyMigrations(url, { say, folder })).toEqual(["9001_slow"]);
});

test("a migration that fails leaves nothing behind and can be repaired", async () => {
  addMigration("9001_broken", "CREATE TABLE half (id int); SELECT 1 / 0");
  await expect(applyMigrations(url, { say, folder })).rejects.toThrow(
    "The migration 9001_broken failed, and nothing of it was kept: division by zero",
  );
  expect((await client.query("SELECT to_regclass('half') AS half")).rows).toEqual([{ half: null }]);
  addMigration("9001_broken", "CREATE TABLE half (id int)");
  expect(await applyMigrations(url, { say, folder })).toEqual(["9001_broken"]);
});

test("a migration that another tool left half done is refused", async () => {
  await client.query('UPDATE "_prisma_migrations" SET finished_at = NULL');
  await expect(applyMigrations(url, { say })).rejects.toThrow("was begun by another tool and did not finish");
});
