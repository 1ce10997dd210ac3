import { withTransaction, type Db, type Queryable } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { findRows, run, sql, statement, table, update, type Part } from "../platform/database/sql.ts";
import type { ImportId } from "./record.ts";

export type Lease = { importId: ImportId; holder: string };

/*
 * A row, not a lock of a session: nothing is held while a connection is waited for, and a proxy may give every
 * transaction another connection. While a school is being changed, its transaction keeps the row of its import locked,
 * however long that takes; the minute only covers the time between two schools.
 */
const until = sql`clock_timestamp() + interval '1 minute'`;

const i = table("import", "i");
const o = table("import", "o");
const theirs = table("importSchool", "theirs");
const ours = table("importSchool", "ours");
const isFree = (lease: typeof i) => sql`(${lease.leaseUntil} IS NULL OR ${lease.leaseUntil} < clock_timestamp())`;

type OfImport = { importId: string };

const lockLeases = statement(() => sql`SELECT pg_advisory_xact_lock(hashtextextended('import leases', 0))`);
const lockImport = statement<OfImport>(
  ({ importId }) => sql`SELECT FROM ${i} WHERE ${i.id} = ${importId} FOR NO KEY UPDATE SKIP LOCKED`,
);
const setLease = statement<Lease>(
  ({ importId, holder }) =>
    sql`${update("import", "i", { leaseHolder: holder, leaseUntil: until })} WHERE ${i.id} = ${importId}`,
);

/**
 * Takes the schools of an import for this application. A later application of the same import takes them over; the
 * earlier one then ends before its next school.
 *
 * Errors: conflict when another import of one of the schools is being applied, or this very one is in the middle of a
 *         school.
 */
export async function takeLease(db: Pick<Db, "pool">, lease: Lease): Promise<void> {
  await withTransaction(db, async (tx) => {
    await holdFreeImport(tx, lease.importId);
    await run(tx, setLease, lease);
  });
}

/** Errors: as takeLease. */
export async function checkLease(db: Pick<Db, "pool">, importId: ImportId): Promise<void> {
  await withTransaction(db, (tx) => holdFreeImport(tx, importId));
}

async function holdFreeImport(tx: Queryable, importId: ImportId): Promise<void> {
  await run(tx, lockLeases, {});
  if ((await run(tx, lockImport, { importId })) === 0 || (await isAnotherRunning(tx, importId))) throw importRunning();
}

const leased = (
  importId: Part,
) => sql`SELECT ${o.id} FROM ${o} WHERE ${o.leaseHolder} IS NOT NULL AND ${o.id} <> ${importId}
  AND EXISTS (
    SELECT FROM ${theirs} JOIN ${ours} ON ${ours.schoolId} = ${theirs.schoolId} AND ${ours.importId} = ${importId}
    WHERE ${theirs.importId} = ${o.id})`;
const findLeased = statement<OfImport>(({ importId }) => leased(importId));
const endExpired = statement<OfImport>(
  ({ importId }) => sql`
  ${update("import", "i", { leaseHolder: sql`NULL`, leaseUntil: sql`NULL` })}
  WHERE ${i.id} IN (${leased(importId)} AND ${isFree(o)} FOR NO KEY UPDATE OF o SKIP LOCKED)`,
);

/**
 * A locked row is that of an import in the middle of a school, also when its lease is over. Ends leases that are over.
 */
async function isAnotherRunning(tx: Queryable, importId: ImportId): Promise<boolean> {
  const all = await findRows(tx, findLeased, { importId });
  return (await run(tx, endExpired, { importId })) !== all.length;
}

const prolong = statement<Lease>(
  ({ importId, holder }) => sql`
  ${update("import", "i", { leaseUntil: until })}
  WHERE ${i.id} = ${importId} AND ${i.leaseHolder} = ${holder} AND ${i.state} = 'READY'`,
);

/**
 * Holds the import until the transaction ends, and its schools for a minute longer.
 *
 * Errors: conflict when the lease is lost.
 */
export async function renewLease(tx: Queryable, lease: Lease): Promise<void> {
  if ((await run(tx, prolong, lease)) === 0) throw importRunning();
}

const giveBack = statement<Lease>(
  ({ importId, holder }) => sql`
  ${update("import", "i", { leaseHolder: sql`NULL`, leaseUntil: sql`NULL` })}
  WHERE ${i.id} = ${importId} AND ${i.leaseHolder} = ${holder}`,
);

/** Gives the schools back, unless another application has taken the import over. */
export async function endLease(db: Queryable, lease: Lease): Promise<void> {
  await run(db, giveBack, lease);
}

const holdFree = statement<OfImport>(
  ({ importId }) => sql`SELECT FROM ${i} WHERE ${i.id} = ${importId} AND ${isFree(i)} FOR NO KEY UPDATE SKIP LOCKED`,
);

/** Keeps an import from being applied until the transaction ends; false where it is being applied. */
export async function tryHoldForSweep(tx: Queryable, importId: string): Promise<boolean> {
  return (await run(tx, holdFree, { importId })) === 1;
}

const findHeld = statement<{ ids: readonly string[] }>(
  ({ ids }) => sql`SELECT ${i.id}, ${i.leaseUntil} < clock_timestamp() AS "isOver" FROM ${i}
  WHERE ${i.id} = ANY (${ids}::uuid[]) AND ${i.leaseHolder} IS NOT NULL`,
);
const findAbandoned = statement<{ ids: readonly string[] }>(
  ({ ids }) => sql`SELECT ${i.id} FROM ${i} WHERE ${i.id} = ANY (${ids}::uuid[]) FOR SHARE SKIP LOCKED`,
);

/** Which of these imports are being applied: in the middle of a school the lease may be over, but the row is locked. */
export async function findApplying(db: Queryable, ids: readonly ImportId[]): Promise<Set<ImportId>> {
  const held = await findRows<{ id: ImportId; isOver: boolean }, { ids: readonly string[] }>(db, findHeld, { ids });
  const over = held.filter(({ isOver }) => isOver).map(({ id }) => id);
  const found =
    over.length === 0
      ? []
      : await findRows<{ id: ImportId }, { ids: readonly string[] }>(db, findAbandoned, { ids: over });
  const abandoned = new Set(found.map(({ id }) => id));
  return new Set(held.map(({ id }) => id).filter((id) => !abandoned.has(id)));
}

export const importRunning = () =>
  new AppError(
    "conflict",
    "import_running",
    "Another import of one of these schools is running. Try again when it has ended; after a crash, wait a minute.",
  );
