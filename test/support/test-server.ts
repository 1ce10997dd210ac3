import { randomBytes } from "node:crypto";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { applyMigrations } from "../../src/platform/migrations/migrate.ts";
import { startEmbeddedPostgres } from "../../src/platform/postgres/index.ts";
import { makeDataDir, removeDataDir } from "./data-dir.ts";
import { installedServers } from "./servers.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The server of this run; `template` is a migrated, empty database on it. */
    databaseServer: { url: string; template: string };
  }
}

/**
 * One PostgreSQL for the run: that of TEST_DATABASE_URL, or one that is thrown away, kept in memory as far as it can
 * be.
 */
export default async function startTestServer(project: TestProject): Promise<() => Promise<void>> {
  const installed = installedServers().find(({ name }) => name === project.name);
  const given = installed ? undefined : process.env["TEST_DATABASE_URL"];
  const server =
    given === undefined
      ? await startDisposable(installed?.binariesFolder)
      : { url: given, stop: async () => undefined };
  const template = `schultor_template_${randomBytes(4).toString("hex")}`;
  await onServer(server.url, `CREATE DATABASE ${template}`);
  await applyMigrations(withDatabase(server.url, template), { say: console.log });
  project.provide("databaseServer", { url: server.url, template });
  return async () => {
    await onServer(server.url, `DROP DATABASE ${template} WITH (FORCE)`);
    await server.stop();
  };
}

export async function onServer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

async function startDisposable(binariesFolder: string | undefined): Promise<{ url: string; stop(): Promise<void> }> {
  const dataDir = makeDataDir();
  const server = await startEmbeddedPostgres({
    dataDir,
    say: console.log,
    binariesFolder,
    settings: {
      fsync: "off",
      full_page_writes: "off",
      synchronous_commit: "off",
      autovacuum: "off",
      shared_buffers: "128MB",
      max_wal_size: "512MB",
    },
  });
  return {
    url: server.url,
    async stop() {
      await server.stop();
      removeDataDir(dataDir);
    },
  };
}
