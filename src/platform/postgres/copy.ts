import { existsSync, readFileSync } from "node:fs";
import { copyFile, mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import pg from "pg";
import { findBinaries } from "./binaries.ts";
import { findCluster, makeCluster } from "./cluster.ts";
import { lockFolder } from "./folder-lock.ts";
import { findServerUser } from "./server-user.ts";
import { DatabaseStartError } from "./start-error.ts";
import { markUnfinishedFiles } from "./unfinished-restore.ts";

// Files of the running server, and files made anew at start.
const leftOut = new Set(["postmaster.pid", "postmaster.opts", "pg_internal.init"]);
const emptied = new Set([
  "pg_dynshmem",
  "pg_notify",
  "pg_replslot",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans",
  "pg_wal",
]);
const segment = /^[0-9A-F]{24}$/;

/** Source: "Making a Base Backup Using the Low Level API". A slot keeps the WAL that the copy needs. */
export async function copyRunningServer({ url, folder }: { url: string; folder: string }, target: string) {
  const unfinished = `${target}.unfinished`;
  await mkdir(unfinished, { mode: 0o700 });
  const client = new pg.Client({ connectionString: url, application_name: "schultor backup" });
  try {
    await client.connect();
    await client.query(`SELECT pg_create_physical_replication_slot('schultor_backup_${process.pid}', true, true)`);
    await client.query("SELECT pg_backup_start('schultor backup', true)");
    await copyTree(folder, unfinished);
    const { rows } = await client.query<{ labelfile: string }>("SELECT labelfile FROM pg_backup_stop(false)");
    await writeFile(join(unfinished, "backup_label"), rows[0]!.labelfile, { mode: 0o600, flush: true });
    const log = (await readdir(join(folder, "pg_wal"))).filter((name) => segment.test(name));
    for (const name of log) await copyOne(join(folder, "pg_wal", name), join(unfinished, "pg_wal", name));
    await rename(unfinished, target);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  } finally {
    await client.end();
  }
}

/** Marks the database as unfinished. Errors: DatabaseStartError, also if `source` is no backup. */
export async function putCopy(dataDir: string, source: string, say: (line: string) => void): Promise<void> {
  const user = findServerUser(say);
  checkCopy(resolve(source), findBinaries(user, say).version);
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  const lock = lockFolder(dataDir);
  try {
    if (findCluster(dataDir) !== null)
      throw new DatabaseStartError(
        `There is a database in ${dataDir}. Set another DATA_DIR, or delete it with \`schultor database remove\`.`,
      );
    await makeCluster(dataDir, {
      user,
      fill: async (folder) => {
        await copyTree(source, folder, { whole: true });
        await markUnfinishedFiles(folder);
      },
    });
  } finally {
    lock.release();
  }
}

function checkCopy(source: string, version: string): void {
  if (!existsSync(source)) throw new DatabaseStartError(`There is no ${source}.`);
  if (["PG_VERSION", "global/pg_control"].some((name) => !existsSync(join(source, name))))
    throw new DatabaseStartError(
      `${source} is not a backup of the embedded database, which is a folder. For a file of pg_dump, set DATABASE_URL to an empty database.`,
    );
  const actual = readFileSync(join(source, "PG_VERSION"), "utf8").trim();
  if (actual !== version)
    throw new DatabaseStartError(
      `The backup in ${source} was made by PostgreSQL ${actual}, this version brings PostgreSQL ${version}. Restore it with the version of the service that made it.`,
    );
}

async function copyTree(from: string, to: string, { whole = false, top = true } = {}): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (leftOut.has(entry.name) || entry.name.startsWith("pgsql_tmp")) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isFile()) await copyOne(source, target);
    if (!entry.isDirectory()) continue;
    await mkdir(target, { mode: 0o700 });
    if (top && !whole && emptied.has(entry.name)) continue;
    await copyTree(source, target, { whole, top: false });
  }
}

/** A table may be dropped during the copy; the WAL drops it from the copy too. */
async function copyOne(source: string, target: string): Promise<void> {
  try {
    await copyFile(source, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  const file = await open(target, "r+");
  await file.sync().finally(() => file.close());
}
