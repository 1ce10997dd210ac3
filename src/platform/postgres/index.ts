/**
 * The PostgreSQL server below the service: one we are given, or a real one of our own.
 *
 * Nouns:      data folder (DATA_DIR), cluster (PostgreSQL's files), server user (as whom it runs), lock (one process a
 * folder).
 * Invariants: what was confirmed survives any kill; two processes never work on one folder; a server that is not ours
 * is
 *             never stopped; no connection without a proved identity, and none over the network.
 * Never knows: tables, schools, configuration variables.
 */
import { isDatabaseUnavailable } from "../database/db.ts";
import { startEmbeddedPostgres } from "./embedded.ts";
import { reachDatabase } from "./reach.ts";

export { copyRunningServer, putCopy } from "./copy.ts";
export { dumpDatabase, loadDump } from "./dump.ts";
export { startEmbeddedPostgres } from "./embedded.ts";
export type { EmbeddedOptions, EmbeddedPostgres } from "./embedded.ts";
export { findPlace, listOutsidePlaces, removeDatabase, removeOutsidePlace } from "./places.ts";
export type { DatabasePlace } from "./places.ts";
export { reachDatabase } from "./reach.ts";
export { findRunningServer } from "./running.ts";
export { DatabaseStartError } from "./start-error.ts";
export { checkRestored, removeMark } from "./unfinished-restore.ts";

export type DatabaseServer = {
  url: string;
  /** Where an embedded server keeps its files; null when the server is not ours. */
  folder: string | null;
  /** Resolves when an embedded server has ended, also when nobody asked it to; never for another. */
  exited: Promise<void>;
  stop(): Promise<void>;
};

/** The server of `databaseUrl` once it answers; without one, an embedded server in `dataDir`. */
export async function openDatabaseServer(options: {
  databaseUrl: string | undefined;
  databaseReplicaUrl?: string | undefined;
  dataDir: string;
  /** How many the service may open; an embedded server takes as many, and some for commands. */
  connections?: number;
  say(line: string): void;
}): Promise<DatabaseServer> {
  const { databaseUrl, databaseReplicaUrl, dataDir, connections = 0, say } = options;
  const settings = { max_connections: String(Math.max(100, connections + 20)) };
  if (databaseUrl === undefined) return startEmbeddedPostgres({ dataDir, say, settings });
  const reaching = { say, patienceSeconds: 60, connections };
  await reachDatabase(databaseUrl, reaching);
  if (databaseReplicaUrl !== undefined) await reachReplica(databaseReplicaUrl, reaching);
  return { url: databaseUrl, folder: null, exited: new Promise(() => undefined), stop: async () => undefined };
}

/** A replica that is away is not waited for: the primary is read meanwhile. */
async function reachReplica(url: string, options: Parameters<typeof reachDatabase>[1]): Promise<void> {
  try {
    await reachDatabase(url, { ...options, patienceSeconds: 2, replica: true });
  } catch (error) {
    if (!isDatabaseUnavailable((error as Error).cause)) throw error;
    options.say(`${(error as Error).message} The primary is read until it does.`);
  }
}
