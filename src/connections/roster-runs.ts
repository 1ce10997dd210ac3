import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Origin } from "../events/index.ts";
import type { ImportRequests } from "../imports/index.ts";
import { addDays, type Clock } from "../platform/clock.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { PrismaDb, Transaction } from "../platform/database/db.ts";
import { makeRun, table } from "../platform/database/sql.ts";
import { makeSweep } from "../platform/jobs/batches.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import { makeGuardedSender, type OutboundPolicy } from "../platform/outbound/guarded-request.ts";
import type { Log } from "../platform/telemetry/log.ts";
import { makeTemporaryPath } from "../platform/temporary-files.ts";
import { getSource, incomplete } from "./change-connection.ts";
import { getConnectionRow, schoolIdsOf, type RosterApplies, type RosterConnectionId } from "./connection.ts";
import { finishRun, type Ended } from "./finish.ts";
import { digestOf, importFile, type ImportDeps, type RosterImport } from "./import-file.ts";
import { claimByHand, claimDue, hasLease, renewLease, renewSeconds, type Claimed } from "./lease.ts";
import { findLastImport, getRosterRun, type RosterRun } from "./runs.ts";
import { openSecret } from "./settings.ts";
import { SourceError } from "./sources/failure.ts";
import { refuseHalf } from "./sources/file.ts";
import type { Sources } from "./sources/index.ts";
import { makeSourceRequests, toSourceError } from "./sources/requests.ts";
import type { RosterFile, SourceSettings, Unchanged } from "./sources/source.ts";

type Deps = {
  db: PrismaDb;
  imports: ImportRequests;
  clock: Clock;
  log: Log;
  keys: EncryptionKeys;
  policy: OutboundPolicy;
  sources: Sources;
  /** How long a source may take to send its roster. */
  fetchSeconds: number;
  sendsMail: boolean;
  /** How long a call waits for a run before it goes on in the background. */
  waitMs?: number | undefined;
};

type Working = Pick<RosterImport, "origin" | "holdLease"> & { signal: AbortSignal; arrival: RosterFile | undefined };

export type RosterRuns = ReturnType<typeof makeRosterRuns>;

const limits = { bytes: 2 ** 30, fileBytes: 64 * 2 ** 20 };
/** Without a byte for so long, a source is too slow. */
const pauseMs = 60_000;
const atOnce = 4;
const lookMs = 5000;
const closeMs = 5000;
const runDays = 400;

export function makeRosterRuns({ waitMs = 5000, ...deps }: Deps) {
  const { db, imports, clock, log } = deps;
  const sender = makeGuardedSender({ ...deps.policy, timeoutMs: Math.min(pauseMs, deps.fetchSeconds * 1000) });
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  const importDeps: ImportDeps = { db, imports };

  async function fetchFile(claimed: Claimed, signal: AbortSignal, makeFile: () => string, validator: string | null) {
    const { row } = claimed;
    const source = getSource(deps.sources, row.kind);
    const settings = row.settings as SourceSettings;
    const secret = row.secret === null ? null : openSecret(deps.keys, { id: row.id, settings }, row.secret);
    if (secret === null && (row.secret !== null || source.secret === "required")) return "secret_missing";
    const schools = await db.prisma.school.findMany({
      where: { id: { in: schoolIdsOf(row) } },
      select: { id: true, officialId: true, name: true },
    });
    const late = AbortSignal.any([signal, AbortSignal.timeout(deps.fetchSeconds * 1000)]);
    const requests = makeSourceRequests(sender, { signal: late, limits });
    const tools = { requests, signal: late, limits, now: clock(), makeFile };
    return source.read({ settings, secret, schools, validator }, tools).catch((error: unknown) => {
      throw late.aborted ? toSourceError(error, late) : error;
    });
  }

  /** Fetches and imports; `arrival` is a file that was sent here. */
  async function work(claimed: Claimed, { origin, signal, arrival, holdLease }: Working): Promise<Ended> {
    const { row, trigger } = claimed;
    const made: string[] = arrival === undefined ? [] : [arrival.path];
    const makeFile = () => {
      const path = makeTemporaryPath();
      made.push(path);
      return path;
    };
    try {
      if (arrival !== undefined) await refuseHalf(arrival.path);
      const last = await findLastImport(db, row.id);
      const isKnown = last !== null && last.state !== "EXPIRED" && row.digest !== null;
      const skips = isKnown && (trigger === "SCHEDULE" || trigger === "ARRIVAL");
      const fetched: RosterFile | Unchanged | "secret_missing" =
        arrival ?? (await fetchFile(claimed, signal, makeFile, skips ? row.validator : null));
      if (fetched === "secret_missing") return { outcome: "FAILED", failure: "SECRET_MISSING" };
      const known = row.digest === null ? null : Buffer.from(row.digest);
      const digest = fetched === "unchanged" ? known : await digestOf(fetched.path, signal);
      if (skips && known !== null && digest?.equals(known) === true) return endUnchanged(last);
      if (fetched === "unchanged" || digest === null)
        throw new SourceError("ANSWERED_BADLY", "unchanged, without being asked");
      const schoolIds = schoolIdsOf(row);
      const applies = row.applies as RosterApplies;
      const file = { file: fetched, schoolIds, applies, isTest: trigger === "TEST", origin, holdLease };
      const ended = await importFile(importDeps, file);
      if (ended.importId === undefined) return ended;
      const replacedImportId = await replaceWaiting(last, ended, { origin, holdLease });
      return { ...ended, digest, validator: fetched.validator ?? null, ...(replacedImportId && { replacedImportId }) };
    } finally {
      for (const path of made) await rm(path, { force: true });
    }
  }

  /** A faulty import keeps failing until its file changes or somebody deals with it. */
  function endUnchanged(last: Awaited<ReturnType<typeof findLastImport>>): Ended {
    if (last?.state === "BROKEN") return { outcome: "FAILED", failure: "FAULTS", importId: last.id };
    if (last?.state === "UNMAPPED") return { outcome: "FAILED", failure: "COLUMNS_UNKNOWN", importId: last.id };
    return { outcome: "UNCHANGED" };
  }

  /** A newer roster takes the place of a preview that waits, unless it cannot be read itself. */
  async function replaceWaiting(
    last: Awaited<ReturnType<typeof findLastImport>>,
    ended: Ended,
    { origin, holdLease }: Pick<Working, "origin" | "holdLease">,
  ) {
    if (last === null || ended.failure === "FAULTS" || ended.failure === "OTHER_SCHOOL") return undefined;
    if (!["READING", "UNMAPPED", "READY", "HELD"].includes(last.state)) return undefined;
    try {
      await imports.cancel(last.id, origin, holdLease);
      return last.id;
    } catch (error) {
      log.info({ err: error, importId: last.id }, "a waiting import was not replaced");
      return undefined;
    }
  }

  async function execute(claimed: Claimed, origin: Origin, outer: AbortSignal, arrival?: RosterFile): Promise<void> {
    const lost = new AbortController();
    const renew = setInterval(() => {
      renewLease(db.pool, { holder: claimed.runId }).then(
        (rows) => rows === 0 && lost.abort(),
        () => undefined,
      );
    }, renewSeconds * 1000);
    const signal = AbortSignal.any([outer, stopping.signal, lost.signal]);
    const holdLease = async (tx: Transaction): Promise<void> => {
      if (await hasLease(tx, claimed)) return;
      lost.abort();
      throw new Error("another run has taken the place of this one");
    };
    try {
      const ended = await work(claimed, { origin, signal, arrival, holdLease }).catch((error: unknown) =>
        endFailed(error, claimed, signal),
      );
      const isRecorded = await finishRun(db, claimed, ended, { now: clock(), sendsMail: deps.sendsMail });
      // What was applied before stays.
      if (!isRecorded && ended.importId !== undefined)
        await imports.cancel(ended.importId, origin).catch(() => undefined);
    } finally {
      clearInterval(renew);
    }
  }

  function endFailed(error: unknown, { row }: Claimed, signal: AbortSignal): Ended {
    if (signal.aborted) return { outcome: "FAILED", failure: "INTERRUPTED" };
    if (error instanceof SourceError) return { outcome: "FAILED", failure: error.code, detail: error.detail };
    log.error({ err: error, connectionId: row.id }, "a roster could not be fetched");
    return { outcome: "FAILED", failure: "INTERNAL" };
  }

  const track = (work: Promise<void>): Promise<void> => {
    const tracked = work
      .catch((err: unknown) => log.error({ err }, "the end of a roster's run was not recorded"))
      .finally(() => running.delete(tracked));
    running.add(tracked);
    return tracked;
  };

  const runJob: WorkerJob = {
    name: "connections.run",
    everySeconds: 30,
    async run(signal) {
      const begun = new Set<Promise<void>>();
      do {
        while (begun.size < atOnce && !signal.aborted) {
          const claimed = await claimDue(db, clock());
          if (claimed === null) break;
          const origin = { at: clock(), actorId: `connection:${claimed.row.id}` };
          const tracked: Promise<void> = track(execute(claimed, origin, signal)).finally(() => begun.delete(tracked));
          begun.add(tracked);
        }
        // Other connections may become due during a long run.
        if (begun.size > 0) await Promise.race([...begun, sleep(lookMs, undefined, { ref: false })]);
      } while (begun.size > 0);
    },
  };

  const sweepJob = makeSweep({ name: "connections.sweep", clock }, (now, batch) =>
    removeOldRuns(db.pool, { before: addDays(now, -runDays), batch }),
  );

  return {
    sources: deps.sources,
    /** Begins a run or a test, and waits a while for its end. Errors: not_found; conflict roster_connection_*. */
    async start(id: RosterConnectionId, trigger: "HAND" | "TEST", origin: Origin): Promise<RosterRun> {
      const row = await getConnectionRow(db, id);
      if (row.secret === null && getSource(deps.sources, row.kind).secret === "required") throw incomplete();
      const claimed = await claimByHand(db, { id, trigger }, origin);
      const tracked = track(execute(claimed, origin, stopping.signal));
      await Promise.race([tracked, sleep(waitMs, undefined, { ref: false })]);
      return getRosterRun(db, claimed.runId);
    },
    /** Imports a file that was handed over to a connection, and removes it. Errors: as `start`. */
    async arrive(id: RosterConnectionId, file: RosterFile): Promise<void> {
      const origin = { at: clock(), actorId: `connection:${id}` };
      const claimed = await claimByHand(db, { id, trigger: "ARRIVAL" }, origin);
      await track(execute(claimed, origin, stopping.signal, file));
    },
    jobs: [runJob, sweepJob],
    async close(): Promise<void> {
      stopping.abort();
      await Promise.race([Promise.all(running), sleep(closeMs, undefined, { ref: false })]);
      await sender.close();
    },
  };
}

const old = table("rosterRun", "old");
const removeOldRuns = makeRun<{ before: Date; batch: number }>("connections.removeOldRuns")`
  DELETE FROM ${old} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ${old} WHERE ${old.startedAt} < ${"before"} ORDER BY ${old.startedAt} LIMIT ${"batch"}
    FOR UPDATE SKIP LOCKED))`;
