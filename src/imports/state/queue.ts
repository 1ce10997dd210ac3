import { withTransaction, type PrismaDb } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { makeWakeUp } from "../../platform/jobs/wake-up.ts";
import {
  columnNames,
  insert,
  join,
  lockName,
  makeFind,
  makeFindOne,
  makeRun,
  sql,
  table,
  update,
} from "../../platform/database/sql.ts";
import type { Queryable } from "../../platform/database/sql.ts";
import type { Counts, ImportId } from "./record.ts";
import { importRunning } from "./lease.ts";
import type { FileKind } from "../read/source.ts";
import { chooseNext, findPlaces, fitConnections, type Turn } from "./turn-order.ts";

type Queued = Pick<Turn, "actorId" | "schoolId" | "isReading" | "isSmall"> & { importId: ImportId };

const most = { perActor: 3, perSchool: 12, beforeFull: 100 };
const everySeconds = 0.5;

/** Units: bytes, and people, groups and memberships; about what is read or applied in two seconds. */
const small = { bytes: 256 * 1024, records: 5000 };

/** Packed files hold some ten times as much. */
export const isSmallFile = (kind: FileKind, size: number): boolean =>
  size * (kind === "xlsx" || kind === "zip" ? 10 : 1) <= small.bytes;

/** Whom the schools have counts too, because all are compared. */
export function isSmallChange(counts: readonly Counts[]): boolean {
  const numbers = counts.flatMap(({ people, groups, memberships, before }) =>
    [people, groups, memberships, before].flatMap((of) => Object.values<number>(of ?? {})),
  );
  return numbers.reduce((sum, number) => sum + number, 0) <= small.records;
}

const t = table("importTurn", "t");
const isAlive = (turn: typeof t) => sql`${turn.seenAt} > clock_timestamp() - interval '1 minute'`;

const now = sql`clock_timestamp()`;
const queue = { name: "import queue" };
type Joining = Pick<Queued, "actorId" | "schoolId">;
const countTurns = makeFindOne<{ all: number; ofActor: number; ofSchool: number }, Joining>()`
  SELECT count(*)::int AS all, (count(*) FILTER (WHERE ${t.actorId} = ${"actorId"}))::int AS "ofActor",
    (count(*) FILTER (WHERE ${t.schoolId} = ${"schoolId"}::uuid))::int AS "ofSchool"
  FROM ${t} WHERE ${isAlive(t)} AND ${t.isReading}`;
const renewed = [
  ...(["actorId", "schoolId", "isReading", "isSmall", "queuedAt", "seenAt"] as const),
  ...(["startedAt", "schoolServedAt", "actorServedAt"] as const),
].map((name) => columnNames("importTurn", name));
export const joinQueue = makeRun<Queued>(
  ({ importId, actorId, schoolId, isReading, isSmall }) => sql`
  ${insert("importTurn", {
    importId,
    actorId,
    schoolId: sql`${schoolId}::uuid`,
    isReading,
    isSmall,
    queuedAt: now,
    seenAt: now,
  })}
  ON CONFLICT (${columnNames("importTurn", "importId")})
  DO UPDATE SET ${join(renewed.map((name) => sql`${name} = excluded.${name}`))}`,
);

/** Errors: rate_limited too_many_imports; unavailable if the queue is full and one of theirs is in it. */
export async function checkQueue(tx: Queryable, joining: Joining): Promise<void> {
  await lockName(tx, queue);
  const { all, ofActor, ofSchool } = await countTurns(tx, joining);
  if (ofActor >= most.perActor)
    throw tooMany(
      "Three of your rosters are being read or wait for it. Hand the next one in when one of them is done.",
    );
  if (ofSchool >= most.perSchool)
    throw tooMany("Twelve rosters of the school are being read or wait for it. Hand this one in when some are done.");
  if (all >= most.beforeFull && ofActor + ofSchool > 0)
    throw new AppError("unavailable", "unavailable", "Too many rosters wait to be read. Try again later.");
}

const tooMany = (message: string) => new AppError("rate_limited", "too_many_imports", message);

const gone = table("importTurn", "gone");
const schoolOf = (turn: typeof t) => sql`coalesce(${turn.schoolId}::text, ${turn.actorId})`;
const removeTurn = makeRun<{ importId: string }>()`
  WITH gone AS (DELETE FROM ${gone} WHERE ${gone.importId} = ${"importId"} RETURNING *)
  ${update("importTurn", "t", {
    schoolServedAt: now,
    actorServedAt: sql`CASE WHEN ${t.actorId} = ${gone.actorId} THEN ${now} ELSE ${t.actorServedAt} END`,
  })}
  FROM gone WHERE ${gone.startedAt} IS NOT NULL AND ${t.importId} <> ${gone.importId}
    AND ${t.isReading} = ${gone.isReading} AND ${schoolOf(t)} = ${schoolOf(gone)}`;

export const leaveQueue = (db: Queryable, importId: string) => removeTurn(db, { importId });

const listAlive = makeFind<Turn>()`
  SELECT ${t.importId} AS id, ${t.actorId} AS "actorId", ${t.schoolId} AS "schoolId", ${t.isReading} AS "isReading",
    ${t.isSmall} AS "isSmall", ${t.startedAt} IS NOT NULL AS "isStarted", ${t.queuedAt} AS "queuedAt",
    ${t.schoolServedAt} AS "schoolServedAt", ${t.actorServedAt} AS "actorServedAt"
  FROM ${t} WHERE ${isAlive(t)}`;

type OfImports = { importIds: readonly string[] };

const findSeen = makeFind<{ id: string }, OfImports>()`
  ${update("importTurn", "t", { seenAt: now })} WHERE ${t.importId} = ANY (${"importIds"}::uuid[])
  RETURNING ${t.importId} AS id`;

const startTurns = makeRun<OfImports>()`
  ${update("importTurn", "t", { startedAt: now })} WHERE ${t.importId} = ANY (${"importIds"}::uuid[])`;

type Queue = { places: Map<ImportId, number>; changing: Set<ImportId> };

/** Shape: the places of waiting imports, and the imports that have begun to apply or undo. */
export async function findQueue(db: Queryable, importIds: readonly ImportId[]): Promise<Queue> {
  const alive = importIds.length === 0 ? [] : await listAlive(db, {});
  const changing = alive.filter(({ isStarted, isReading }) => isStarted && !isReading);
  return { places: findPlaces(alive), changing: new Set(changing.map(({ id }) => id)) };
}

const findKept = makeFind<{ id: string }, OfImports>()`
  SELECT ${t.importId} AS id FROM ${t} WHERE ${t.importId} = ANY (${"importIds"}::uuid[]) AND ${isAlive(t)}`;

export async function findTurns(db: Queryable, importIds: readonly string[]): Promise<Set<string>> {
  return new Set((await findKept(db, { importIds })).map(({ id }) => id));
}

export const removeLostTurns = makeRun()`DELETE FROM ${t} WHERE NOT ${isAlive(t)}`;

/** Starts turns in order, renews them, and aborts removed ones. `atOnce` is a limit for all processes together. */
export function makeTurns({ db, atOnce, connections }: { db: PrismaDb; atOnce: number; connections: number }) {
  const runs = new Map<ImportId, { start: () => void; stopping: AbortController; hasStarted: boolean }>();
  let ticking: Promise<void> | undefined;
  const wakeUp = makeWakeUp();

  async function startNext(): Promise<void> {
    const turns = [...runs];
    const seen = new Set((await findSeen(db.pool, { importIds: turns.map(([id]) => id) })).map(({ id }) => id));
    for (const [id, turn] of turns) if (!seen.has(id)) turn.stopping.abort(importRunning());
    if (!turns.some(([id, { hasStarted }]) => seen.has(id) && !hasStarted)) return;
    const started = await withTransaction(db, async (tx) => {
      await lockName(tx, queue);
      const alive = await listAlive(tx, {});
      const isOurs = ({ id }: Turn) => seen.has(id) && runs.get(id)?.hasStarted === false;
      const running = alive.filter(({ id }) => runs.get(id)?.hasStarted === true);
      const next = fitConnections(chooseNext(alive, atOnce).filter(isOurs), running, connections).map(({ id }) => id);
      if (next.length > 0) await startTurns(tx, { importIds: next });
      return next;
    });
    for (const id of started) runs.get(id)?.start();
  }

  async function poll(): Promise<void> {
    while (runs.size > 0) {
      await startNext().catch(() => undefined);
      await wakeUp.wait(everySeconds);
    }
    ticking = undefined;
  }

  return {
    /** Registers a turn. A second turn of the same import replaces one that waits, and is refused while one runs. */
    keep(importId: ImportId) {
      const other = runs.get(importId);
      const stopping = new AbortController();
      const { signal } = stopping;
      const { promise: started, resolve, reject } = Promise.withResolvers<unknown>();
      const start = (): void => {
        turn.hasStarted = true;
        resolve(undefined);
      };
      const turn = { start, stopping, hasStarted: false };
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      started.catch(() => undefined);
      (other?.hasStarted === true ? turn : other)?.stopping.abort(importRunning());
      if (other?.hasStarted !== true) runs.set(importId, turn);
      ticking ??= poll();
      wakeUp.wake();
      return {
        started,
        signal,
        async end(): Promise<void> {
          if (runs.get(importId) !== turn) return;
          runs.delete(importId);
          await leaveQueue(db.pool, importId).catch(() => undefined);
          wakeUp.wake();
        },
      };
    },
    count(): Record<"running" | "waiting", number> {
      const running = [...runs.values()].filter(({ hasStarted }) => hasStarted).length;
      return { running, waiting: runs.size - running };
    },
    /** Aborts waiting turns at once, and running ones after `graceMs`. */
    async close(graceMs: number): Promise<void> {
      const stop = () => new AppError("unavailable", "unavailable", "The service is stopping.");
      for (const { hasStarted, stopping } of runs.values()) if (!hasStarted) stopping.abort(stop());
      const end = performance.now() + graceMs;
      while (runs.size > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 25));
      for (const { stopping } of runs.values()) stopping.abort(stop());
    },
  };
}
