import { withTransaction, type Db, type Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import type { ImportId } from "./record.ts";

export type Lease = { importId: ImportId; holder: string };

/*
 * A row, not a lock of a session: nothing is held while a connection is waited for, and a proxy may hand every transaction another
 * connection. While a school is being changed, its transaction keeps the row of its import locked, however long that takes; the
 * minute only covers the time between two schools.
 */
const until = "clock_timestamp() + interval '1 minute'";
const isFree = (i: string) => `(${i}.lease_until IS NULL OR ${i}.lease_until < clock_timestamp())`;

/**
 * Takes the schools of an import for whoever applies it. Who applies the same import later takes it over; the earlier one then ends
 * before its next school.
 *
 * Errors: conflict when another import of one of the schools is being applied, or this very one is in the middle of a school.
 */
export async function takeLease(db: Pick<Db, "pool">, { importId, holder }: Lease): Promise<void> {
  const taken = await withTransaction(db, async (tx) => {
    await tx.query("SELECT pg_advisory_xact_lock(hashtextextended('import leases', 0))");
    const { rowCount } = await tx.query("SELECT FROM import WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED", [importId]);
    if (rowCount === 0 || (await isAnotherRunning(tx, importId))) return false;
    await tx.query(`UPDATE import SET lease_holder = $2, lease_until = ${until} WHERE id = $1`, [importId, holder]);
    return true;
  });
  if (!taken) throw isRunning();
}

/** Shape: a row that is locked is one of a school that is being changed, also when its lease has run out meanwhile. What has run out is ended. */
async function isAnotherRunning(tx: Queryable, importId: ImportId): Promise<boolean> {
  const leased = `SELECT o.id FROM import o WHERE o.lease_holder IS NOT NULL AND o.id <> $1 AND EXISTS (
    SELECT FROM import_school theirs JOIN import_school ours ON ours.school_id = theirs.school_id AND ours.import_id = $1 WHERE theirs.import_id = o.id)`;
  const all = await tx.query(leased, [importId]);
  const ended = await tx.query(
    `UPDATE import SET lease_holder = NULL, lease_until = NULL WHERE id IN (${leased} AND ${isFree("o")} FOR NO KEY UPDATE OF o SKIP LOCKED)`,
    [importId],
  );
  return ended.rowCount !== all.rowCount;
}

/** Holds the import until the transaction ends, and its schools for a minute longer. Errors: conflict when somebody else has it now. */
export async function renewLease(tx: Queryable, { importId, holder }: Lease): Promise<void> {
  const { rowCount } = await tx.query(
    `UPDATE import SET lease_until = ${until} WHERE id = $1 AND lease_holder = $2 AND state = 'READY'`,
    [importId, holder],
  );
  if (rowCount === 0) throw isRunning();
}

/** Gives the schools back, unless somebody else has taken the import over. */
export async function endLease(db: Queryable, { importId, holder }: Lease): Promise<void> {
  await db.query("UPDATE import SET lease_holder = NULL, lease_until = NULL WHERE id = $1 AND lease_holder = $2", [
    importId,
    holder,
  ]);
}

/** Keeps an import from being applied until the transaction ends; false where it is being applied. */
export async function tryHoldForSweep(tx: Queryable, importId: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `SELECT FROM import i WHERE i.id = $1 AND ${isFree("i")} FOR NO KEY UPDATE SKIP LOCKED`,
    [importId],
  );
  return rowCount === 1;
}

const isRunning = () =>
  new AppError(
    "conflict",
    "import_running",
    "Another import of one of these schools is running. Try again when it has ended; one that was killed counts as running for a minute.",
  );
