import type { Config } from "../config/index.ts";
import { openDatabase, type Db } from "../platform/db.ts";
import { checkMigrated } from "../platform/migrate.ts";
import { findRunningServer, openDatabaseServer } from "../platform/postgres/index.ts";

type Given = { db: Db; url: string };

/** Finds the server of the service while it runs, else starts it for as long as the command takes. */
export async function withServer<T>(
  config: Config,
  tell: (line: string) => void,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const running = config.databaseUrl === undefined ? findRunningServer(config.dataDir) : null;
  if (running !== null) return work(running);
  const server = await openDatabaseServer({ ...config, databaseReplicaUrl: undefined, say: tell });
  return work(server.url).finally(() => server.stop());
}

/** As `withServer`, with connections to a database that is fit for this version. */
export function withMigratedDatabase<T>(
  config: Config,
  tell: (line: string) => void,
  work: (given: Given) => Promise<T>,
): Promise<T> {
  return withServer(config, tell, async (url) => {
    const db = openDatabase({ url, poolSize: 2 });
    try {
      await checkMigrated(db.pool);
      return await work({ db, url });
    } finally {
      await db.close();
    }
  });
}
