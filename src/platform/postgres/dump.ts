import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { runStatement } from "./run-statement.ts";
import { DatabaseStartError } from "./start-error.ts";
import { markUnfinished, removeMarkOf, unfinishedTable } from "./unfinished-restore.ts";

const run = promisify(execFile);
const debianFolder = "/usr/lib/postgresql";

export async function dumpDatabase(url: string, file: string): Promise<void> {
  if (existsSync(file)) throw new DatabaseStartError(`${file} exists. Give the backup another name.`);
  const unfinished = `${file}.unfinished`;
  try {
    await runClient("pg_dump", url, ["--format=custom", `--exclude-table=${unfinishedTable}`, `--file=${unfinished}`]);
    await rename(unfinished, file);
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** Marks the database as unfinished. Errors: DatabaseStartError if there are tables. */
export async function loadDump(url: string, file: string): Promise<void> {
  const rows = await runStatement<{ name: string }>(
    url,
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '${unfinishedTable}' LIMIT 1`,
  );
  if (rows.length > 0)
    throw new DatabaseStartError(
      `The database of DATABASE_URL has tables (${rows[0]!.name}). Make an empty one and name it in DATABASE_URL.`,
    );
  const { pathname } = new URL(url);
  const database = decodeURIComponent(pathname.slice(1));
  const rights = ["--no-owner", "--no-privileges"];
  await markUnfinished(url);
  try {
    await runClient("pg_restore", url, [...rights, "--single-transaction", `--dbname=${database}`, file]);
  } catch (error) {
    await removeMarkOf(url).catch(() => undefined);
    throw error;
  }
}

async function runClient(name: string, url: string, args: string[]): Promise<void> {
  const [server] = await runStatement<{ major: number }>(
    url,
    "SELECT current_setting('server_version_num')::int / 10000 AS major",
  );
  const program = findClient(name, server!.major);
  try {
    await run(program, args, { env: connectionOf(url), maxBuffer: 64 * 1024 ** 2 });
  } catch (cause) {
    const said = (cause as { stderr?: string }).stderr?.trim() || (cause as Error).message;
    throw new DatabaseStartError(`${name} failed: ${said}`, { cause });
  }
}

/** The oldest installed client that is not older than the server, which pg_dump requires. */
function findClient(name: string, serverMajor: number): string {
  const versions = existsSync(debianFolder) ? readdirSync(debianFolder).map(Number) : [];
  const fit = versions
    .filter((version) => version >= serverMajor && existsSync(join(debianFolder, String(version), "bin", name)))
    .sort((one, other) => one - other);
  if (fit.length > 0) return join(debianFolder, String(fit[0]), "bin", name);
  throw new DatabaseStartError(
    `There is no ${name} for PostgreSQL ${serverMajor} in ${debianFolder}. Install the package postgresql-client-${serverMajor}.`,
  );
}

/** Passed through the environment, because process lists show arguments. */
function connectionOf(url: string): Record<string, string> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const given = {
    PGHOST: searchParams.get("host") ?? hostname,
    PGPORT: searchParams.get("port") ?? port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
    PGSSLMODE: searchParams.get("sslmode") ?? "",
    PGSSLROOTCERT: searchParams.get("sslrootcert") ?? "",
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
}
