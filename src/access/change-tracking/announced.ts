import { workInBatches } from "../../platform/jobs/batches.ts";
import type { Clock } from "../../platform/clock.ts";
import type { RecordStore } from "../../platform/database/db.ts";
import { columnNames, insert, sql, table, type Sql, type Value } from "../../platform/database/sql.ts";
import type { WorkerJob } from "../../platform/jobs/worker.ts";
import { snapshotRecord } from "./snapshot.ts";

// A first sign-in does not wait for a running change. It announces what the app then saw, and the change reads here
// which sign-ins were committed after its snapshot.

const announced = table("announcedSignIn", "a");
const excluded = table("announcedSignIn", "excluded");

export const announceFrom = (snapshot: Sql, at: Value): Sql => {
  const row = { personId: sql`subject_id`, clientId: sql`client_id`, at, snapshot: sql`to_jsonb(seen)` };
  return sql`${insert("announcedSignIn", row, sql`FROM (${snapshot}) AS seen`)}
  ON CONFLICT (${columnNames("announcedSignIn", "personId", "clientId")})
  DO UPDATE SET ${columnNames("announcedSignIn", "at")} = ${excluded.at},
    ${columnNames("announcedSignIn", "snapshot")} = ${excluded.snapshot}`;
};

export const takeAnnounced = (subject: Sql): Sql => sql`
  WITH taken AS (
    DELETE FROM ${announced} USING ${subject} AS t (type, id, client_id)
    WHERE t.type = 'person' AND ${announced.personId} = t.id AND t.client_id IN ('', ${announced.clientId})
    RETURNING ${announced.snapshot} AS snapshot)
  SELECT seen.* FROM taken CROSS JOIN LATERAL jsonb_to_record(taken.snapshot) AS seen (${snapshotRecord})`;

const keptSeconds = 86_400;

export function sweepAnnounced({ prisma }: RecordStore, now: Date, signal: AbortSignal): Promise<number> {
  const where = { at: { lt: new Date(now.getTime() - keptSeconds * 1000) } };
  return workInBatches(signal, async (limit) => (await prisma.announcedSignIn.deleteMany({ where, limit })).count);
}

export const makeAnnouncedSweep = ({ db, clock }: { db: RecordStore; clock: Clock }): WorkerJob => ({
  name: "access.sweepAnnounced",
  everySeconds: 3600,
  run: async (signal) => void (await sweepAnnounced(db, clock(), signal)),
});
