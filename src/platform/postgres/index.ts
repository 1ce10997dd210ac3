/**
 * postgres: the server below the service, external or embedded.
 *
 * Nouns:      data folder (DATA_DIR), cluster (PostgreSQL's files), server user (its account), lock (one process per
 *             folder).
 * Invariants: committed data survives any kill; two processes never use one folder; a foreign server is never
 *             stopped; every connection is authenticated and none uses the network.
 * Never knows: tables, schools, configuration variables.
 */
import { isDatabaseUnavailable } from "../database/db.ts";
import { startEmbeddedPostgres, type EmbeddedPostgres } from "./embedded.ts";
import { reachDatabase } from "./reach.ts";

export { copyRunningServer, putCopy } from "./copy.ts";
export { dumpDatabase, loadDump, readDump } from "./dump.ts";
export { startEmbeddedPostgres, type EmbeddedPostgres } from "./embedded.ts";
export { findPlace, listOutsidePlaces, removeDatabase, removeOutsidePlace, type DatabasePlace } from "./places.ts";
export { reachDatabase } from "./reach.ts";
export { findRunningServer } from "./postmaster.ts";
export { DatabaseStartError, explainDatabaseError } from "./start-error.ts";
export { checkRestored, removeMark } from "./unfinished-restore.ts";

export async function openDatabaseServer(options: {
  databaseUrl: string | undefined;
  databaseReplicaUrl?: string | undefined;
  dataDir: string;
  connections?: number;
  say(line: string): void;
}): Promise<Omit<EmbeddedPostgres, "folder"> & { folder: string | null }> {
  const { databaseUrl, databaseReplicaUrl, dataDir, connections = 0, say } = options;
  const settings = { max_connections: String(Math.max(100, connections + 20)) };
  if (databaseUrl === undefined) return startEmbeddedPostgres({ dataDir, say, settings });
  const reaching = { say, patienceSeconds: 60, connections };
  await reachDatabase(databaseUrl, reaching);
  if (databaseReplicaUrl !== undefined) await reachReplica(databaseReplicaUrl, reaching);
  return { url: databaseUrl, folder: null, exited: new Promise(() => undefined), stop: async () => undefined };
}

/** The service starts without its replica and reads the primary. */
async function reachReplica(url: string, options: Parameters<typeof reachDatabase>[1]): Promise<void> {
  try {
    await reachDatabase(url, { ...options, patienceSeconds: 2, replica: true });
  } catch (error) {
    if (!isDatabaseUnavailable((error as Error).cause)) throw error;
    options.say(`${(error as Error).message} The primary is read until it does.`);
  }
}
