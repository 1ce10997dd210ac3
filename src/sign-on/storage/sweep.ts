import type { Clock } from "../../platform/clock.ts";
import type { Db } from "../../platform/db.ts";
import type { WorkerJob } from "../../platform/worker.ts";

// Expired rows stay this long, so that a token that has expired is still told from one that never was.
const keptSeconds = 24 * 3600;

const deleteExpired = `
  DELETE FROM oidc_artifact WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM oidc_artifact WHERE expires_at < $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))`;

/** Deletes what has expired, in small bites: no lock is held for long and several processes may sweep at once. */
export function makeSweepJob({ db, clock, batchSize = 1000 }: { db: Db; clock: Clock; batchSize?: number }): WorkerJob {
  return {
    name: "sign-on.sweepExpired",
    everySeconds: 60,
    async run(signal) {
      const before = new Date(clock().getTime() - keptSeconds * 1000);
      for (let deleted = batchSize; deleted === batchSize && !signal.aborted; ) {
        deleted = (await db.pool.query({ name: "sign-on.sweep", text: deleteExpired, values: [before, batchSize] })).rowCount ?? 0;
      }
    },
  };
}
