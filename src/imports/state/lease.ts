import type { Origin } from "../../events/index.ts";
import { makeUuid } from "../../platform/crypto/ids.ts";
import { withPrismaTransaction, withTransaction, type Db, type PrismaDb } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import {
  findRows,
  join,
  literal,
  lockName,
  makeRun,
  run,
  sql,
  statement,
  table,
  update,
} from "../../platform/database/sql.ts";
import type { Part, Queryable } from "../../platform/database/sql.ts";
import type { ImportId } from "./record.ts";
import { importTransitions, sendEvent } from "./states.ts";

export type Lease = { importId: ImportId; holder: string };

/** A row, not a session lock: works behind a connection pooler, and a transaction locks it while it applies. */
const until = sql`clock_timestamp() + interval '1 minute'`;

const i = table("import", "i");
const o = table("import", "o");
const theirs = table("importSchool", "theirs");
const ours = table("importSchool", "ours");
const isFree = (lease: typeof i) => sql`(${lease.leaseUntil} IS NULL OR ${lease.leaseUntil} < clock_timestamp())`;

type OfImport = { importId: string };

const lockImport = statement<OfImport>()`SELECT FROM ${i} WHERE ${i.id} = ${"importId"} FOR NO KEY UPDATE SKIP LOCKED`;
const setLease = statement<Lease>()`
  ${({ holder }) => update("import", "i", { leaseHolder: holder, leaseUntil: until })} WHERE ${i.id} = ${"importId"}`;

/**
 * Applies or undoes an import while no other import of its schools is applied, and then moves it by the event. Of two
 * applications of one import, the later takes over.
 *
 * Errors: conflict import_running.
 */
export async function withLease(
  db: PrismaDb,
  { id, event }: { id: ImportId; event: "apply" | "undo" },
  { at }: Pick<Origin, "at">,
  work: (lease: Lease) => Promise<void>,
): Promise<void> {
  const lease: Lease = { importId: id, holder: makeUuid(at) };
  await withTransaction(db, async (tx) => {
    await holdFreeImport(tx, id);
    await run(tx, setLease, lease);
  });
  try {
    await work(lease);
    await withPrismaTransaction(db, async (tx) => {
      await renewLease(tx, lease);
      await sendEvent(tx, id, event, event === "apply" ? { appliedAt: at } : { undoneAt: at });
    });
  } finally {
    // Ignored if the database is unavailable: the lease expires, and the original error is thrown.
    await endLease(db.pool, lease).catch(() => undefined);
  }
}

export async function checkLease(db: Pick<Db, "pool">, importId: ImportId): Promise<void> {
  await withTransaction(db, (tx) => holdFreeImport(tx, importId));
}

async function holdFreeImport(tx: Queryable, importId: ImportId): Promise<void> {
  await lockName(tx, { name: "import leases" });
  if ((await run(tx, lockImport, { importId })) === 0 || (await isAnotherRunning(tx, importId))) throw importRunning();
}

const leased = (importId: Part) => sql`
  SELECT ${o.id} FROM ${o} WHERE ${o.leaseHolder} IS NOT NULL AND ${o.id} <> ${importId} AND EXISTS (
    SELECT FROM ${theirs} JOIN ${ours} ON ${ours.schoolId} = ${theirs.schoolId} AND ${ours.importId} = ${importId}
    WHERE ${theirs.importId} = ${o.id})`;
const findLeased = statement<OfImport>(({ importId }) => leased(importId));
const endExpired = statement<OfImport>()`
  ${update("import", "i", { leaseHolder: sql`NULL`, leaseUntil: sql`NULL` })}
  WHERE ${i.id} IN (${({ importId }) => leased(importId)} AND ${isFree(o)} FOR NO KEY UPDATE OF o SKIP LOCKED)`;

/** A locked row belongs to an import within a school, even if its lease has expired. Ends expired leases. */
async function isAnotherRunning(tx: Queryable, importId: ImportId): Promise<boolean> {
  const all = await findRows(tx, findLeased, { importId });
  return (await run(tx, endExpired, { importId })) !== all.length;
}

const beingChanged = [...importTransitions.apply.from, ...importTransitions.undo.from];
const prolong = statement<Lease>()`
  ${update("import", "i", { leaseUntil: until })}
  WHERE ${i.id} = ${"importId"} AND ${i.leaseHolder} = ${"holder"}
    AND ${i.state} IN (${join(beingChanged.map(literal))})`;

/** Locks the import and extends its lease. Errors: conflict import_running if it is lost. */
export async function renewLease(tx: Queryable, lease: Lease): Promise<void> {
  if ((await run(tx, prolong, lease)) === 0) throw importRunning();
}

const endLease = makeRun<Lease>()`
  ${update("import", "i", { leaseHolder: sql`NULL`, leaseUntil: sql`NULL` })}
  WHERE ${i.id} = ${"importId"} AND ${i.leaseHolder} = ${"holder"}`;

const holdFree = statement<OfImport>()`
  SELECT FROM ${i} WHERE ${i.id} = ${"importId"} AND ${isFree(i)} FOR NO KEY UPDATE SKIP LOCKED`;

/** Prevents applying an import until the transaction ends; false if it is being applied. */
export async function tryHold(tx: Queryable, importId: string): Promise<boolean> {
  return (await run(tx, holdFree, { importId })) === 1;
}

/** Waits until the reading of an import has written what it is writing; does not wait for its application. */
export const waitForReading = makeRun<OfImport>()`
  SELECT FROM ${i} WHERE ${i.id} = ${"importId"} AND ${i.progressPhase} IS NOT NULL FOR NO KEY UPDATE`;

/** Errors: conflict import_running. */
export async function holdImport(tx: Queryable, importId: string): Promise<void> {
  if (!(await tryHold(tx, importId))) throw importRunning();
}

type ByIds = { ids: readonly string[] };

const findHeld = statement<ByIds>()`SELECT ${i.id}, ${i.leaseUntil} < clock_timestamp() AS "isOver" FROM ${i}
  WHERE ${i.id} = ANY (${"ids"}::uuid[]) AND ${i.leaseHolder} IS NOT NULL`;
const findAbandoned = statement<ByIds>()`
  SELECT ${i.id} FROM ${i} WHERE ${i.id} = ANY (${"ids"}::uuid[]) FOR SHARE SKIP LOCKED`;

/** The imports that are being applied: leased, or within a school (locked) with an expired lease. */
export async function findApplying(db: Queryable, ids: readonly ImportId[]): Promise<Set<ImportId>> {
  const held = await findRows<{ id: ImportId; isOver: boolean }, ByIds>(db, findHeld, { ids });
  const over = held.filter(({ isOver }) => isOver).map(({ id }) => id);
  const expired = over.length === 0 ? [] : await findRows<{ id: ImportId }, ByIds>(db, findAbandoned, { ids: over });
  const abandoned = new Set(expired.map(({ id }) => id));
  return new Set(held.map(({ id }) => id).filter((id) => !abandoned.has(id)));
}

export const importRunning = () =>
  new AppError(
    "conflict",
    "import_running",
    "Another import of one of these schools is running. Try again when it has ended; after a crash, wait a minute.",
  );
