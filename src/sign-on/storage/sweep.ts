import { removeInBatches, sweepBatch } from "../../platform/batches.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Db } from "../../platform/db.ts";
import { type Parameter, run, sql, type Sql, statement, table } from "../../platform/sql.ts";
import type { WorkerJob } from "../../platform/worker.ts";

// Expired access tokens are kept this long, so that "expired" can still be told from "unknown". All else goes at once.
const keptSeconds = 24 * 3600;

/** A client's own tokens that are kept, about 100 MB; of a client that asks for more, the oldest are deleted. */
const tokensPerClient = 200_000;

const artifact = table("oidcArtifact");
const next = table("oidcArtifact", "next");

const deleteRows = (select: Sql): Sql => sql`DELETE FROM ${artifact} WHERE ctid = ANY (ARRAY(${select}))`;

const findExpired = (kinds: Sql, given: { before: Parameter; limit: Parameter }): Sql => sql`
  SELECT ctid FROM ${artifact} WHERE ${artifact.kind} ${kinds} AND ${artifact.expiresAt} < ${given.before}
  ORDER BY ${artifact.expiresAt} LIMIT ${given.limit} FOR UPDATE SKIP LOCKED`;

// The clients that have tokens, one step in the index for each; of an app that was deleted too.
const ofEachClient = (tokens: Sql, limit: Parameter): Sql => sql`
  WITH RECURSIVE client AS (
    (SELECT ${artifact.clientId} AS id FROM ${artifact} WHERE ${artifact.kind} = 'ClientCredentials'
      ORDER BY ${artifact.clientId} LIMIT 1)
    UNION ALL
    SELECT (SELECT ${next.clientId} FROM ${next}
      WHERE ${next.kind} = 'ClientCredentials' AND ${next.clientId} > client.id ORDER BY ${next.clientId} LIMIT 1)
    FROM client WHERE client.id IS NOT NULL)
  SELECT token.ctid FROM client CROSS JOIN LATERAL (
    SELECT ctid FROM ${artifact} WHERE ${artifact.kind} = 'ClientCredentials' AND ${artifact.clientId} = client.id
    ${tokens}) token
  LIMIT ${limit}`;

type Expired = { before: Date; limit: number };

const sweeps = [
  {
    sweep: statement<Expired>(
      (given) => deleteRows(findExpired(sql`NOT IN ('AccessToken', 'ClientCredentials')`, given)),
      "sign-on.sweep",
    ),
    kept: 0,
  },
  {
    sweep: statement<Expired>(
      (given) => deleteRows(findExpired(sql`= 'AccessToken'`, given)),
      "sign-on.sweepAccessTokens",
    ),
    kept: keptSeconds,
  },
  {
    sweep: statement<Expired>(({ before, limit }) => {
      const expired = sql`AND ${artifact.expiresAt} < ${before} ORDER BY ${artifact.expiresAt} LIMIT ${limit}`;
      return deleteRows(ofEachClient(expired, limit));
    }, "sign-on.sweepClientTokens"),
    kept: keptSeconds,
  },
];

type SweepOptions = { db: Db; clock: Clock; batchSize?: number };

/** Deletes what has expired in small batches: no lock is held for long, and several processes may sweep at once. */
export function makeSweepJob({ db, clock, batchSize = 1000 }: SweepOptions): WorkerJob {
  return {
    name: "sign-on.sweepExpired",
    everySeconds: 60,
    async run(signal) {
      for (const { sweep, kept } of sweeps) {
        const before = new Date(clock().getTime() - kept * 1000);
        await removeInBatches(signal, (limit) => run(db.pool, sweep, { before, limit }), batchSize);
      }
    },
  };
}

const limitTokens = statement<{ atMost: number; limit: number }>(({ atMost, limit }) => {
  const surplus = sql`ORDER BY ${artifact.expiresAt} DESC OFFSET ${atMost} LIMIT ${limit}`;
  return deleteRows(ofEachClient(surplus, limit));
}, "sign-on.limitClientTokens");

/** Deletes the oldest tokens of clients that have too many, so that none can fill the database. */
export function makeClientTokensJob({
  db,
  batchSize = sweepBatch,
  atMost = tokensPerClient,
}: Omit<SweepOptions, "clock"> & { atMost?: number }): WorkerJob {
  return {
    name: "sign-on.limitClientTokens",
    everySeconds: 15,
    run: async (signal) =>
      void (await removeInBatches(signal, (limit) => run(db.pool, limitTokens, { atMost, limit }), batchSize)),
  };
}
