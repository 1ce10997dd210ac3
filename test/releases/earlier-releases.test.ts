import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrationsFolder, compareReleases, readContract } from "../../src/platform/migrations/migrate.ts";
import { testDatabase } from "../support/database.ts";
import { listReleases, refusal } from "./record.ts";

const db = await testDatabase();
const client = new pg.Client({ connectionString: db.url });
beforeAll(() => client.connect());
afterAll(() => client.end());

/** The oldest release that the migrations promise to work beside. */
function findOldest(): string {
  const promised = readdirSync(migrationsFolder)
    .filter((name) => /^\d/.test(name))
    .map((name) => readContract(readFileSync(join(migrationsFolder, name, "migration.sql"), "utf8")))
    .filter((since) => since !== null);
  return promised.sort(compareReleases).at(-1) ?? listReleases()[0]!.version;
}

const beside = listReleases().filter(({ version }) => compareReleases(version, findOldest()) >= 0);

describe.for(beside)("release $version", ({ statements, migrations }) => {
  test("has its migrations here", () => {
    expect(migrations.filter((name) => !readdirSync(migrationsFolder).includes(name))).toEqual([]);
  });

  test("asks nothing that the present schema refuses", async () => {
    expect(statements.length).toBeGreaterThan(300);
    const refused: string[] = [];
    for (const statement of statements) {
      const said = await refusal(client, statement);
      if (said !== null) refused.push(`${said}: ${statement}`);
    }
    expect(refused).toEqual([]);
  });
});

test("a column that is taken away is missed by a statement of a release", async () => {
  await client.query("BEGIN; ALTER TABLE person DROP COLUMN status CASCADE; SAVEPOINT dropped");
  const refused: string[] = [];
  for (const statement of beside.at(-1)!.statements) {
    const said = await refusal(client, statement);
    if (said !== null) await client.query("ROLLBACK TO SAVEPOINT dropped").then(() => refused.push(said));
  }
  await client.query("ROLLBACK");
  expect(refused.filter((said) => /column .*status.* does not exist/.test(said)).length).toBeGreaterThan(10);
});
