/**
 * npm run release:record                runs the tests and keeps what the release asks its database, in
 *                                       test/releases/<version>
 * npm run release:record -- <folder>    the same of a run that wrote there before (watch-queries.ts)
 *
 * Later releases hold their migrations against it: test/releases/earlier-releases.test.ts.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import packageFile from "../../package.json" with { type: "json" };
import { applyMigrations, migrationsFolder, compareReleases } from "../../src/platform/migrations/migrate.ts";
import { startEmbeddedPostgres } from "../../src/platform/postgres/index.ts";
import { makeDataDir, removeDataDir } from "../support/data-dir.ts";

export type Release = { version: string; migrations: string[]; statements: string[] };

/** The releases whose statements are kept, oldest first. */
export function listReleases(): Release[] {
  return readdirSync(import.meta.dirname, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({
      version: name,
      migrations: readLines(name, "migrations"),
      statements: readLines(name, "statements").map((line) => JSON.parse(line) as string),
    }))
    .sort((one, other) => compareReleases(one.version, other.version));
}

const readLines = (version: string, name: string): string[] =>
  readFileSync(join(import.meta.dirname, version, `${name}.jsonl`), "utf8")
    .split("\n")
    .filter((line) => line !== "");

/** What the database says against a statement; null where it would run it. */
export async function refusal(client: pg.Client, statement: string): Promise<string | null> {
  try {
    await client.query(`PREPARE asked AS ${statement}`);
    await client.query("DEALLOCATE asked");
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

async function record(queries: string[]): Promise<void> {
  const dataDir = makeDataDir();
  const server = await startEmbeddedPostgres({ dataDir, say: console.log, settings: { fsync: "off" } });
  const client = new pg.Client({ connectionString: server.url });
  try {
    await applyMigrations(server.url, { say: console.log });
    await client.connect();
    const statements: string[] = [];
    // What cannot be prepared by itself says nothing about the schema: settings, and what needs temporary tables.
    for (const query of queries) if ((await refusal(client, query)) === null) statements.push(query);
    write(statements);
    console.log(`${statements.length} of ${queries.length} statements kept for ${packageFile.version}.`);
  } finally {
    await client.end();
    await server.stop();
    removeDataDir(dataDir);
  }
}

function write(statements: string[]): void {
  const folder = join(import.meta.dirname, packageFile.version);
  const lines = (texts: string[]) => texts.map((text) => `${text}\n`).join("");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "statements.jsonl"), lines(statements.map((text) => JSON.stringify(text))));
  writeFileSync(
    join(folder, "migrations.jsonl"),
    lines(readdirSync(migrationsFolder).filter((name) => /^\d/.test(name))),
  );
}

function watchTests(): string[] {
  const folder = mkdtempSync(join(tmpdir(), "schultor-queries-"));
  try {
    execFileSync("npm", ["test"], {
      stdio: "inherit",
      env: {
        ...process.env,
        QUERIES_FOLDER: folder,
        NODE_OPTIONS: `--import ${join(import.meta.dirname, "watch-queries.ts")}`,
      },
    });
    return readQueries(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readQueries(folder: string): string[] {
  const texts = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"));
  return [...new Set(texts.filter((line) => line !== ""))].sort().map((line) => JSON.parse(line) as string);
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  await record(folder === undefined ? watchTests() : readQueries(folder));
}
