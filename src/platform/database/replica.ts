import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { isDatabaseUnavailable } from "./db.ts";
import type { Queryable } from "./sql.ts";

export type ReadServer = { pool: pg.Pool; canceller: pg.Pool };

export type ReplicaReads = {
  take(): Promise<{ client: pg.PoolClient; canceller: pg.Pool }>;
  ageSeconds(): number;
  readonly taken: Readonly<{ replica: number; primary: number }>;
  close(): Promise<void>;
};

type Options = {
  replica: ReadServer;
  primary: ReadServer;
  maxAgeSeconds: number;
};

const lookMs = 1000;
const answerMs = 2000;

const primaryPosition = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text AS position";
// A replica that was promoted meanwhile has no replay position.
const replicaPosition = `SELECT pg_wal_lsn_diff(
  CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, '0/0')::text AS position`;

/**
 * Measures a replica's lag without comparing clocks: the primary's log position is recorded each second, and a replica
 * that has replayed one is at most as old as its record. Only one probe at a time waits for a silent replica.
 */
export function makeReplicaReads({ replica, primary, maxAgeSeconds }: Options): ReplicaReads {
  const notes = makePositionNotes(maxAgeSeconds);
  const measured = new WeakMap<pg.ClientBase, { atMs: number; ageMs: () => number }>();
  const readsBy = { replica: 0, primary: 0 };
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

  /** Null if there is no fresh replica; then the primary is read until the next probe. */
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

  const probe = async (): Promise<void> => {
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
  // The primary's position is noted first: without one every replica is too old.
  const watching = [note, probe].map((step) => repeat(step, closing.signal));
  return {
    async take() {
      const client = isRead ? await takeFresh() : null;
      if (client !== null) {
        readsBy.replica += 1;
        return { client, canceller: replica.canceller };
      }
      readsBy.primary += 1;
      return { client: await primary.pool.connect(), canceller: primary.canceller };
    },
    ageSeconds: () => ageOfLast() / 1000,
    taken: readsBy,
    async close() {
      closing.abort();
      await Promise.all(watching);
    },
  };
}

/** Failures are expected: without the primary the age grows, without the replica the primary is read. */
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

function makePositionNotes(maxAgeSeconds: number) {
  const most = Math.ceil((maxAgeSeconds * 1000) / lookMs) + 60;
  let notes: { atMs: number; position: bigint }[] = [];
  return {
    note(note: { atMs: number; position: bigint }): void {
      notes = [note, ...notes].slice(0, most);
    },
    ageOf(replayed: bigint): () => number {
      const newest = notes.find(({ position }) => position <= replayed);
      return newest === undefined ? () => Infinity : () => performance.now() - newest.atMs;
    },
  };
}
