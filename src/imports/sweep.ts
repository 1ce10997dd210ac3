import { Prisma } from "../../generated/prisma/client.ts";
import { workInBatches } from "../platform/jobs/batches.ts";
import { addDays, type Clock } from "../platform/clock.ts";
import { withPrismaTransaction, type PrismaDb } from "../platform/database/db.ts";
import { makeFind, run, table, type Queryable } from "../platform/database/sql.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import { deleteOldChanges } from "./apply/change-record.ts";
import { recordFailure } from "./state/end.ts";
import { tryHold } from "./state/lease.ts";
import { findTurns, removeLostTurns } from "./state/queue.ts";
import { removeStaged, stagedTables } from "./formats/staging.ts";
import type { ImportId } from "./state/record.ts";
import { importTransitions, tryEvent } from "./state/states.ts";

const waitingDays = 7;
const waiting = { state: { in: [...importTransitions.expire.from] } };
const withRows = { state: "BROKEN", rows: { not: Prisma.DbNull } };

/** Removes staged rows, fault lines and recorded changes of old imports, because they contain names; counts remain. */
export function makeImportSweep({ db, clock }: { db: PrismaDb; clock: Clock }): WorkerJob {
  return {
    name: "imports.sweep",
    everySeconds: 3600,
    async run(signal) {
      const before = addDays(clock(), -waitingDays);
      await endInterrupted(db, clock());
      const withText = { lineText: { not: null }, import: { createdAt: { lt: before } } };
      await inBatches(signal, (limit) =>
        db.prisma.importError.updateMany({ where: withText, data: { lineText: null }, limit }),
      );
      await workInBatches(signal, (batch) => run(db.pool, deleteOldChanges, { before: clock(), batch }));
      await expire(db, before);
      const forgotten = { import: { state: { notIn: ["READING", "UNMAPPED"] } } };
      await inBatches(signal, (limit) => db.prisma.importPiece.deleteMany({ where: forgotten, limit }));
      await removeFaultyRows(db, before, signal);
      const staged = await findStaged(db.pool);
      const retained = await db.prisma.import.findMany({
        where: { id: { in: staged }, OR: [waiting, withRows] },
        select: { id: true },
      });
      const keptIds = new Set(retained.map(({ id }) => id));
      const failed: unknown[] = [];
      for (const id of staged) {
        if (signal.aborted) return;
        if (!keptIds.has(id)) await removeStaged(db, id, signal).catch((error: unknown) => failed.push(error));
      }
      if (failed.length > 0)
        throw new AggregateError(failed, `the rows of ${failed.length} imports could not be removed`);
    },
  };
}

const inBatches = (signal: AbortSignal, remove: (limit: number) => Promise<{ count: number }>): Promise<unknown> =>
  workInBatches(signal, async (limit) => (await remove(limit)).count);

async function removeFaultyRows(db: PrismaDb, before: Date, signal: AbortSignal): Promise<void> {
  const id = { in: (await listWithFaultyRows(db.pool, {})).map((row) => row.id) };
  const where = { id, createdAt: { lt: before }, NOT: waiting };
  for (const { id: importId } of await db.prisma.import.findMany({ where, select: { id: true } })) {
    await db.prisma.import.updateMany({ where: { id: importId, state: "BROKEN" }, data: { rows: Prisma.DbNull } });
    await inBatches(signal, (limit) => db.prisma.importFaultyRow.deleteMany({ where: { importId }, limit }));
  }
}

const silentMinutes = 10;

async function endInterrupted(db: PrismaDb, now: Date): Promise<void> {
  await removeLostTurns(db.pool, {});
  const before = new Date(now.getTime() - silentMinutes * 60_000);
  const silent = await db.prisma.import.findMany({ where: { progressAt: { lt: before } }, select: { id: true } });
  const turns = await findTurns(
    db.pool,
    silent.map(({ id }) => id),
  );
  for (const { id } of silent) if (!turns.has(id)) await recordFailure(db, id as ImportId, null);
}

async function expire(db: PrismaDb, before: Date): Promise<void> {
  const old = await db.prisma.import.findMany({
    where: { createdAt: { lt: before }, ...waiting },
    select: { id: true },
  });
  for (const { id } of old)
    await withPrismaTransaction(db, async (tx) => {
      if (await tryHold(tx, id)) await tryEvent(tx, id as ImportId, "expire");
    });
}
const faultyRow = table("importFaultyRow");

const listImportsWith = (rows: (typeof stagedTables)[number] | typeof faultyRow) =>
  makeFind<{ id: string }>()`WITH RECURSIVE staged (id) AS (
      (SELECT ${rows.importId} FROM ${rows} ORDER BY ${rows.importId} LIMIT 1)
      UNION ALL SELECT (SELECT ${rows.importId} FROM ${rows} WHERE ${rows.importId} > staged.id
        ORDER BY ${rows.importId} LIMIT 1) FROM staged WHERE staged.id IS NOT NULL)
    SELECT id FROM staged WHERE id IS NOT NULL`;
const listStaged = stagedTables.map(listImportsWith);
const listWithFaultyRows = listImportsWith(faultyRow);

async function findStaged(db: Queryable): Promise<string[]> {
  const ids = new Set<string>();
  for (const list of listStaged) for (const { id } of await list(db, {})) ids.add(id);
  return [...ids];
}
