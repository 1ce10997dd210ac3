import { resolve } from "node:path";
import type { Config } from "../../config/index.ts";
import type { Clock } from "../../platform/clock.ts";
import type { OpenDb } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";

type LocalDatabase = { db: OpenDb; url: string; clock: Clock };
type Opened<T> = T & { close(): Promise<void> };

/** Finds the server of the service while it runs, else starts it until `close`. */
async function openServer(config: Config, tell: (line: string) => void): Promise<Opened<{ url: string }>> {
  const { findRunningServer, openDatabaseServer } = await import("../../platform/postgres/index.ts");
  const running = config.databaseUrl === undefined ? findRunningServer(config.dataDir) : null;
  if (running !== null) return { url: running, close: async () => undefined };
  const server = await openDatabaseServer({ ...config, databaseReplicaUrl: undefined, say: tell });
  return { url: server.url, close: () => server.stop() };
}

/** Errors: conflict database_missing, so that a command in the wrong folder makes no empty database there. */
export async function checkDatabaseExists({ databaseUrl, dataDir }: Config): Promise<void> {
  if (databaseUrl !== undefined) return;
  const { findPlace } = await import("../../platform/postgres/index.ts");
  if (findPlace(dataDir) !== null) return;
  const message = `There is no database in ${resolve(dataDir)}, and no service was chosen. Nothing was done. Start the service in this folder, set DATA_DIR, or log in to a service: schultor login <address>`;
  throw new AppError("conflict", "database_missing", message);
}

type Work<T> = (url: string) => Promise<T>;

export async function withNewServer<T>(config: Config, tell: (line: string) => void, work: Work<T>): Promise<T> {
  const { url, close } = await openServer(config, tell);
  return work(url).finally(close);
}

/** Errors: conflict database_missing. */
export async function withServer<T>(config: Config, tell: (line: string) => void, work: Work<T>): Promise<T> {
  await checkDatabaseExists(config);
  return withNewServer(config, tell, work);
}

async function openMigrated(config: Config, tell: (line: string) => void): Promise<Opened<LocalDatabase>> {
  await checkDatabaseExists(config);
  const { openDatabase } = await import("../../platform/database/db.ts");
  const { readDatabaseClock } = await import("../../platform/database/database-clock.ts");
  const { checkMigrated } = await import("../../platform/migrations/migrate.ts");
  const { url, close: closeServer } = await openServer(config, tell);
  const db = openDatabase({ url, poolSize: 2 });
  const close = () => db.close().finally(closeServer);
  try {
    await checkMigrated(db.pool);
    return { db, url, clock: await readDatabaseClock(db), close };
  } catch (error) {
    await close();
    throw error;
  }
}

type DatabaseOfCall = { get(): Promise<LocalDatabase>; close(): Promise<void> };

/** The database for one command line, opened when it is first needed. */
export function makeDatabaseOfCall(config: Config, tell: (line: string) => void): DatabaseOfCall {
  let opened: Promise<Opened<LocalDatabase>> | undefined;
  return {
    get: () => (opened ??= openMigrated(config, tell)),
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}
