import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase, type PrismaDb } from "../src/platform/database/db.ts";
import { applyMigrations } from "../src/platform/migrations/migrate.ts";
import { openDatabaseServer } from "../src/platform/postgres/index.ts";

/**
 * A migrated database with the service's own server settings, gone after the run; or the one of the address
 * (BENCH_DATABASE_URL: an empty one of yours), which stays.
 */
export async function openBenchDatabase(
  databaseUrl = process.env["BENCH_DATABASE_URL"],
): Promise<{ url: string; db: PrismaDb; close(): Promise<void> }> {
  const dataDir = realpathSync(mkdtempSync(join(tmpdir(), "schultor-bench-")));
  chmodSync(dataDir, 0o711);
  const say = () => undefined;
  const server = await openDatabaseServer({ databaseUrl, dataDir, say });
  await applyMigrations(server.url, { say });
  const db = openDatabase({ url: server.url });
  return {
    url: server.url,
    db,
    async close() {
      await db.close();
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
