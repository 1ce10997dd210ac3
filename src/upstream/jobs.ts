import { addDays, type Clock } from "../platform/clock.ts";
import type { Db } from "../platform/database/db.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import { makeFind, makeFindOne, makeRun, sql, table, update, type Sql, type Value } from "../platform/database/sql.ts";
import { workInBatches } from "../platform/jobs/batches.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import type { Contact } from "./contact.ts";
import { isConnectionFailure, UpstreamError } from "./failures.ts";
import { noteFailure } from "./note-outcome.ts";
import { connection, connectionFields, readyOf, type ConnectionRow } from "./ready-connection.ts";
import { refusalDays } from "./refusals.ts";

type JobDeps = { db: Db; clock: Clock; contact: Contact; encryptionKeys: EncryptionKeys };

const trip = table("upstreamRoundTrip", "trip");
const refusal = table("upstreamRefusal", "refusal");
const recent = table("upstreamRecentSignIn", "recent");
const link = table("upstreamSetUpLink", "link");
const session = table("upstreamSession", "session");
const artifact = table("oidcArtifact", "artifact");
const due = table("upstreamSession", "due");
const account = table("upstreamLink", "account");

const removal = (name: string, of: Sql, time: Sql) =>
  makeRun<{ before: Date; batch: number }>(`upstream.remove.${name}`)`
      DELETE FROM ${of} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${of} WHERE ${time} <= ${"before"} ORDER BY ${time} LIMIT ${"batch"} FOR UPDATE SKIP LOCKED))`;

/** What is removed when, counted from now. */
const removals = [
  { removeOld: removal("roundTrips", sql`${trip}`, trip.expiresAt), days: 0 },
  { removeOld: removal("setUpLinks", sql`${link}`, link.expiresAt), days: 0 },
  { removeOld: removal("refusals", sql`${refusal}`, refusal.lastAt), days: refusalDays },
  { removeOld: removal("recentSignIns", sql`${recent}`, recent.at), days: 30 },
];

// Scalar subqueries and arrays: a join would let the plan that is kept for any number of rows read the tables whole.

// Sessions here, and tokens that outlive them, depend on it: looked up by the person, who has few.
const isNeeded = sql`(SELECT 1 FROM ${artifact}
  WHERE ${artifact.personId} = ${due.personId} AND ${artifact.upstreamSessionId} = ${due.id} LIMIT 1) IS NOT NULL`;

/** How long what a sign-in opened is good if the account has not signed in since, in whichever browser. */
const provenDays = 30;

// A provider that sends no logout tokens says only at a sign-in that an account is still good.
const isUnproven = (since: Value): Sql => sql`greatest(${due.createdAt}, (SELECT ${account.lastSignInAt} FROM ${account}
  WHERE ${account.connectionId} = ${due.connectionId} AND ${account.personId} = ${due.personId})) <= ${since}`;

const checkSessions = makeFindOne<{ due: number }, { now: Date; next: Date; provenSince: Date; batch: number }>(
  ({ now, next, provenSince, batch }) => sql`
    WITH due AS MATERIALIZED (
      SELECT ${session.id}, ${session.personId}, ${session.connectionId}, ${session.createdAt} FROM ${session}
      WHERE ${session.checkAt} <= ${now} ORDER BY ${session.checkAt} LIMIT ${batch} FOR UPDATE SKIP LOCKED),
    needed AS MATERIALIZED (SELECT id, ${isUnproven(provenSince)} AS is_unproven FROM due WHERE ${isNeeded}),
    kept AS (${update("upstreamSession", "session", {
      checkAt: next,
      endedAt: sql`CASE WHEN ${session.id} = ANY (ARRAY(SELECT id FROM needed WHERE is_unproven))
        THEN coalesce(${session.endedAt}, ${now}) ELSE ${session.endedAt} END`,
    })} WHERE ${session.id} = ANY (ARRAY(SELECT id FROM needed))),
    gone AS (DELETE FROM ${session}
      WHERE ${session.id} = ANY (ARRAY(SELECT id FROM due EXCEPT SELECT id FROM needed)))
    SELECT count(*)::int AS due FROM due`,
  "upstream.checkSessions",
);

const refreshedAtOnce = 20;
const retryMs = 3_600_000;

// Put off first, so that two processes do not read the same, and one that fails waits its turn.
const takeDue = makeFind<ConnectionRow, { now: Date; next: Date }>("upstream.takeDueConnections")`
    ${({ next }) => update("upstreamConnection", "connection", { refreshAt: next })}
    WHERE ${connection.id} = ANY (ARRAY(SELECT id FROM upstream_connection WHERE refresh_at <= ${"now"}
      ORDER BY refresh_at LIMIT ${refreshedAtOnce} FOR UPDATE SKIP LOCKED))
    RETURNING ${connectionFields}`;

export function makeUpstreamJobs({ db, clock, contact, encryptionKeys }: JobDeps): WorkerJob[] {
  const refreshOne = async (row: ConnectionRow): Promise<void> => {
    try {
      await contact.refresh(readyOf(row, encryptionKeys));
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      const { code } = error;
      if (row.state === "ON" && isConnectionFailure(code))
        await noteFailure(db.pool, { id: row.id, code, isProven: true, now: clock() });
    }
  };
  return [
    {
      name: "upstream.refresh",
      everySeconds: 60,
      async run(signal) {
        const refreshSome = async () => {
          const now = clock();
          const rows = await takeDue(db.pool, { now, next: new Date(now.getTime() + retryMs) });
          await Promise.all(rows.map(refreshOne));
          return rows.length;
        };
        await workInBatches(signal, refreshSome, refreshedAtOnce);
      },
    },
    {
      name: "upstream.sweep",
      everySeconds: 60,
      async run(signal) {
        for (const { removeOld, days } of removals) {
          const before = addDays(clock(), -days);
          await workInBatches(signal, (batch) => removeOld(db.pool, { before, batch }), 1000);
        }
        const now = clock();
        const params = { now, next: addDays(now, 1), provenSince: addDays(now, -provenDays) };
        const check = async (batch: number) => (await checkSessions(db.pool, { ...params, batch })).due;
        await workInBatches(signal, check, 1000);
      },
    },
  ];
}
