import { randomBytes } from "node:crypto";
import { afterAll, inject } from "vitest";
import { openDatabase } from "../../src/platform/db.ts";
import type { Db } from "../../src/platform/db.ts";
import { onServer, withDatabase } from "./test-server.ts";

export type TestDatabase = Db & { url: string };

/** A migrated, empty database of the test file's own; gone at its end. Call it in `beforeAll`, or at the top of the file. */
export async function testDatabase(options: { poolSize?: number } = {}): Promise<TestDatabase> {
  const { url: serverUrl, template } = inject("databaseServer");
  const name = `schultor_test_${randomBytes(6).toString("hex")}`;
  await onServer(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = withDatabase(serverUrl, name);
  const db = openDatabase({ url, ...options });
  afterAll(async () => {
    await db.close();
    await onServer(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
  });
  return { ...db, url };
}
