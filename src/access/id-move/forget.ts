import { forgetEvents } from "../../events/index.ts";
import type { PrismaDb } from "../../platform/database/db.ts";
import { findRows, run, sql, statement, table } from "../../platform/database/sql.ts";
import { isSectorUsed } from "../pairwise.ts";
import type { Held } from "./job.ts";
import { waitForWriters } from "./writers.ts";

const pair = table("pairwiseId", "pair");
const next = table("pairwiseId", "next");
const app = table("app", "reading");

type Batch = { sector: string; after: string; limit: number };

// `after` skips dead rows that vacuum has not removed yet.
const deleteSome = statement<Batch>(
  ({ sector, after, limit }) => sql`
  WITH batch AS MATERIALIZED (
    SELECT ${next.personId}, ${next.recordId}, ${next.sector}, ${next.id} FROM ${next}
    WHERE ${next.sector} = ${sector} AND ${next.id} > ${after}::uuid ORDER BY ${next.id} LIMIT ${limit}),
  gone AS (
    DELETE FROM ${pair} USING batch
    WHERE ${pair.personId} = batch.person_id AND ${pair.recordId} = batch.record_id AND ${pair.sector} = batch.sector)
  SELECT count(*)::int AS gone, (SELECT id FROM batch ORDER BY id DESC LIMIT 1) AS last FROM batch`,
  "access.forgetIdsOfSector",
);

const atOnce = 5000;

async function forgetSector({ pool }: PrismaDb, held: Held, sector: string): Promise<void> {
  let after = "00000000-0000-0000-0000-000000000000";
  for (let count = atOnce; count === atOnce;) {
    await held.renew();
    type Done = { gone: number; last: string | null };
    const [done]: Done[] = await findRows<Done, Batch>(pool, deleteSome, { sector, after, limit: atOnce });
    count = done!.gone;
    after = done!.last ?? after;
  }
}

/** Deletes the ids from before the cut-over, when they have been kept long enough. */
export async function forgetOldIds(db: PrismaDb, held: Held): Promise<void> {
  const { clientId, oldSector } = held.move;
  await forgetSector(db, held, oldSector);
  await db.prisma.idMove.update({ where: { clientId }, data: { forgottenAt: held.now } });
}

const clearFlags = statement<{ sector: string }>(
  ({ sector }) =>
    sql`UPDATE ${pair} SET is_unannounced = NULL WHERE ${pair.sector} = ${sector} AND ${pair.isUnannounced}`,
);

// Where nobody was given an id of the app's own, all its ids are the shared ones.
const leaveSector = statement<{ clientId: string; sector: string; now: Date }>(
  ({ clientId, sector, now }) => sql`
  UPDATE ${app} SET sector = NULL, updated_at = ${now}
  WHERE ${app.clientId} = ${clientId} AND ${app.subjectType} = 'SHARED' AND ${app.sector} = ${sector}
    AND NOT EXISTS (SELECT FROM ${pair} WHERE ${pair.sector} = ${sector} AND ${pair.id} <> ${pair.recordId})`,
);

/**
 * Deletes the new ids of a move that was called off with what announced them in the feed, and the old ids if they are
 * the shared ones.
 */
export async function undoMove(db: PrismaDb, held: Held): Promise<void> {
  const { clientId, oldSector, newSector } = held.move;
  await waitForWriters(db, held);
  await run(db.pool, leaveSector, { clientId, sector: oldSector, now: held.now });
  await run(db.pool, clearFlags, { sector: oldSector });
  await waitForWriters(db, held);
  await forgetEvents(db, { clientId, onlyNewIds: true });
  for (const sector of [oldSector, newSector])
    if (!(await isSectorUsed(db, sector))) await forgetSector(db, held, sector);
  await db.prisma.idMove.deleteMany({ where: { clientId, state: "CALLED_OFF" } });
}
