import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir, totalmem } from "node:os";
import { dirname, join, resolve } from "node:path";
import { withProgress } from "../jobs/progress.ts";
import { describeBinaries, findBinaries } from "./binaries.ts";
import {
  checkVersion,
  databaseRole,
  findCluster,
  makeCluster,
  runInitdb,
  writeAccessRules,
  type Cluster,
  findUserFor,
  takeOver,
  urlOf,
} from "./cluster.ts";
import { lockFolder } from "./folder-lock.ts";
import { clearLeftovers, startPostmaster } from "./postmaster.ts";
import { noteDataDir } from "./places.ts";
import { findServerUser } from "./server-user.ts";
import { DatabaseStartError } from "./start-error.ts";
import { handMarkOn, runStatement } from "./unfinished-restore.ts";

export type EmbeddedPostgres = {
  url: string;
  folder: string;
  exited: Promise<void>;
  stop(): Promise<void>;
};

type EmbeddedOptions = {
  dataDir: string;
  say(line: string): void;
  settings?: Record<string, string>;
  binariesFolder?: string | undefined;
};

/**
 * Starts an embedded PostgreSQL on a data folder, which only this user reaches over a local socket; creates it at the
 * first start, and first stops a server that a killed process left.
 *
 * Errors: DatabaseStartError that says what to do.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  if (process.platform === "win32")
    throw new DatabaseStartError(
      "There is no embedded PostgreSQL on Windows. Set DATABASE_URL to a PostgreSQL server, 15 or later.",
    );
  const dataDir = openDataDir(options.dataDir);
  const locks = [lockFolder(dataDir)];
  const release = () => locks.splice(0).forEach((lock) => lock.release());
  try {
    const cluster = findCluster(dataDir);
    // A copied data folder may lead to the same cluster.
    if (cluster && dirname(cluster.folder) !== dataDir) locks.push(lockFolder(dirname(cluster.folder)));
    return await withProgress("Starting the embedded PostgreSQL", options.say, () =>
      start(dataDir, cluster, { ...options, release }),
    );
  } catch (error) {
    release();
    throw error;
  }
}

async function start(
  dataDir: string,
  existing: Cluster | null,
  options: EmbeddedOptions & { release(): void },
): Promise<EmbeddedPostgres> {
  const { say, settings = {}, binariesFolder } = options;
  const user = existing ? findUserFor(existing, say) : findServerUser(say);
  const binaries = binariesFolder === undefined ? findBinaries(user, say) : describeBinaries(binariesFolder);
  const used = existing ?? (await makeCluster(dataDir, { user, fill: (folder) => runInitdb(binaries, folder, user) }));
  checkVersion(used, binaries.version);
  await clearLeftovers(used);
  const cluster = takeOver(used, user, say);
  writeAccessRules(cluster);
  if (dirname(cluster.folder) !== dataDir) {
    noteDataDir(cluster.folder, dataDir);
    say(
      `The database lives in ${cluster.folder}, because the account it runs as cannot enter ${dataDir}. It stays there when ${dataDir} is deleted: remove it with \`schultor database remove\`.`,
    );
  }
  const socket = openSocketFolder(cluster);
  const postmaster = await startPostmaster({
    cluster,
    binaries,
    logFile: join(dataDir, "postgres.log"),
    settings: { ...serverSettings(), unix_socket_directories: socket.folder, ...settings },
  });
  await makeDatabase(urlOf("postgres", socket.folder));
  await handMarkOn(cluster.folder, urlOf(databaseRole, socket.folder));
  return {
    url: urlOf(databaseRole, socket.folder),
    folder: cluster.folder,
    exited: postmaster.exited,
    async stop() {
      await postmaster.stop();
      socket.remove();
      options.release();
    },
  };
}

function openDataDir(path: string): string {
  const dataDir = resolve(path);
  try {
    if (mkdirSync(dataDir, { recursive: true }) !== undefined) chmodSync(dataDir, 0o711);
    return realpathSync(dataDir);
  } catch (cause) {
    throw new DatabaseStartError(
      `The data folder ${dataDir} cannot be made: ${(cause as Error).message}. Set DATA_DIR to a folder this user may write.`,
      { cause },
    );
  }
}

function serverSettings(): Record<string, string> {
  const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity);
  const megabytes = Math.round(memory / 8 / 1024 ** 2);
  return {
    listen_addresses: "",
    unix_socket_permissions: "0700",
    max_connections: "100",
    shared_buffers: `${Math.min(Math.max(megabytes, 64), 1024)}MB`,
    fsync: "on",
    full_page_writes: "on",
    synchronous_commit: "on",
    max_wal_size: "2GB",
    random_page_cost: "1.1",
    jit: "off",
    timezone: "UTC",
    log_timezone: "UTC",
    // Log lines may hold values of failed statements, so they are few and without statements.
    log_min_messages: "warning",
    log_min_error_statement: "panic",
    log_error_verbosity: "terse",
    log_checkpoints: "off",
  };
}

/** A socket's path has at most 107 bytes, so a deep data folder needs another place. */
function openSocketFolder({ folder, user }: Cluster): { folder: string; remove(): void } {
  if (Buffer.byteLength(folder) <= 80) return { folder, remove: () => undefined };
  const short = mkdtempSync(join(tmpdir(), "schultor-"));
  if (user) chownSync(short, user.uid, user.gid);
  return { folder: short, remove: () => rmSync(short, { recursive: true, force: true }) };
}

async function makeDatabase(maintenanceUrl: string): Promise<void> {
  const databases = await runStatement(maintenanceUrl, `SELECT FROM pg_database WHERE datname = '${databaseRole}'`);
  if (databases.length === 0) await runStatement(maintenanceUrl, `CREATE DATABASE ${databaseRole}`);
}
