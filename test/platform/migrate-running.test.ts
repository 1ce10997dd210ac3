import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { applyMigrations, migrationsFolder } from "../../src/platform/migrations/migrate.ts";
import { makeMakers } from "../support/make.ts";
import { expectReady } from "../support/ready.ts";
import { startService } from "../support/service.ts";
import { getAppToken, getUserTokens, giveLogin, postToken } from "../support/token.ts";

/** The migrations with one more. */
function addMigration(sql: string): string {
  const folder = mkdtempSync(join(tmpdir(), "schultor-migrations-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(migrationsFolder, folder, { recursive: true });
  mkdirSync(join(folder, "9001_half"));
  writeFileSync(join(folder, "9001_half", "migration.sql"), sql);
  return folder;
}

test("a migration that fails half-way under requests leaves the service ready: it signs on, refreshes, reads and changes", async () => {
  const service = await startService();
  const make = makeMakers(service.db);
  const [school, app] = [await make.school(), await make.app()];
  const groups = [await make.group({ school })];
  await make.grant({ app: app.clientId, school, groups });
  const login = await giveLogin(service.db, await make.person({ school, groups }));
  const scopes = ["openid", "offline_access"] as const;
  const before = await getUserTokens(service, app, login, { scopes });
  const token = await getAppToken(service, app, ["people:read"]);
  const headers = { authorization: `Bearer ${token}` };
  const listPeople = async () => {
    const answer = await fetch(`${service.url}/idm/ep/v1/schools/${school}/people`, { headers });
    return answer.status === 200 ? ((await answer.json()) as unknown[]).length : answer.status;
  };
  const folder = addMigration(`
    ALTER TABLE person ADD COLUMN half int NOT NULL DEFAULT 1;
    SELECT 1 / 0;`);
  const migration = { isOver: false };
  const failed = expect(applyMigrations(service.db.url, { say: () => undefined, folder }))
    .rejects.toThrow(/9001_half failed, and nothing of it was kept/)
    .finally(() => (migration.isOver = true));
  while (!migration.isOver) expect(await listPeople()).toBe(1);
  await failed;

  await expectReady(service.url);
  await make.person({ school, groups });
  expect(await listPeople()).toBe(2);
  const refresh = { grant_type: "refresh_token", refresh_token: before.refresh_token! };
  expect((await postToken(service, app, refresh)).status).toBe(200);
  expect((await getUserTokens(service, app, login, { scopes })).id_token).toBeDefined();
  expect(await applyMigrations(service.db.url, { say: () => undefined })).toEqual([]);
  const { rowCount } = await service.db.pool.query(
    "SELECT FROM information_schema.columns WHERE table_name = 'person' AND column_name = 'half'",
  );
  expect(rowCount).toBe(0);
});
