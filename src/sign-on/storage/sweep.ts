import type { Clock } from "../../platform/clock.ts";
import type { Db } from "../../platform/db.ts";
import type { WorkerJob } from "../../platform/worker.ts";

// Expired access tokens stay this long, so that they are still told from those that never were. All else goes at once.
const keptSeconds = 24 * 3600;

/** A client's own tokens that are kept, about 100 MB; of one that asks for more the oldest go. */
const tokensPerClient = 200_000;

const deleteFound = (select: string): string => `DELETE FROM oidc_artifact WHERE ctid = ANY (ARRAY(${select}))`;

const findExpired = (kinds: string): string =>
  `SELECT ctid FROM oidc_artifact WHERE ${kinds} AND expires_at < $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED`;

// The clients that have tokens, one step in the index each; of an app that is gone too.
const ofEachClient = (tokens: string): string => `
  WITH RECURSIVE client AS (
    (SELECT client_id FROM oidc_artifact WHERE kind = 'ClientCredentials' ORDER BY client_id LIMIT 1)
    UNION ALL
    SELECT (SELECT next.client_id FROM oidc_artifact next WHERE next.kind = 'ClientCredentials' AND next.client_id > client.client_id
            ORDER BY next.client_id LIMIT 1)
    FROM client WHERE client.client_id IS NOT NULL)
  SELECT token.ctid FROM client CROSS JOIN LATERAL (
    SELECT ctid FROM oidc_artifact WHERE kind = 'ClientCredentials' AND client_id = client.client_id ${tokens}) token
  LIMIT $2`;

const sweeps = [
  {
    name: "sign-on.sweep",
    text: deleteFound(findExpired("kind NOT IN ('AccessToken', 'ClientCredentials')")),
    kept: 0,
  },
  { name: "sign-on.sweepAccessTokens", text: deleteFound(findExpired("kind = 'AccessToken'")), kept: keptSeconds },
  {
    name: "sign-on.sweepClientTokens",
    text: deleteFound(ofEachClient("AND expires_at < $1 ORDER BY expires_at LIMIT $2")),
    kept: keptSeconds,
  },
];

type SweepOptions = { db: Db; clock: Clock; batchSize?: number };

/** Deletes what has expired, in small bites: no lock is held for long and several processes may sweep at once. */
export function makeSweepJob({ db, clock, batchSize = 1000 }: SweepOptions): WorkerJob {
  return {
    name: "sign-on.sweepExpired",
    everySeconds: 60,
    async run(signal) {
      for (const { name, text, kept } of sweeps) {
        const before = new Date(clock().getTime() - kept * 1000);
        await repeat(signal, batchSize, () => db.pool.query({ name, text, values: [before, batchSize] }));
      }
    },
  };
}

/** Deletes the oldest tokens of clients that have more than their share, so that none can fill the database. */
export function makeClientTokensJob({
  db,
  batchSize = 20_000,
  atMost = tokensPerClient,
}: Omit<SweepOptions, "clock"> & { atMost?: number }): WorkerJob {
  const text = deleteFound(ofEachClient("ORDER BY expires_at DESC OFFSET $1 LIMIT $2"));
  return {
    name: "sign-on.limitClientTokens",
    everySeconds: 15,
    run: (signal) =>
      repeat(signal, batchSize, () =>
        db.pool.query({ name: "sign-on.limitClientTokens", text, values: [atMost, batchSize] }),
      ),
  };
}

async function repeat(
  signal: AbortSignal,
  batchSize: number,
  deleteBatch: () => Promise<{ rowCount: number | null }>,
): Promise<void> {
  for (let deleted = batchSize; deleted >= batchSize && !signal.aborted;) deleted = (await deleteBatch()).rowCount ?? 0;
}
