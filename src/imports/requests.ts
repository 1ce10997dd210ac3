import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Origin } from "../events/index.ts";
import type { Clock } from "../platform/clock.ts";
import { withPrismaTransaction, type PrismaDb, type Queryable } from "../platform/database/db.ts";
import type { Log } from "../platform/telemetry/log.ts";
import { applyImport, checkApplicable } from "./apply.ts";
import type { ApplyRules } from "./apply-part.ts";
import { cancelImport } from "./cancel.ts";
import { recordFailure } from "./failure.ts";
import { keepFaultLines } from "./fault-lines.ts";
import { beginImport, forgetImport, readImport, type NewImport } from "./preview.ts";
import { makeProgressReport } from "./progress.ts";
import { checkLease } from "./lease.ts";
import { joinQueue, makeTurns, type Turns } from "./queue.ts";
import { forgetRead, removeStaged, type ImportId } from "./record.ts";
import type { GiveUserNames } from "./roster-names.ts";

type Deps = {
  /** Connections of the imports alone, one for each that is read or applied. */
  db: PrismaDb;
  /** Connections for what is short: the queue, progress, removing in batches. */
  control: PrismaDb;
  /** How many imports all processes read and apply at a time. */
  atOnce: number;
  clock: Clock;
  log: Log;
  rules: ApplyRules & { giveUserNames: GiveUserNames };
  waitMs?: number;
};

/** How a request asks. Shape: with `inBackground` nothing is waited for. */
export type Asking = { inBackground: boolean };

export type ImportRequests = {
  /** The connections of the imports, and what reaches the same server to cancel a statement there. */
  readonly connections: { db: PrismaDb; canceller: Queryable };
  readonly holdShare: number;
  /**
   * Reads a roster when its turn has come, and removes its file; answers the import once that is done, or goes on in
   * the background.
   *
   * Errors: those of checkQueue; those of previewImport, while it is waited for; later they become a fault of the
   *         import.
   */
  read(wanted: Omit<NewImport, "holdShare" | "onProgress">, origin: Origin, asking: Asking): Promise<ImportId>;
  /**
   * Applies an import when its turn has come; answers once that is done, or goes on in the background.
   *
   * Errors: those of applyImport, while it is waited for.
   */
  apply(id: ImportId, origin: Origin, asking: Asking): Promise<void>;
  /** As cancelImport; answers once what was staged is removed, or goes on in the background. */
  cancel(id: ImportId, origin: Origin): Promise<void>;
  /** Removes an import whose request was refused after it was read. */
  forget(id: ImportId): Promise<void>;
  /** How many imports this process works on, and how many of its imports wait for their turn. */
  count: Turns["count"];
  /** Waits for what is under way, for some seconds. */
  close(): Promise<void>;
};

const closeMs = 5000;

/**
 * Makes what works on imports for requests.
 *
 * Units: waitMs is how long an answer waits for the work, in milliseconds.
 */
export function makeImportRequests({ db, control, atOnce, clock, log, rules, waitMs = 5000 }: Deps): ImportRequests {
  const turns = makeTurns({ db: control, atOnce });
  const running = new Set<Promise<unknown>>();

  /** Waits for the work for a while; `onLate` gets what fails after that. */
  async function within(
    work: Promise<unknown>,
    { inBackground }: Asking,
    onLate: (error: unknown) => Promise<unknown>,
  ) {
    let isLate = inBackground;
    const ended = work.catch((error: unknown) => {
      if (!isLate) throw error;
      log.warn({ err: error }, "an import failed in the background");
      return onLate(error).catch((err: unknown) => log.error({ err }, "the failure of an import was not recorded"));
    });
    const tracked = ended.catch(() => undefined).finally(() => running.delete(tracked));
    running.add(tracked);
    if (inBackground) return;
    const stopWaiting = new AbortController();
    const late = sleep(waitMs, undefined, { signal: stopWaiting.signal }).then(() => (isLate = true));
    await Promise.race([ended, late.catch(() => undefined)]).finally(() => stopWaiting.abort());
  }

  async function readFile(id: ImportId, given: NewImport, origin: Origin): Promise<void> {
    const turn = turns.keep(id);
    const interrupt = { signal: turn.signal, canceller: control.pool };
    const report = makeProgressReport(control, id, clock);
    try {
      await turn.started;
      const wanted = { ...given, onProgress: report.onProgress, interrupt };
      const { state } = await readImport(db, id, wanted, origin);
      if (state === "BROKEN") await keepFaultLines(db, id, wanted);
    } catch (error) {
      if (!(await isCancelled(id))) throw error;
      await forgetRead(control, id);
    } finally {
      await report.end();
      await rm(given.path, { force: true });
      await turn.end();
    }
    await report.clear();
  }

  const isCancelled = async (id: ImportId): Promise<boolean> =>
    (await control.prisma.import.count({ where: { id, state: "CANCELLED" } })) > 0;

  async function applyInTurn(id: ImportId, origin: Origin): Promise<void> {
    const turn = turns.keep(id);
    try {
      await turn.started;
      await applyImport(db, id, rules, origin);
    } finally {
      await turn.end();
    }
  }

  return {
    connections: { db, canceller: control.pool },
    holdShare: rules.holdShare,
    async read(given, origin, asking) {
      const wanted = { ...given, holdShare: rules.holdShare };
      const id = await beginImport(control, wanted, origin, { inQueue: true }).catch(async (error: unknown) => {
        await rm(wanted.path, { force: true });
        throw error;
      });
      await within(readFile(id, wanted, origin), asking, (error) => recordFailure(control, id, error)).catch(
        async (error: unknown) => {
          await forgetImport(control, id);
          throw error;
        },
      );
      return id;
    },
    async apply(id, origin, asking) {
      // Who cannot have it applied hears so at once, and not when its turn has come.
      await checkApplicable(control, id);
      await checkLease(control, id);
      await joinQueue(control.pool, {
        importId: id,
        actorId: origin.actorId ?? "",
        schoolId: null,
        isReading: false,
      });
      // What becomes of the import stands in its record, so a failure that nobody waits for has nobody to be told.
      await within(applyInTurn(id, origin), asking, () => Promise.resolve());
    },
    async cancel(id, origin) {
      await withPrismaTransaction(control, (tx) => cancelImport(tx, id, origin));
      // What is not removed now is removed by the sweep.
      await within(removeStaged(control, id), { inBackground: false }, () => Promise.resolve());
    },
    count: turns.count,
    forget: (id) => forgetImport(control, id),
    async close() {
      const closing = turns.close(closeMs);
      const stopWaiting = new AbortController();
      const late = sleep(2 * closeMs, undefined, { signal: stopWaiting.signal }).catch(() => undefined);
      await Promise.race([closing.then(() => Promise.all(running)), late]);
      stopWaiting.abort();
    },
  };
}
