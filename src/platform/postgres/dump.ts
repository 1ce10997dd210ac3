import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { DatabaseStartError } from "./start-error.ts";
import { markUnfinished, removeMarkOf, unfinishedTable, runStatement } from "./unfinished-restore.ts";

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

/** The dump of pg_dump in a file or folder, in whatever format, as SQL. Errors: DatabaseStartError. */
export async function* readDump(place: string): AsyncGenerator<Uint8Array> {
  const program = listClients("pg_restore").at(-1)?.path;
  if (program === undefined)
    throw new DatabaseStartError(`There is no pg_restore in ${debianFolder}. Install the package postgresql-client.`);
  const child = spawn(program, ["--file=-", place], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-1000)));
  const ended = once(child, "close");
  try {
    yield* child.stdout as AsyncIterable<Uint8Array>;
    const [code] = (await ended) as [number | null];
    if (code !== 0) throw new DatabaseStartError(`pg_restore failed: ${said.trim()}`);
  } finally {
    child.kill();
  }
}

/** The installed ones, the oldest first. */
function listClients(name: string): { version: number; path: string }[] {
  const versions = existsSync(debianFolder) ? readdirSync(debianFolder).map(Number) : [];
  return versions
    .map((version) => ({ version, path: join(debianFolder, String(version), "bin", name) }))
    .filter(({ path }) => existsSync(path))
    .sort((one, other) => one.version - other.version);
}

/** The oldest installed client that is not older than the server, which pg_dump requires. */
function findClient(name: string, serverMajor: number): string {
  const fit = listClients(name).find(({ version }) => version >= serverMajor);
  if (fit !== undefined) return fit.path;
  throw new DatabaseStartError(
    `There is no ${name} for PostgreSQL ${serverMajor} in ${debianFolder}. Install the package postgresql-client-${serverMajor}.`,
  );
}

/** Passed through the environment, because process lists show arguments. */
function connectionOf(url: string): Record<string, string> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const variables = {
    PGHOST: searchParams.get("host") ?? hostname,
    PGPORT: searchParams.get("port") ?? port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
    PGSSLMODE: searchParams.get("sslmode") ?? "",
    PGSSLROOTCERT: searchParams.get("sslrootcert") ?? "",
  };
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ""));
}
