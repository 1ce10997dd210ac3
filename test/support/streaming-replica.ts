import { execFileSync } from "node:child_process";
import { appendFileSync, chownSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { startEmbeddedPostgres, type EmbeddedPostgres } from "../../src/platform/postgres/index.ts";
import { makeDataDir, removeDataDir } from "./data-dir.ts";
import { atFileEnd } from "./file-end.ts";

export type StreamingReplica = {
  primaryUrl: string;
  replicaUrl: string;
  /** Runs a statement as superuser on the replica. */
  onReplica(text: string): Promise<pg.QueryResult>;
};

const quiet = { say: () => undefined };
const small = { shared_buffers: "32MB" };

/** Two servers of the test file's own, one of which follows the other; `fill` prepares the first before. */
export async function startStreamingReplica(fill: (url: string) => Promise<unknown>): Promise<StreamingReplica> {
  const [first, second] = [makeDataDir(), makeDataDir()];
  const filling = await startEmbeddedPostgres({ dataDir: first, ...quiet, settings: small });
  await fill(filling.url);
  await filling.stop();
  execFileSync("cp", ["-a", filling.folder, second]);
  const copied = join(second, "postgres");
  const signal = join(copied, "standby.signal");
  writeFileSync(signal, "");
  const { uid, gid } = statSync(copied);
  chownSync(signal, uid, gid);
  const primary = await startEmbeddedPostgres({ dataDir: first, ...quiet, settings: small });
  await allowReplication(primary);
  const socket = new URL(primary.url).searchParams.get("host")!;
  const settings = { ...small, primary_conninfo: `host=${socket} user=schultor` };
  const replica = await startEmbeddedPostgres({ dataDir: second, ...quiet, settings });
  atFileEnd(async () => {
    await replica.stop();
    await primary.stop();
    [first, second].forEach(removeDataDir);
  });
  return { primaryUrl: primary.url, replicaUrl: replica.url, onReplica: (text) => ask(replica.url, text) };
}

async function allowReplication({ folder, url }: EmbeddedPostgres): Promise<void> {
  appendFileSync(join(folder, "pg_hba.conf"), "local replication schultor trust\n");
  await ask(url, "SELECT pg_reload_conf()");
}

async function ask(url: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client.query(text).finally(() => client.end());
}
