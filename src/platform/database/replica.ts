import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { isDatabaseUnavailable, type Queryable } from "./db.ts";

/** A connection to read with, and the pool that reaches the same server to cancel a statement there. */
export type Reader = { client: pg.PoolClient; canceller: pg.Pool };

export type ReadServer = { pool: pg.Pool; canceller: pg.Pool };

/** A replica that is read while it is not too far behind; otherwise the primary is read. */
export type ReplicaReads = {
  take(): Promise<Reader>;
  /** How old what the replica answers was at most when it was asked last, and since then. Units: seconds. */
  ageSeconds(): number;
  /** How often a connection was given out, by server. */
  readonly taken: Readonly<{ replica: number; primary: number }>;
  close(): Promise<void>;
};

type Options = {
  replica: ReadServer;
  primary: ReadServer;
  maxAgeSeconds: number;
};

/** How often the servers are asked, and how long the replica may take to answer before the primary is read. */
const lookMs = 1000;
const answerMs = 2000;

const primaryPosition = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text AS position";
// One that was promoted while the connection was open is a primary.
const replicaPosition = `SELECT pg_wal_lsn_diff(
  CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, '0/0')::text AS position`;

/**
 * Measures how far a replica is behind in time. The primary's position in its log is noted each second; a replica that
 * has replayed a position is at most as old as the note of it, whatever the clocks of the servers say.
 *
 * Shape: one look at a time decides whether the replica is read, so that a replica that is silent holds up no more
 *        than the reads that were under way.
 */
export function makeReplicaReads({ replica, primary, maxAgeSeconds }: Options): ReplicaReads {
  const notes = makePositionNotes(maxAgeSeconds);
  const measured = new WeakMap<pg.ClientBase, { atMs: number; ageMs: () => number }>();
  const taken = { replica: 0, primary: 0 };
  let isRead = false;
  let ageOfLast = () => Infinity;

  async function measure(client: pg.PoolClient): Promise<number> {
    const known = measured.get(client);
    if (known !== undefined && performance.now() - known.atMs < lookMs) return known.ageMs();
    const ageMs = notes.ageOf(await askPosition(client, replicaPosition));
    measured.set(client, { atMs: performance.now(), ageMs });
    ageOfLast = ageMs;
    return ageMs();
  }

  /** A connection to the replica that is fresh enough; null where there is none, and until the next look. */
  async function takeFresh(): Promise<pg.PoolClient | null> {
    let client: pg.PoolClient | undefined;
    try {
      client = await replica.pool.connect();
      if ((await measure(client)) <= maxAgeSeconds * 1000) return client;
      // The next one may lead to another replica.
      client.release(true);
    } catch (error) {
      client?.release(error as Error);
      if (!isDatabaseUnavailable(error)) throw error;
    }
    isRead = false;
    return null;
  }

  const look = async (): Promise<void> => {
    const late = setTimeout(() => (isRead = false), answerMs).unref();
    try {
      const client = await takeFresh();
      isRead = client !== null;
      client?.release();
    } finally {
      clearTimeout(late);
    }
  };
  const note = async (): Promise<void> => {
    const atMs = performance.now();
    notes.note({ atMs, position: await askPosition(primary.canceller, primaryPosition) });
  };
  const closing = new AbortController();
  // The first look comes after the first note: without one every replica is too old.
  const watching = [note, look].map((step) => repeat(step, closing.signal));
  return {
    async take() {
      const client = isRead ? await takeFresh() : null;
      if (client !== null) {
        taken.replica += 1;
        return { client, canceller: replica.canceller };
      }
      taken.primary += 1;
      return { client: await primary.pool.connect(), canceller: primary.canceller };
    },
    ageSeconds: () => ageOfLast() / 1000,
    taken,
    async close() {
      closing.abort();
      await Promise.all(watching);
    },
  };
}

/** Without the primary notes are missing and the age grows; without the replica the primary is read. */
async function repeat(step: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await step().catch(() => undefined);
    await sleep(lookMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

async function askPosition(db: Queryable, text: string): Promise<bigint> {
  const { rows } = await db.query<{ position: string }>(text);
  return BigInt(rows[0]!.position);
}

/** The primary's positions of the last seconds, newest first. */
function makePositionNotes(maxAgeSeconds: number) {
  const kept = Math.ceil((maxAgeSeconds * 1000) / lookMs) + 60;
  let notes: { atMs: number; position: bigint }[] = [];
  return {
    note(note: { atMs: number; position: bigint }): void {
      notes = [note, ...notes].slice(0, kept);
    },
    ageOf(replayed: bigint): () => number {
      const newest = notes.find(({ position }) => position <= replayed);
      return newest === undefined ? () => Infinity : () => performance.now() - newest.atMs;
    },
  };
}

/** A connection for one reader. */
export const takeReader = async (
  share: ReadServer & { replica?: Pick<ReplicaReads, "take"> | undefined },
): Promise<Reader> =>
  share.replica === undefined
    ? { client: await share.pool.connect(), canceller: share.canceller }
    : await share.replica.take();
