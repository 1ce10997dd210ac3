import { execFile, execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, chownSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { startEmbeddedPostgres, type EmbeddedPostgres } from "../../../src/platform/postgres/index.ts";
import { installedServers } from "../../support/servers.ts";

const program = "/usr/bin/pgbackrest";
const binariesFolder = installedServers().at(-1)?.binariesFolder;

/** Whether this machine has what the drill needs (Debian: pgbackrest, postgresql). */
export const isInstalled = existsSync(program) && binariesFolder !== undefined;

/** A PostgreSQL whose changes are archived by pgBackRest. */
export type ArchivedServer = {
  url(): string;
  backUp(): Promise<void>;
  /** Waits until every change so far is in the archive. */
  archive(): Promise<void>;
  /** Stops the server, and brings it back as it was at that time. */
  restore(to: Date): Promise<void>;
  stop(): Promise<void>;
};

export async function startArchivedServer(folder: string): Promise<ArchivedServer> {
  const [dataDir, config] = [join(folder, "data"), join(folder, "pgbackrest.conf")];
  const settings = {
    shared_buffers: "64MB",
    wal_level: "replica",
    archive_mode: "on",
    max_wal_size: "256MB",
    archive_command: `${program} --config=${config} --stanza=schultor archive-push %p`,
  };
  const start = () => startEmbeddedPostgres({ dataDir, say: () => undefined, settings, binariesFolder });
  chmodSync(folder, 0o711);
  let server = await start();
  const { uid, gid } = statSync(server.folder);
  writeConfig({ folder, config, server, uid, gid });
  const run = async (command: string, ...options: string[]) => {
    const args = [`--config=${config}`, "--stanza=schultor", ...options, command];
    await promisify(execFile)(program, args, { uid, gid, cwd: "/", env: { PATH: "/usr/bin:/bin", LC_ALL: "C" } });
  };
  await letOwnerIn(server);
  await run("stanza-create");
  return {
    url: () => server.url,
    backUp: () => run("backup", "--type=full"),
    archive: () => run("check"),
    async restore(to) {
      await server.stop();
      const target = to.toISOString().replace("T", " ").replace("Z", "+00");
      await run("restore", "--delta", "--type=time", `--target=${target}`, "--target-action=promote");
      server = await start();
      // The server takes connections before it has replayed the log up to the target.
      while (await isRestoring(server)) await sleep(100);
    },
    stop: () => server.stop(),
  };
}

async function isRestoring({ url }: EmbeddedPostgres): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ is: boolean }>("SELECT pg_is_in_recovery() AS is").finally(() => client.end());
  return rows[0]!.is;
}

/** pgBackRest runs as the owner of the files, and asks the server for its place in the log. */
async function letOwnerIn({ folder, url }: EmbeddedPostgres): Promise<void> {
  const owner = execFileSync("id", ["-nu", String(statSync(folder).uid)], { encoding: "utf8" }).trim();
  appendFileSync(join(folder, "pg_ident.conf"), `owner "${owner}" schultor\n`);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("SELECT pg_reload_conf()").finally(() => client.end());
}

type Place = { folder: string; config: string; server: EmbeddedPostgres; uid: number; gid: number };

function writeConfig({ folder, config, server, uid, gid }: Place): void {
  const places = { "repo1-path": "repository", "log-path": "log", "lock-path": "lock", "spool-path": "spool" };
  const lines = Object.entries(places).map(([option, name]) => {
    const path = join(folder, name);
    mkdirSync(path);
    chownSync(path, uid, gid);
    return `${option}=${path}`;
  });
  const own = [
    `pg1-path=${server.folder}`,
    `pg1-socket-path=${server.folder}`,
    "pg1-user=schultor",
    "pg1-database=schultor",
  ];
  writeFileSync(
    config,
    [
      "[global]",
      ...lines,
      "start-fast=y",
      "repo1-retention-full=1",
      "compress-type=lz4",
      "[schultor]",
      ...own,
      "",
    ].join("\n"),
  );
}
