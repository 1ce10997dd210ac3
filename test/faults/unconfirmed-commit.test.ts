// @module-tag slow
import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import {
  isDatabaseUnavailable,
  openDatabase,
  withPrismaTransaction,
  withTransaction,
} from "../../src/platform/database/db.ts";
import type { Queryable } from "../../src/platform/database/sql.ts";
import { openDatabaseServer } from "../../src/platform/postgres/index.ts";

const dataDir = realpathSync(mkdtempSync(join(tmpdir(), "schultor-unconfirmed-")));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** Commits until one fails: they wait for a replica once the checkpointer too has read the setting. */
async function commitUntilFailure(commit: () => Promise<void>): Promise<unknown> {
  for (;;) {
    try {
      await commit();
    } catch (error) {
      return error;
    }
  }
}

const cancelWaiting = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";

test("a commit whose wait for a replica was cut short is an error, although PostgreSQL answers it as done", async () => {
  chmodSync(dataDir, 0o711);
  const server = await openDatabaseServer({ databaseUrl: undefined, dataDir, say: () => undefined });
  const db = openDatabase({ url: server.url });
  try {
    await db.pool.query("CREATE TABLE note (id serial PRIMARY KEY)");
    await db.pool.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    await db.pool.query("SELECT pg_reload_conf()");
    await expect
      .poll(async () => (await db.pool.query("SHOW synchronous_standby_names")).rows)
      .toEqual([{ synchronous_standby_names: "nobody" }]);
    const insert = async (tx: Queryable) => void (await tx.query("INSERT INTO note DEFAULT VALUES"));
    for (const commit of [() => withTransaction(db, insert), () => withPrismaTransaction(db, insert)]) {
      const ended = commitUntilFailure(commit);
      await expect.poll(async () => (await db.pool.query(cancelWaiting)).rowCount).toBe(1);
      const error = await ended;
      expect(error).toBeInstanceOf(Error);
      expect(isDatabaseUnavailable(error)).toBe(true);
    }
    expect((await db.pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  } finally {
    await db.close();
    await server.stop();
  }
});
