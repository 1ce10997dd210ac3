import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { DatabaseStartError } from "./start-error.ts";

// A database that was loaded but not finished looks normal, and its codes could be used a second time. It is marked by
// this table or, before copied files are started, by a file.
export const unfinishedTable = "_unfinished_restore";
const file = "unfinished_restore";

type Asks = Pick<pg.Client | pg.Pool, "query">;

export const markUnfinished = (url: string) => runStatement(url, `CREATE TABLE IF NOT EXISTS "${unfinishedTable}" ()`);

export const markUnfinishedFiles = (folder: string): Promise<void> =>
  writeFile(join(folder, file), "", { flush: true });

export async function handMarkOn(folder: string, url: string): Promise<void> {
  if (!existsSync(join(folder, file))) return;
  await markUnfinished(url);
  await rm(join(folder, file));
}

const removal = `DROP TABLE IF EXISTS "${unfinishedTable}"`;

export const removeMark = async (tx: Asks): Promise<void> => void (await tx.query(removal));

export const removeMarkOf = (url: string) => runStatement(url, removal);

export async function checkRestored(db: Asks): Promise<void> {
  const { rows } = await db.query<{ mark: string | null }>(`SELECT to_regclass('"${unfinishedTable}"')::text AS mark`);
  if (rows[0]!.mark !== null)
    throw new DatabaseStartError(
      "The database was restored, but the restore did not finish: codes and tokens of before would count again. Run `schultor finish-restore --yes`; if that finds no tables, run `schultor restore` again.",
    );
}

export async function runStatement<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, application_name: "schultor" });
  await client.connect();
  return client
    .query<Row>(text)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}
