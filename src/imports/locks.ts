import type { SchoolId } from "../directory/index.ts";
import type { Db, Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import type { ImportId } from "./record.ts";

// Of a school: two imports never work on it. Of an import: it is not thrown away while it is applied.
const lock = (id: string) => `hashtextextended('import ' || ${id}, 0)`;

type Held = { importId: ImportId; schools: readonly SchoolId[] };

/**
 * Works on schools that no other import works on meanwhile. The locks go with their connection.
 *
 * Errors: conflict when one of the schools is held, instead of waiting.
 */
export async function holdSchools(db: Pick<Db, "pool">, { importId, schools }: Held, work: () => Promise<void>): Promise<void> {
  const client = await db.pool.connect();
  try {
    const { rows } = await client.query<{ held: boolean }>(`SELECT bool_and(pg_try_advisory_lock(${lock("id")})) AS held FROM unnest($1::uuid[]) AS one (id)`, [
      [importId, ...schools],
    ]);
    if (rows[0]?.held === false) throw new AppError("conflict", "import_running", "Another import of one of these schools is running. Try again when it has ended.");
    await work();
  } finally {
    await client.query("SELECT pg_advisory_unlock_all()").then(() => client.release(), (error: unknown) => client.release(error as Error));
  }
}

/** Keeps an import from being applied until the transaction ends; false where it is being applied. */
export async function tryHoldForSweep(tx: Queryable, importId: string): Promise<boolean> {
  const { rows } = await tx.query<{ held: boolean }>(`SELECT pg_try_advisory_xact_lock(${lock("$1::uuid")}) AS held`, [importId]);
  return rows[0]!.held;
}
