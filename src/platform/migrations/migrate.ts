import { createHash, randomUUID } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { checkRestored, DatabaseStartError, explainDatabaseError } from "../postgres/index.ts";
import { withProgress } from "../jobs/progress.ts";
import { run, statement } from "../database/sql.ts";
import packageFile from "../../../package.json" with { type: "json" };

export const migrationsFolder = join(import.meta.dirname, "../../../prisma/migrations");

type Migration = { name: string; sql: string; checksum: string; worksSince: string | null };
type Recorded = { migration_name: string; checksum: string; finished_at: Date | null; note: string | null };

/** Running statements queue behind a waiting migration, so it gives up after `waitMs` and tries again. */
type LockWaits = { waitMs: number; pauseMs: number; attempts: number };
const patient: LockWaits = { waitMs: 2000, pauseMs: 1000, attempts: 60 };

/**
 * Applies the missing migrations and returns their names. Each runs in one transaction with its row in
 * `_prisma_migrations`, in Prisma's form; processes take turns. A lock that is not free soon is retried, because the
 * earlier release is still running.
 *
 * Errors: DatabaseStartError for a migration that was changed or that this release does not work with, and during an
 *         unfinished restore unless `isRestoring`.
 */
export async function applyMigrations(
  url: string,
  options: { say(line: string): void; folder?: string; locks?: LockWaits; isRestoring?: boolean },
): Promise<string[]> {
  const migrations = readMigrations(options.folder ?? migrationsFolder);
  const client = new pg.Client({ connectionString: url, application_name: "schultor migrations", keepAlive: true });
  await client.connect();
  client.on("error", () => undefined);
  try {
    return await withProgress("Migrating the database", options.say, async () => {
      if (!options.isRestoring) await checkRestored(client);
      await client.query(`SELECT pg_advisory_lock(${prismaLock})`);
      await client.query(recordTable);
      const pending = await findPending(client, migrations);
      for (const migration of pending) {
        // The commit of the last one writes those before it to disk too.
        const isLast = migration === pending.at(-1);
        await client.query(isLast ? "RESET synchronous_commit" : "SET synchronous_commit = off");
        await apply(client, migration, { ...patient, ...options.locks });
      }
      return pending.map(({ name }) => name);
    });
  } finally {
    await client.end();
  }
}

/** Throws if a migration is missing, a newer one removed what this release uses, or a restore is unfinished. */
export async function checkMigrated(db: pg.Pool | pg.Client, folder = migrationsFolder): Promise<void> {
  await checkRestored(db);
  const { rows } = await db.query<{ name: string; note: string | null }>(
    `SELECT migration_name AS name, logs AS note
     FROM "_prisma_migrations" WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`,
  );
  const known = readMigrations(folder);
  const applied = new Set(rows.map(({ name }) => name));
  const pending = known.filter(({ name }) => !applied.has(name));
  if (pending.length > 0)
    throw new DatabaseStartError(`Not yet migrated: ${pending.map(({ name }) => name).join(", ")}.`);
  const unfit = rows.find(({ name, note }) => worksWith(note) === false && known.every((own) => own.name !== name));
  if (unfit !== undefined) throw tooNew(unfit.name);
}

// Prisma's number, so that `prisma migrate deploy` and this exclude each other.
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
      const sql = content.toString("utf8");
      return { name, sql, checksum: createHash("sha256").update(content).digest("hex"), worksSince: readContract(sql) };
    });
}

async function findPending(db: pg.Pool | pg.Client, migrations: Migration[]): Promise<Migration[]> {
  const { rows } = await db.query<Recorded>(
    `SELECT migration_name, checksum, finished_at, logs AS note
     FROM "_prisma_migrations" WHERE rolled_back_at IS NULL ORDER BY started_at`,
  );
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const row of rows) checkRecorded(row, known.get(row.migration_name));
  const applied = new Set(rows.map((row) => row.migration_name));
  return migrations.filter(({ name }) => !applied.has(name));
}

function checkRecorded(
  { migration_name: name, checksum, finished_at, note }: Recorded,
  migration: Migration | undefined,
): void {
  if (!migration) {
    if (finished_at && worksWith(note) === true) return;
    throw tooNew(name);
  }
  if (!finished_at)
    throw new DatabaseStartError(
      `The migration ${name} was begun by another tool and did not finish. Repair it with \`prisma migrate resolve\`, then start again.`,
    );
  if (migration.checksum !== checksum)
    throw new DatabaseStartError(
      `The migration ${name} was changed after it had been applied to this database. Put the applied text back, or start with an empty database.`,
    );
}

const tooNew = (name: string) =>
  new DatabaseStartError(
    `The database holds the migration ${name} of a newer version, beside which this version does not work. Start a newer version, or restore a backup.`,
  );

const recordMigration = statement<{ id: string; checksum: string; name: string; note: string }>()`
  INSERT INTO "_prisma_migrations" (id, checksum, migration_name, started_at, finished_at, applied_steps_count, logs)
  VALUES (${"id"}, ${"checksum"}, ${"name"}, now(), clock_timestamp(), 1, ${"note"})`;

async function apply(client: pg.Client, migration: Migration, locks: LockWaits): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await applyOnce(client, migration, locks.waitMs);
    } catch (cause) {
      if (!isLockTimeout(cause) || attempt >= locks.attempts) throw failed(migration.name, cause as Error);
      await sleep(locks.pauseMs);
    }
  }
}

async function applyOnce(client: pg.Client, { name, sql: text, checksum, worksSince }: Migration, lockMs: number) {
  await client.query("BEGIN");
  try {
    await client.query(`SET LOCAL lock_timeout = ${lockMs}`);
    await client.query(text);
    await run(client, recordMigration, { id: randomUUID(), checksum, name, note: noteContract(worksSince) });
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

const isLockTimeout = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === "55P03";

function failed(name: string, cause: Error): DatabaseStartError {
  const said = isLockTimeout(cause)
    ? `${cause.message}. Another connection has held a table for long: find it in pg_stat_activity and let it end.`
    : (explainDatabaseError(cause) ??
      `${cause.message}. Mend the cause; where the migration itself is wrong, take the next version that has it right.`);
  return new DatabaseStartError(
    `The migration ${name} failed, and nothing of it was kept: ${said} What runs of the version before goes on. Then run \`schultor migrate\` again.`,
    { cause },
  );
}

// Two releases run side by side during an update, so a migration may add at any time but remove only what no running
// release uses. One that removes says so:
//
//   -- contract since 0.2.0: webhook_delivery.next_attempt_at is neither read nor written since then

const header = /^-- contract since (\d+\.\d+\.\d+): \S.*$/m;
const recorded = /^contract since (\d+\.\d+\.\d+)$/;
const expands = "expand";

export const readContract = (migrationText: string): string | null => header.exec(migrationText)?.[1] ?? null;

/** Stored in the database, for releases that do not have the migration's file. */
const noteContract = (since: string | null): string => (since === null ? expands : `contract since ${since}`);

export function worksWith(note: string | null, release: string = packageFile.version): boolean | null {
  if (note === expands) return true;
  const since = recorded.exec(note ?? "")?.[1];
  return since === undefined ? null : compareReleases(release, since) >= 0;
}

export function compareReleases(one: string, other: string): number {
  const [left, right] = [one, other].map((release) => release.split(".").map(Number));
  return left!.map((part, i) => part - (right![i] ?? 0)).find((difference) => difference !== 0) ?? 0;
}
