import type { SchoolId } from "../directory/index.ts";
import { recordAudit } from "../events/index.ts";
import type { Origin } from "../events/index.ts";
import { withTransaction, type Db } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/ids.ts";
import { applyPart, countRows, type ApplyRules } from "./apply-part.ts";
import { endLease, renewLease, takeLease, type Lease } from "./lease.ts";
import { foreseeImport, makePart } from "./preview.ts";
import type { OnProgress } from "./progress.ts";
import { deleteStaged, getImport, type ImportId, type ImportRecord } from "./record.ts";

/**
 * Brings every school of an import that waits to what it says, each in one transaction.
 *
 * Shape:  what ends in the middle, by whatever, leaves each school as it was or as it should be; applying again goes on.
 * Errors: conflict when the import is broken, done, held, or another import of one of its schools is running.
 */
export async function applyImport(
  db: Pick<Db, "pool">,
  id: ImportId,
  rules: Rules,
  origin: Origin,
): Promise<ImportRecord> {
  const lease: Lease = { importId: id, holder: makeUuid(origin.at) };
  checkState((await getImport(db.pool, id)).state);
  await takeLease(db, lease);
  try {
    const { state, schools } = await getImport(db.pool, id);
    checkState(state);
    const waiting = schools.filter((school) => school.state !== "APPLIED").map((school) => school.id);
    const unsettled = await applyEach(db, lease, waiting, rules, origin);
    // Everybody's home is there by now.
    await applyEach(
      db,
      lease,
      [...unsettled.keys()].filter((school) => waiting.includes(school)),
      rules,
      origin,
    );
    await withTransaction(db, async (tx) => {
      await tx.query("SET LOCAL statement_timeout = '60min'");
      await renewLease(tx, lease);
      await tx.query("UPDATE import SET state = 'APPLIED', applied_at = $2 WHERE id = $1", [id, origin.at]);
      await deleteStaged(tx, id);
    });
  } finally {
    // Where the database is away it runs out by itself, and what ended the import is what is told.
    await endLease(db.pool, lease).catch(() => undefined);
  }
  return getImport(db.pool, id);
}

/** Agrees to what the preview of a held import says it removes; what it removes beyond that holds it again. */
export async function confirmImport(db: Pick<Db, "pool">, id: ImportId, origin: Origin): Promise<void> {
  const { state } = await getImport(db.pool, id);
  if (state !== "HELD")
    throw new AppError("conflict", "import_not_held", "The import is not held, so there is nothing to confirm.");
  await withTransaction(db, async (tx) => {
    const { rows } = await tx.query<{ schoolId: SchoolId; people: number; groups: number }>(
      `UPDATE import_school SET state = 'READY', confirmed_people = (counts #>> '{people,removed}')::int + coalesce((counts #>> '{people,leftHome}')::int, 0),
         confirmed_groups = (counts #>> '{groups,removed}')::int
       WHERE import_id = $1 AND state = 'HELD'
       RETURNING school_id AS "schoolId", confirmed_people AS people, confirmed_groups AS groups`,
      [id],
    );
    await tx.query("UPDATE import SET state = 'READY' WHERE id = $1 AND state = 'HELD'", [id]);
    for (const { schoolId, ...removed } of rows)
      await recordAudit(tx, { ...origin, action: "import_confirmed", schoolId, detail: { importId: id, removed } });
  });
}

type Rules = ApplyRules & { onProgress?: OnProgress | undefined };

async function applyEach(
  db: Pick<Db, "pool">,
  lease: Lease,
  schools: readonly SchoolId[],
  rules: Rules,
  origin: Origin,
): Promise<Map<SchoolId, number>> {
  const { importId: id } = lease;
  const unsettled = new Map<SchoolId, number>();
  for (const [index, schoolId] of schools.entries()) {
    rules.onProgress?.({ phase: "applying", done: index, total: schools.length });
    const part = {
      ...(await makePart(db.pool, id, schoolId, origin.at)),
      movedAway: unsettled.get(schoolId) ?? 0,
      lease,
    };
    const result = await applyPart(db, part, rules, origin).catch(async (error: unknown) => {
      // The school has changed since the preview; what is to be confirmed now is what would be removed now.
      if (error instanceof AppError && error.code === "import_held")
        await foreseeImport(db, id, [schoolId], rules.holdShare, origin.at);
      throw error;
    });
    for (const { id: school, movedAway } of result.unsettled)
      unsettled.set(school, (unsettled.get(school) ?? 0) + movedAway);
    if (isPowerOfTwo(index + 1)) await db.pool.query(countRows);
  }
  return unsettled;
}

// By itself PostgreSQL notices only every minute how tables grow, and until then reads them whole for every school.
const isPowerOfTwo = (number: number): boolean => (number & (number - 1)) === 0;

function checkState(state: string): void {
  const refusals: Record<string, string> = {
    READING: "The file is still being read.",
    BROKEN: "The file has faults. Repair it and preview it again.",
    HELD: "The import would remove too many people or groups of a school. Look at its preview and confirm it.",
    APPLIED: "The import has been applied already.",
    EXPIRED: "The import waited too long. Preview the file again.",
  };
  const refusal = refusals[state];
  if (refusal !== undefined) throw new AppError("conflict", `import_${state.toLowerCase()}`, refusal);
}
