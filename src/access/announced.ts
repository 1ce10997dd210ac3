import type { Clock } from "../platform/clock.ts";
import type { Db, Queryable } from "../platform/db.ts";
import type { WorkerJob } from "../platform/worker.ts";
import { sightColumns } from "./view.ts";
import type { Sql } from "./visibility.ts";

/*
 * What apps saw of people after their first sign-ins. A sign-in does not wait for a change that is at work; that change reads here,
 * at its end, what apps saw since it noted it.
 */

/** SQL that writes down what an app sees now of the subjects of `sights`. Shape: `at` is a parameter. */
export const announceFrom = (sights: Sql, at: Sql): Sql => `
  INSERT INTO announced_sign_in (person_id, client_id, at, sight)
  SELECT subject_id, client_id, ${at}, to_jsonb(seen) FROM (${sights}) AS seen
  ON CONFLICT (person_id, client_id) DO UPDATE SET at = excluded.at, sight = excluded.sight`;

/**
 * SQL that takes what was announced of a change's subjects, so that it is read once.
 *
 * Shape: `subject` stands in a FROM, with columns as for `selectSights`. Of what was announced before the change noted it too, the
 *        change knows already.
 */
export const takeAnnounced = (subject: Sql): Sql => `
  WITH taken AS (
    DELETE FROM announced_sign_in a USING ${subject} AS t (type, id, client_id)
    WHERE t.type = 'person' AND a.person_id = t.id AND t.client_id IN ('', a.client_id)
    RETURNING a.sight)
  SELECT seen.* FROM taken CROSS JOIN LATERAL jsonb_to_record(taken.sight) AS seen (${sightColumns})`;

const keptSeconds = 86_400;
const sweepBatch = 10_000;
const sweep =
  "DELETE FROM announced_sign_in WHERE ctid = ANY (ARRAY(SELECT ctid FROM announced_sign_in WHERE at < $1 ORDER BY at LIMIT $2))";

/** Removes what every change that was under way has ended without reading; none lasts for a day. Answers how many there were. */
export async function sweepAnnounced(db: Queryable, now: Date): Promise<number> {
  const before = new Date(now.getTime() - keptSeconds * 1000);
  for (let gone = 0; ;) {
    const { rowCount } = await db.query({ name: "access.sweepAnnounced", text: sweep, values: [before, sweepBatch] });
    gone += rowCount ?? 0;
    if ((rowCount ?? 0) < sweepBatch) return gone;
  }
}

export const makeAnnouncedSweep = ({ db, clock }: { db: Pick<Db, "pool">; clock: Clock }): WorkerJob => ({
  name: "access.sweepAnnounced",
  everySeconds: 3600,
  run: async () => void (await sweepAnnounced(db.pool, clock())),
});
