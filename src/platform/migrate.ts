import { createHash, randomUUID } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { DatabaseStartError } from "./postgres/index.ts";
import { withProgress } from "./progress.ts";
import { run, sql, statement } from "./sql.ts";

export const migrationsFolder = join(import.meta.dirname, "../../prisma/migrations");

type Migration = { name: string; sql: string; checksum: string };
type Recorded = { migration_name: string; checksum: string; finished_at: Date | null };

/**
 * Brings a database to the state of the migrations folder.
 *
 * Shape:  answers the names it applied. Each runs in one transaction with its row in `_prisma_migrations`, in Prisma's
 *         form, so that `prisma migrate deploy` agrees; processes that start together take turns.
 * Errors: DatabaseStartError when the database holds a migration that is unknown here, or was changed since.
 */
export async function applyMigrations(
  url: string,
  options: { say(line: string): void; folder?: string },
): Promise<string[]> {
  const migrations = readMigrations(options.folder ?? migrationsFolder);
  const client = new pg.Client({ connectionString: url, application_name: "schultor migrations", keepAlive: true });
  await client.connect();
  client.on("error", () => undefined);
  try {
    return await withProgress("Migrating the database", options.say, async () => {
      await client.query(`SELECT pg_advisory_lock(${prismaLock})`);
      await client.query(recordTable);
      const pending = await findPending(client, migrations);
      for (const migration of pending) await apply(client, migration);
      return pending.map(({ name }) => name);
    });
  } finally {
    // The lock goes with the session.
    await client.end();
  }
}

/**
 * Throws while a migration of the folder is missing; one of a newer version does a process no harm that runs already.
 */
export async function checkMigrated(db: pg.Pool | pg.Client, folder = migrationsFolder): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT migration_name AS name FROM "_prisma_migrations" WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`,
  );
  const applied = new Set(rows.map(({ name }) => name));
  const pending = readMigrations(folder).filter(({ name }) => !applied.has(name));
  if (pending.length > 0)
    throw new DatabaseStartError(`Not yet migrated: ${pending.map(({ name }) => name).join(", ")}.`);
}

// The same number as `prisma migrate deploy` takes, so that the two exclude each other.
const prismaLock = 72_707_369;

const recordTable = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`;

function readMigrations(folder: string): Migration[] {
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return names
    .map(({ name }) => name)
    .sort()
    .map((name) => {
      const content = readFileSync(join(folder, name, "migration.sql"));
      return { name, sql: content.toString("utf8"), checksum: createHash("sha256").update(content).digest("hex") };
    });
}

async function findPending(db: pg.Pool | pg.Client, migrations: Migration[]): Promise<Migration[]> {
  const { rows } = await db.query<Recorded>(
    `SELECT migration_name, checksum, finished_at FROM "_prisma_migrations" WHERE rolled_back_at IS NULL ORDER BY started_at`,
  );
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const row of rows) checkRecorded(row, known.get(row.migration_name));
  const applied = new Set(rows.map((row) => row.migration_name));
  return migrations.filter(({ name }) => !applied.has(name));
}

function checkRecorded(
  { migration_name: name, checksum, finished_at }: Recorded,
  migration: Migration | undefined,
): void {
  if (!migration)
    throw new DatabaseStartError(
      `The database holds the migration ${name}, which this version does not know: it was used by a newer version. Start that version, or restore a backup.`,
    );
  if (!finished_at)
    throw new DatabaseStartError(
      `The migration ${name} was begun by another tool and did not finish. Repair it with \`prisma migrate resolve\`, then start again.`,
    );
  if (migration.checksum !== checksum)
    throw new DatabaseStartError(
      `The migration ${name} was changed after it had been applied to this database. Put the applied text back, or start with an empty database.`,
    );
}

const recordMigration = statement<{ id: string; checksum: string; name: string; startedAt: Date }>(
  ({ id, checksum, name, startedAt }) => sql`
  INSERT INTO "_prisma_migrations" (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
  VALUES (${id}, ${checksum}, ${name}, ${startedAt}, clock_timestamp(), 1)`,
);

async function apply(client: pg.Client, { name, sql: text, checksum }: Migration): Promise<void> {
  const startedAt = new Date();
  await client.query("BEGIN");
  try {
    await client.query(text);
    await run(client, recordMigration, { id: randomUUID(), checksum, name, startedAt });
    await client.query("COMMIT");
  } catch (cause) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw new DatabaseStartError(
      `The migration ${name} failed, and nothing of it was kept: ${(cause as Error).message}`,
      { cause },
    );
  }
}
