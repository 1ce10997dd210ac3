/**
 * npm run migration -- <name>    writes the migration from the migrations so far to prisma/schema
 * npm run migration -- initial   rewrites the first one, with prisma/constraints.sql at its end (before a release only)
 * npm run migration -- --check   fails when the migrations and prisma/schema say different things
 */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyMigrations, migrationsFolder } from "../src/platform/migrations/migrate.ts";
import { startEmbeddedPostgres } from "../src/platform/postgres/index.ts";
import { nameNextMigration } from "./migration-name.ts";
import { diffWithSchema } from "./schema-engine.ts";

const initial = "0001_initial";

const [wanted] = process.argv.slice(2);
if (wanted === "--check") await check();
else if (wanted === "initial") await writeInitial();
else if (wanted !== undefined && /^[a-z][a-z0-9_]*$/.test(wanted)) await writeNext(wanted);
else fail("Name the migration in lower_snake_case: npm run migration -- add_guardians");

async function check(): Promise<void> {
  const difference = await withDatabase(migrationsFolder, diffWithSchema);
  if (difference !== "") fail(`The migrations do not lead to prisma/schema. Missing:\n\n${difference}`);
  console.log("The migrations lead to prisma/schema.");
}

async function writeInitial(): Promise<void> {
  const others = listMigrations().filter((name) => name !== initial);
  if (others.length > 0) fail(`${initial} stays as it is: ${others.join(", ")} builds on it.`);
  const tables = await withDatabase(null, diffWithSchema);
  write(initial, `${tables}\n${readFileSync(join(import.meta.dirname, "constraints.sql"), "utf8")}`);
  await check();
}

async function writeNext(name: string): Promise<void> {
  const difference = await withDatabase(migrationsFolder, diffWithSchema);
  if (difference === "") console.log("Nothing differs; an empty migration is made for SQL written by hand.");
  write(nameNextMigration(listMigrations(), name), difference || "-- Written by hand.\n");
}

function write(name: string, sql: string): void {
  mkdirSync(join(migrationsFolder, name), { recursive: true });
  writeFileSync(join(migrationsFolder, name, "migration.sql"), sql);
  writeFileSync(join(migrationsFolder, "migration_lock.toml"), 'provider = "postgresql"\n');
  console.log(`Wrote prisma/migrations/${name}/migration.sql. Read it before it is committed.`);
}

function listMigrations(): string[] {
  return readdirSync(migrationsFolder).filter((name) => /^\d{4}_/.test(name));
}

async function withDatabase<T>(migrations: string | null, work: (url: string) => Promise<T>): Promise<T> {
  const dataDir = realpathSync(mkdtempSync(join(tmpdir(), "schultor-migration-")));
  chmodSync(dataDir, 0o711);
  const server = await startEmbeddedPostgres({ dataDir, say: console.log, settings: { fsync: "off" } });
  try {
    if (migrations !== null) await applyMigrations(server.url, { say: console.log, folder: migrations });
    return await work(server.url);
  } finally {
    await server.stop();
    rmSync(server.folder, { recursive: true, force: true });
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
