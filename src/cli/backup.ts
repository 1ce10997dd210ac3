import type { Config } from "../config/index.ts";
import type { OpenDb } from "../platform/database/db.ts";
import { argument } from "./option.ts";
import { makeMachineCommand, type Result } from "./command.ts";
import { withServer } from "./local/database.ts";

const keysNotice = "Store ENCRYPTION_KEYS safely in another place: without these keys it cannot be restored.";
const reason = "The files are on the machine of the service.";

/** Makes a restored database fit for use: nothing of before that was used, ended or seen since counts again. */
async function finish(config: Config, url: string, tell: (line: string) => void): Promise<void> {
  const { openDatabase, withTransaction } = await import("../platform/database/db.ts");
  const { removeMark } = await import("../platform/postgres/index.ts");
  const { applyMigrations } = await import("../platform/migrations/migrate.ts");
  const { checkSecrets, forgetSignIns } = await import("../sign-on/index.ts");
  const { restartFeed } = await import("../events/index.ts");
  const db = openDatabase({ url, poolSize: 1 });
  try {
    await checkSecrets(db.pool, config.encryptionKeys);
    await applyMigrations(url, { say: tell, isRestoring: true });
    await withTransaction(db, async (tx) => {
      await forgetSignIns(tx);
      await restartFeed(tx, {});
      await removeMark(tx);
    });
    await db.pool.query("SET statement_timeout = 0; ANALYZE");
  } finally {
    await db.close();
  }
}

/** Notes when a backup begins, by the clock of the database, to be recorded when it has been made. */
async function beginBackup(url: string): Promise<{ record(): Promise<void> }> {
  const { openDatabase } = await import("../platform/database/db.ts");
  const { recordBackup } = await import("../traffic/index.ts");
  const withPool = async <T>(work: (pool: OpenDb["pool"]) => Promise<T>): Promise<T> => {
    const db = openDatabase({ url, poolSize: 1 });
    return work(db.pool).finally(() => db.close());
  };
  const { rows } = await withPool((pool) => pool.query<{ now: Date }>("SELECT clock_timestamp() AS now"));
  const startMs = performance.now();
  return {
    record: () =>
      withPool((pool) =>
        recordBackup(pool, { begunAt: rows[0]!.now, durationMs: Math.round(performance.now() - startMs) }),
      ),
  };
}

const finished: Result = {
  lines: [
    "The database is restored. Everybody signs in again, and apps get new tokens.",
    "Cursors of the change feed get a 410 response, so that apps read everything again.",
  ],
  data: { restored: true },
};

export const backupCommands = {
  backup: makeMachineCommand({
    summary: "Write the database to a new file (pg_dump), or the embedded one to a new folder, while the service runs.",
    args: { place: argument.text() },
    run: async ({ config, tell }, { args: { place } }) => {
      const { copyRunningServer, dumpDatabase, findPlace } = await import("../platform/postgres/index.ts");
      await withServer(config, tell, async (url) => {
        const backup = await beginBackup(url);
        if (config.databaseUrl !== undefined) await dumpDatabase(url, place);
        else await copyRunningServer({ url, folder: findPlace(config.dataDir)!.folder }, place);
        await backup.record();
      });
      return { lines: [`The database is in ${place}.`, keysNotice], quiet: [place], data: { place } };
    },
    reason,
  }),
  "record-backup": makeMachineCommand({
    summary: "Record that another tool has backed the database up now, so that no alert says that backups are missing.",
    run: async ({ config, tell }) => {
      await withServer(config, tell, async (url) => (await beginBackup(url)).record());
      return { lines: ["The backup is recorded."], data: { recorded: true } };
    },
    reason,
  }),
  restore: makeMachineCommand({
    summary: "Restore a backup where there is no database yet, before the service starts.",
    args: { place: argument.text() },
    run: async ({ config, tell }, { args: { place } }) => {
      const { loadDump, putCopy } = await import("../platform/postgres/index.ts");
      if (config.databaseUrl === undefined) await putCopy(config.dataDir, place, tell);
      await withServer(config, tell, async (url) => {
        if (config.databaseUrl !== undefined) await loadDump(url, place);
        await finish(config, url, tell);
      });
      return finished;
    },
    reason,
  }),
  "finish-restore": makeMachineCommand({
    summary: "End all sign-ins and cursors in a database that was restored with other tools than `restore`.",
    irreversible: "This ends every session and token, and every cursor of the change feed.",
    run: async ({ config, tell }) => {
      await withServer(config, tell, (url) => finish(config, url, tell));
      return finished;
    },
    reason,
  }),
};
