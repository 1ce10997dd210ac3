import { randomBytes } from "node:crypto";
import { inject, onTestFinished } from "vitest";
import { openDatabase } from "../../src/platform/database/db.ts";
import type { OpenDb } from "../../src/platform/database/db.ts";
import { atFileEnd, empty } from "./file-end.ts";
import { openKeptPrisma } from "./kept-prisma.ts";
import { refuseSecondConnections } from "./one-connection.ts";
import { onServer, withDatabase } from "./test-server.ts";

export type TestDatabase = OpenDb & { url: string };

/**
 * A migrated, empty database of the test file's own; gone at its end. Its pool gives a transaction no second
 * connection. Call it in `beforeAll`, or at the top of the file.
 */
export async function testDatabase(options: { poolSize?: number } = {}): Promise<TestDatabase> {
  const { url, drop } = await createDatabase(inject("databaseServer").template);
  const db = openDatabase({ url, ...options, openPrisma: openKeptPrisma });
  refuseSecondConnections(db.pool);
  atFileEnd(async () => {
    await db.close();
    await drop();
    empty(db);
  });
  return Object.assign(db, { url });
}

/**
 * The address of a database without a single table; gone when the test is over. Call it in a test or in `beforeEach`.
 */
export async function emptyDatabase(): Promise<string> {
  const { url, drop } = await createDatabase("template0");
  onTestFinished(drop);
  return url;
}

async function createDatabase(template: string): Promise<{ url: string; drop(): Promise<void> }> {
  const { url: serverUrl } = inject("databaseServer");
  const name = `schultor_test_${randomBytes(6).toString("hex")}`;
  // Half the CPU of the default, which writes each page of the template to the log.
  await onServer(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  return { url: withDatabase(serverUrl, name), drop: () => onServer(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`) };
}
