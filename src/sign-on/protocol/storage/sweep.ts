import { workInBatches, sweepBatch } from "../../../platform/jobs/batches.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/db.ts";
import { fields, makeFind, makeRun, sql, table, type Parameter, type Sql } from "../../../platform/database/sql.ts";
import type { WorkerJob } from "../../../platform/jobs/worker.ts";

// Expired access tokens are kept this long to tell "expired" from "unknown"; all else is deleted at once.
const keptSeconds = 24 * 3600;

/** A client's own tokens that are kept (about 100 MB); beyond that the oldest are deleted. */
const tokensPerClient = 200_000;

const artifact = table("oidcArtifact");
const next = table("oidcArtifact", "next");

const deleteRows = (select: Sql): Sql => sql`DELETE FROM ${artifact} WHERE ctid = ANY (ARRAY(${select}))`;

const findExpired = (kinds: Sql, params: { before: Parameter; limit: Parameter }): Sql => sql`
  SELECT ctid FROM ${artifact} WHERE ${artifact.kind} ${kinds} AND ${artifact.expiresAt} < ${params.before}
  ORDER BY ${artifact.expiresAt} LIMIT ${params.limit} FOR UPDATE SKIP LOCKED`;

// The clients that have tokens, also deleted ones, one index step each.
const withClients = sql`
  WITH RECURSIVE client AS (
    (SELECT ${artifact.clientId} AS id FROM ${artifact} WHERE ${artifact.kind} = 'ClientCredentials'
      ORDER BY ${artifact.clientId} LIMIT 1)
    UNION ALL
    SELECT (SELECT ${next.clientId} FROM ${next}
      WHERE ${next.kind} = 'ClientCredentials' AND ${next.clientId} > client.id ORDER BY ${next.clientId} LIMIT 1)
    FROM client WHERE client.id IS NOT NULL)`;

type Expired = { before: Date; limit: number };

const sweeps = [
  {
    sweep: makeRun<Expired>(
      (params) => deleteRows(findExpired(sql`NOT IN ('AccessToken', 'ClientCredentials')`, params)),
      "sign-on.sweep",
    ),
    kept: 0,
  },
  {
    sweep: makeRun<Expired>(
      (params) => deleteRows(findExpired(sql`= 'AccessToken'`, params)),
      "sign-on.sweepAccessTokens",
    ),
    kept: keptSeconds,
  },
  {
    sweep: makeRun<Expired>(
      ({ before, limit }) =>
        deleteRows(sql`
        ${withClients}
        SELECT token.ctid FROM client CROSS JOIN LATERAL (
          SELECT ctid FROM ${artifact} WHERE ${artifact.kind} = 'ClientCredentials' AND ${artifact.clientId} = client.id
            AND ${artifact.expiresAt} < ${before} ORDER BY ${artifact.expiresAt} LIMIT ${limit}) token
        LIMIT ${limit}`),
      "sign-on.sweepClientTokens",
    ),
    kept: keptSeconds,
  },
];

type SweepOptions = { db: Db; clock: Clock; batchSize?: number };

export function makeSweepJob({ db, clock, batchSize = 1000 }: SweepOptions): WorkerJob {
  return {
    name: "sign-on.sweepExpired",
    everySeconds: 60,
    async run(signal) {
      for (const { sweep, kept } of sweeps) {
        const before = new Date(clock().getTime() - kept * 1000);
        await workInBatches(signal, (limit) => sweep(db.pool, { before, limit }), batchSize);
      }
    },
  };
}

type Counted = { client: string; added: number; newest: Date | null };
type Known = { clients: string[]; since: (Date | null)[]; atMost: number };

// Counts per client the tokens that expire after those already counted.
const countTokens = makeFind<Counted, Known>("sign-on.countClientTokens")`
  ${withClients}
  SELECT ${fields<Counted>({ client: sql`client.id`, added: sql`token.added`, newest: sql`token.newest` })}
  FROM client LEFT JOIN unnest(${"clients"}::text[], ${"since"}::timestamptz[]) AS known (id, since)
    ON known.id = client.id
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS added, max(expires_at) AS newest FROM (
      SELECT ${artifact.expiresAt} FROM ${artifact}
      WHERE ${artifact.kind} = 'ClientCredentials' AND ${artifact.clientId} = client.id
        AND ${artifact.expiresAt} > coalesce(known.since, '-infinity')
      ORDER BY ${artifact.expiresAt} DESC LIMIT ${"atMost"}::int + 1) counted) token
  WHERE client.id IS NOT NULL`;

const limitTokens = makeRun<{ client: string; atMost: number; limit: number }>(
  ({ client, atMost, limit }) =>
    deleteRows(sql`
    SELECT ctid FROM ${artifact} WHERE ${artifact.kind} = 'ClientCredentials' AND ${artifact.clientId} = ${client}
    ORDER BY ${artifact.expiresAt} DESC OFFSET ${atMost} LIMIT ${limit}`),
  "sign-on.limitClientTokens",
);

/** Tokens issued at the same time are written within this time. */
const togetherMs = 5000;

/** Deletes a client's oldest tokens beyond the limit; counts only if the last count and newer tokens exceed it. */
export function makeClientTokensJob({
  db,
  batchSize = sweepBatch,
  atMost = tokensPerClient,
}: Omit<SweepOptions, "clock"> & { atMost?: number }): WorkerJob {
  let known = new Map<string, { count: number; since: Date | null }>();
  return {
    name: "sign-on.limitClientTokens",
    everySeconds: 15,
    async run(signal) {
      const since = [...known.values()].map((one) => one.since);
      const counted = await countTokens(db.pool, { clients: [...known.keys()], since, atMost });
      const before = known;
      known = new Map();
      for (const { client, added, newest } of counted) {
        const last = before.get(client);
        const count = (last?.count ?? 0) + added;
        if (count > atMost)
          await workInBatches(signal, (limit) => limitTokens(db.pool, { client, atMost, limit }), batchSize);
        else
          known.set(client, { count, since: newest === null ? last!.since : new Date(newest.getTime() - togetherMs) });
      }
    },
  };
}
