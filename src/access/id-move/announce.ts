import { appendAppEvents } from "../../events/index.ts";
import { withPrismaTransaction, type PrismaDb } from "../../platform/database/db.ts";
import { findRows, sql, statement, table, update } from "../../platform/database/sql.ts";
import { schoolIsShown } from "../visibility.ts";
import { lockMove } from "./change.ts";
import { fromIdChanges } from "./id-changes.ts";
import type { Held } from "./job.ts";
import { personIsSeen } from "./known.ts";
import { waitForWriters } from "./writers.ts";

const p = table("person", "p");
const a = table("affiliation", "a");
const pair = table("pairwiseId", "pair");
const move = table("idMove", "moved");

type Batch = { clientId: string; now: Date; limit: number };

const schoolOf = (clientId: Parameters<typeof schoolIsShown>[0]) => sql`(
  SELECT ${a.schoolId} FROM ${a} JOIN ${p} ON ${p.id} = ${a.personId}
  WHERE ${a.personId} = looked.person_id AND ${schoolIsShown(clientId, a.schoolId)}
  ORDER BY ${a.schoolId} <> ${p.homeSchoolId}, ${a.schoolId} LIMIT 1)`;

// Who returns later is announced by that change (pairwise.ts).
const announceSome = statement<Batch>(({ clientId, now, limit }) => {
  const ctes = sql`
  looked AS MATERIALIZED (
    SELECT listed.*, ${personIsSeen(clientId, sql`listed.person_id`)} AS is_seen FROM (
      SELECT listed.* FROM ${fromIdChanges(clientId)}
      WHERE (listed.sector, listed.old_id) > (listed.sector, coalesce(
        (SELECT ${move.announcedUpTo} FROM ${move} WHERE ${move.clientId} = ${clientId}),
        '00000000-0000-0000-0000-000000000000'))
      ORDER BY listed.old_id LIMIT ${limit}) AS listed),
  skipped AS (
    ${update("pairwiseId", "pair", { isUnannounced: sql`true` })} FROM looked
    WHERE NOT looked.is_seen AND ${pair.personId} = looked.person_id AND ${pair.recordId} = looked.person_id
      AND ${pair.sector} = looked.sector),
  passed AS (
    ${update("idMove", "moved", {
      announcedUpTo: sql`coalesce((SELECT old_id FROM looked ORDER BY old_id DESC LIMIT 1), ${move.announcedUpTo})`,
      passed: sql`${move.passed} + (SELECT count(*) FROM looked)`,
      isAnnounced: sql`(SELECT count(*) FROM looked) < ${limit}`,
    })} WHERE ${move.clientId} = ${clientId})`;
  const events = sql`
  SELECT ${clientId}::text AS client_id, 'person' AS type, looked.person_id AS subject_id, ${schoolOf(clientId)} AS school_id,
    'update' AS action, '{}'::text[] AS updated_properties, NULL AS reason, NULL::timestamptz AS reason_until, 0 AS rank,
    looked.old_id AS app_subject_id, looked.new_id AS next_subject_id, looked.old_id AS old_subject_id
  FROM looked WHERE looked.is_seen`;
  return appendAppEvents({ ctes, events }, now, sql`NULL`);
}, "access.announceNewIds");

const atOnce = 1000;

/** Writes one event for each person whom the app sees, with the old and the new id. */
export async function announce(db: PrismaDb, held: Held): Promise<void> {
  await waitForWriters(db, held);
  const { clientId } = held.move;
  for (let isOver = false; !isOver;) {
    await held.renew();
    isOver = await withPrismaTransaction(db, async (tx) => {
      const found = await lockMove(tx, clientId);
      if (found?.state !== "RUNNING" || found.isAnnounced) return true;
      await findRows(tx, announceSome, { clientId, now: held.now, limit: atOnce });
      return false;
    });
  }
}
