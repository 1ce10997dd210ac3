import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Origin } from "../events/index.ts";
import type { PrismaDb } from "../platform/db.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { applyImport } from "./apply.ts";
import type { ApplyRules } from "./apply-part.ts";
import { recordFailure } from "./failure.ts";
import { keepFaultLines } from "./fault-lines.ts";
import { beginImport, forgetImport, readImport, type NewImport } from "./preview.ts";
import { makeProgressReport } from "./progress.ts";
import type { ImportId } from "./record.ts";
import type { GiveUserNames } from "./roster-names.ts";

type Deps = {
  db: PrismaDb;
  clock: Clock;
  log: Log;
  rules: ApplyRules & { giveUserNames: GiveUserNames };
  waitMs?: number;
};

/** How a request asks. Shape: with `inBackground` nothing is waited for. */
export type Asking = { inBackground: boolean };

export type ImportRequests = {
  readonly holdShare: number;
  /**
   * Reads a roster and removes its file; answers the import once that is done, or goes on in the background.
   *
   * Errors: those of previewImport, while it is waited for; later they become a fault of the import.
   */
  read(wanted: Omit<NewImport, "holdShare" | "onProgress">, origin: Origin, asking: Asking): Promise<ImportId>;
  /**
   * Applies an import; answers once that is done, or goes on in the background.
   *
   * Errors: those of applyImport, while it is waited for.
   */
  apply(id: ImportId, origin: Origin, asking: Asking): Promise<void>;
  /** Removes an import whose request was refused after it was read. */
  forget(id: ImportId): Promise<void>;
  /** Waits for what is under way, for some seconds. */
  close(): Promise<void>;
};

const closeMs = 5000;

/**
 * Makes what works on imports for requests.
 *
 * Units: waitMs is how long an answer waits for the work, in milliseconds.
 */
export function makeImportRequests({ db, clock, log, rules, waitMs = 5000 }: Deps): ImportRequests {
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

  async function readFile(id: ImportId, wanted: NewImport, origin: Origin): Promise<void> {
    const report = makeProgressReport(db, id, clock);
    try {
      const { state } = await readImport(db, id, { ...wanted, onProgress: report.onProgress }, origin);
      if (state === "BROKEN") await keepFaultLines(db, id, wanted);
    } finally {
      await report.end();
      await rm(wanted.path, { force: true });
    }
    await report.clear();
  }

  return {
    holdShare: rules.holdShare,
    async read(given, origin, asking) {
      const wanted = { ...given, holdShare: rules.holdShare };
      const id = await beginImport(db, wanted, origin, {
        ...{ progressPhase: "READING", progressPercent: 0, progressAt: clock() },
      }).catch(async (error: unknown) => {
        await rm(wanted.path, { force: true });
        throw error;
      });
      await within(readFile(id, wanted, origin), asking, (error) => recordFailure(db, id, error)).catch(
        async (error: unknown) => {
          await forgetImport(db, id);
          throw error;
        },
      );
      return id;
    },
    async apply(id, origin, asking) {
      // What becomes of the import stands in its record, so a failure that nobody waits for has nobody to be told.
      await within(applyImport(db, id, rules, origin), asking, () => Promise.resolve());
    },
    forget: (id) => forgetImport(db, id),
    async close() {
      const stopWaiting = new AbortController();
      const late = sleep(closeMs, undefined, { signal: stopWaiting.signal }).catch(() => undefined);
      await Promise.race([Promise.all(running), late]);
      stopWaiting.abort();
    },
  };
}
