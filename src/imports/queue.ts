import { withTransaction, type PrismaDb, type RecordStore } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeWakeUp } from "../platform/jobs/wake-up.ts";
import {
  columnNames,
  insert,
  makeFind,
  makeFindOne,
  makeRun,
  sql,
  table,
  update,
  type Queryable,
} from "../platform/database/sql.ts";
import { importRunning } from "./lease.ts";
import type { ImportId } from "./record.ts";

/** A reading waits for others of the same school or actor; an application does not. */
type Queued = { importId: ImportId; actorId: string; schoolId: string | null; isReading: boolean };

const most = { perActor: 3, inAll: 100 };
const everySeconds = 0.5;

const t = table("importTurn", "t");
const w = table("importTurn", "w");
const o = table("importTurn", "o");
const isAlive = (turn: typeof t) => sql`${turn.seenAt} > clock_timestamp() - interval '1 minute'`;

const now = sql`clock_timestamp()`;
const lockQueue = makeRun(() => sql`SELECT pg_advisory_xact_lock(hashtextextended('import queue', 0))`);
const countTurns = makeFindOne<{ all: number; ofActor: number }, { actorId: string }>(
  ({ actorId }) => sql`
  SELECT count(*)::int AS all, (count(*) FILTER (WHERE ${t.actorId} = ${actorId}))::int AS "ofActor"
  FROM ${t} WHERE ${isAlive(t)} AND ${t.isReading}`,
);
export const joinQueue = makeRun<Queued>(
  ({ importId, actorId, schoolId, isReading }) => sql`
  ${insert("importTurn", { importId, actorId, schoolId: sql`${schoolId}::uuid`, isReading, queuedAt: now, seenAt: now })}
  ON CONFLICT (${columnNames("importTurn", "importId")}) DO UPDATE SET ${columnNames("importTurn", "startedAt")} = NULL,
    ${columnNames("importTurn", "queuedAt")} = ${now}, ${columnNames("importTurn", "seenAt")} = ${now}`,
);

/** Errors: rate_limited too_many_imports; unavailable if the queue is full. */
export async function checkQueue(tx: Queryable, actorId: string): Promise<void> {
  await lockQueue(tx, {});
  const { all, ofActor } = await countTurns(tx, { actorId });
  if (ofActor >= most.perActor)
    throw new AppError(
      "rate_limited",
      "too_many_imports",
      "Three of your rosters are being read or wait for it. Hand the next one in when one of them is done.",
    );
  if (all >= most.inAll)
    throw new AppError("unavailable", "unavailable", "Too many rosters wait to be read. Try again later.");
}

export async function leaveQueue({ prisma }: RecordStore, importId: string): Promise<void> {
  await prisma.importTurn.deleteMany({ where: { importId } });
}

type OfImports = { importIds: readonly string[] };

const findSeen = makeFind<{ id: string }, OfImports>(
  ({ importIds }) => sql`
  ${update("importTurn", "t", { seenAt: now })} WHERE ${t.importId} = ANY (${importIds}::uuid[])
  RETURNING ${t.importId} AS id`,
);

const startTurns = makeFind<{ id: ImportId }, OfImports & { atOnce: number }>(
  ({ importIds, atOnce }) => sql`
  ${update("importTurn", "t", { startedAt: now })}
  WHERE ${t.importId} = ANY (${importIds}::uuid[]) AND ${t.importId} IN (
    SELECT ${w.importId} FROM ${w}
    WHERE ${isAlive(w)} AND ${w.startedAt} IS NULL AND NOT EXISTS (
      SELECT FROM ${o}
      WHERE ${isAlive(o)} AND ${o.importId} <> ${w.importId} AND ${o.isReading} AND ${w.isReading}
        AND (${o.startedAt} IS NOT NULL OR (${o.queuedAt}, ${o.importId}) < (${w.queuedAt}, ${w.importId}))
        AND (${o.actorId} = ${w.actorId} OR ${o.schoolId} = ${w.schoolId}))
    ORDER BY ${w.queuedAt}, ${w.importId}
    LIMIT greatest(0, ${atOnce}::int - (SELECT count(*) FROM ${o} WHERE ${isAlive(o)} AND ${o.startedAt} IS NOT NULL)))
  RETURNING ${t.importId} AS id`,
);

const findPlaces = makeFind<{ id: ImportId; place: number }, OfImports>(
  ({ importIds }) => sql`
  SELECT ${w.importId} AS id, (
    SELECT count(*)::int FROM ${o}
    WHERE ${isAlive(o)} AND ${o.startedAt} IS NULL
      AND (${o.queuedAt}, ${o.importId}) <= (${w.queuedAt}, ${w.importId})) AS place
  FROM ${w} WHERE ${w.importId} = ANY (${importIds}::uuid[]) AND ${isAlive(w)} AND ${w.startedAt} IS NULL`,
);

export async function findWaiting(db: Queryable, importIds: readonly ImportId[]): Promise<Map<ImportId, number>> {
  const rows = await findPlaces(db, { importIds });
  return new Map(rows.map(({ id, place }) => [id, place]));
}

const findKept = makeFind<{ id: string }, OfImports>(
  ({ importIds }) => sql`
  SELECT ${t.importId} AS id FROM ${t} WHERE ${t.importId} = ANY (${importIds}::uuid[]) AND ${isAlive(t)}`,
);

export async function findTurns(db: Queryable, importIds: readonly string[]): Promise<Set<string>> {
  return new Set((await findKept(db, { importIds })).map(({ id }) => id));
}

export const removeLostTurns = makeRun(() => sql`DELETE FROM ${t} WHERE NOT ${isAlive(t)}`);

/** Starts turns in order, reports them as alive, and aborts removed ones. `atOnce` holds for all processes. */
export function makeTurns({ db, atOnce }: { db: PrismaDb; atOnce: number }) {
  const kept = new Map<ImportId, { start: () => void; stopping: AbortController; hasStarted: boolean }>();
  let ticking: Promise<void> | undefined;
  const wakeUp = makeWakeUp();

  async function look(): Promise<void> {
    const turns = [...kept];
    const importIds = turns.map(([id]) => id);
    const seen = new Set((await findSeen(db.pool, { importIds })).map(({ id }) => id));
    for (const [id, turn] of turns) if (!seen.has(id)) turn.stopping.abort(importRunning());
    const waiting = turns.filter(([id, { hasStarted }]) => seen.has(id) && !hasStarted).map(([id]) => id);
    if (waiting.length === 0) return;
    const started = await withTransaction(db, async (tx) => {
      await lockQueue(tx, {});
      return startTurns(tx, { importIds: waiting, atOnce });
    });
    for (const { id } of started) kept.get(id)?.start();
  }

  async function poll(): Promise<void> {
    while (kept.size > 0) {
      await look().catch(() => undefined);
      await wakeUp.wait(everySeconds);
    }
    ticking = undefined;
  }

  return {
    keep(importId: ImportId) {
      const stopping = new AbortController();
      const { signal } = stopping;
      const { promise: started, resolve, reject } = Promise.withResolvers<unknown>();
      const start = (): void => {
        turn.hasStarted = true;
        resolve(undefined);
      };
      const turn = { start, stopping, hasStarted: false };
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      kept.set(importId, turn);
      started.catch(() => undefined);
      ticking ??= poll();
      wakeUp.wake();
      return {
        started,
        signal,
        async end(): Promise<void> {
          kept.delete(importId);
          await leaveQueue(db, importId).catch(() => undefined);
          wakeUp.wake();
        },
      };
    },
    count(): Record<"running" | "waiting", number> {
      const running = [...kept.values()].filter(({ hasStarted }) => hasStarted).length;
      return { running, waiting: kept.size - running };
    },
    /** Aborts waiting turns at once, and running ones after `graceMs`. */
    async close(graceMs: number): Promise<void> {
      const stop = () => new AppError("unavailable", "unavailable", "The service is stopping.");
      for (const { hasStarted, stopping } of kept.values()) if (!hasStarted) stopping.abort(stop());
      const end = performance.now() + graceMs;
      while (kept.size > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 25));
      for (const { stopping } of kept.values()) stopping.abort(stop());
    },
  };
}
