import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Origin } from "../events/index.ts";
import type { Clock } from "../platform/clock.ts";
import { withPrismaTransaction, type PrismaDb } from "../platform/database/db.ts";
import type { Queryable } from "../platform/database/sql.ts";
import type { Log } from "../platform/telemetry/log.ts";
import { applyImport, type GiveUserNames } from "./apply/apply.ts";
import type { ApplyRules } from "./apply/part.ts";
import { cancelImport, recordFailure, forgetImport, forgetRead, forgetUpload } from "./state/end.ts";
import { keepFaultLines } from "./rows/fault-lines.ts";
import { beginImport, withSheet, type NewImport } from "./preview/begin.ts";
import { readImport } from "./preview/read-import.ts";
import { makeProgressReport } from "./state/progress.ts";
import { checkLease } from "./state/lease.ts";
import { isSmallChange, joinQueue, makeTurns } from "./state/queue.ts";
import { getImport, type ImportId } from "./state/record.ts";
import { removeStaged } from "./formats/staging.ts";
import { beginMapped, waitAgain, type NewColumns } from "./preview/unmapped.ts";
import { checkEvent, getState } from "./state/states.ts";
import { undoImport, type KeptCounts } from "./undo/undo.ts";

type Deps = {
  db: PrismaDb;
  /** Connections for short work: the queue, progress, removal in batches. */
  control: PrismaDb;
  atOnce: number;
  clock: Clock;
  log: Log;
  rules: ApplyRules & { giveUserNames: GiveUserNames };
  waitMs?: number | undefined;
};

/** `toEnd` waits however long it takes, so that every error is the caller's. */
type CallOptions = { inBackground: boolean; toEnd?: boolean };
type ApplyOptions = CallOptions & Pick<ApplyRules, "beforeCommit">;

export type ImportRequests = ReturnType<typeof makeImportRequests>;

const closeMs = 5000;

/** Units: waitMs is how long a call waits before the work continues in the background. */
export function makeImportRequests({ db, control, atOnce, clock, log, rules, waitMs = 5000 }: Deps) {
  const turns = makeTurns({ db: control, atOnce, connections: db.pool.options.max });
  const running = new Set<Promise<unknown>>();

  async function within(
    work: Promise<unknown>,
    { inBackground, toEnd = false }: CallOptions,
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
    if (toEnd) return void (await ended);
    await Promise.race([ended, sleep(waitMs, undefined, { ref: false }).then(() => (isLate = true))]);
  }

  async function readFile(id: ImportId, request: NewImport, origin: Origin): Promise<void> {
    const turn = turns.keep(id);
    const interrupt = { signal: turn.signal, canceller: control.pool };
    const report = makeProgressReport(control, id, clock);
    try {
      await turn.started;
      await withSheet({ ...request, onProgress: report.onProgress, interrupt }, async (opened) => {
        const { state } = await readImport(db, id, opened, origin);
        if (state === "BROKEN") await keepFaultLines(db, id, opened);
        if (state !== "UNMAPPED") await forgetUpload(control, id);
      });
    } catch (error) {
      if ((await control.prisma.import.count({ where: { id, state: "CANCELLED" } })) === 0) throw error;
      await forgetRead(control, id);
    } finally {
      await report.end();
      await rm(request.path, { force: true });
      await turn.end();
    }
    await report.clear();
  }

  async function inTurn(id: ImportId, work: () => Promise<unknown>): Promise<void> {
    const turn = turns.keep(id);
    try {
      await turn.started;
      await work();
    } finally {
      await turn.end();
    }
  }

  async function changeInTurn(
    id: ImportId,
    { actorId = "" }: Origin,
    options: CallOptions,
    work: () => Promise<unknown>,
  ): Promise<void> {
    await checkLease(control, id);
    const { schools } = await getImport(control, id);
    const schoolId = schools.length === 1 ? schools[0]!.id : null;
    const isSmall = isSmallChange(schools.map(({ counts }) => counts));
    await joinQueue(control.pool, { importId: id, actorId, schoolId, isReading: false, isSmall });
    // The import's record keeps the outcome; a late failure needs no other report.
    await within(inTurn(id, work), options, () => Promise.resolve());
  }

  return {
    connections: { db, canceller: control.pool as Queryable },
    holdShare: rules.holdShare,
    /**
     * Reads a roster in its turn and removes the file. Resolves when it is done, or earlier in the background.
     *
     * Errors: those of `checkQueue` and `previewImport`; in the background they become a fault of the import.
     */
    async read(upload: Omit<NewImport, "holdShare" | "onProgress">, origin: Origin, options: CallOptions) {
      const request = { ...upload, holdShare: rules.holdShare };
      const id = await beginImport(control, request, origin, { inQueue: true }).catch(async (error: unknown) => {
        await rm(request.path, { force: true });
        throw error;
      });
      await within(readFile(id, request, origin), options, (error) => recordFailure(control, id, error)).catch(
        async (error: unknown) => {
          await forgetImport(control, id);
          throw error;
        },
      );
      return id;
    },
    /** Waits for its turn, and reads the import with its columns, like `read`. Errors: those of `beginMapped`. */
    async map(id: ImportId, columns: NewColumns, among: NewImport["among"], origin: Origin, options: CallOptions) {
      const begun = await beginMapped(control, id, columns, origin);
      const request = { ...begun, among, holdShare: rules.holdShare };
      const onLate = (error: unknown) =>
        "choosesColumns" in begun ? waitAgain(control, id) : recordFailure(control, id, error);
      await within(readFile(id, request, origin), options, onLate).catch(async (error: unknown) => {
        await waitAgain(control, id);
        throw error;
      });
    },
    /** Waits for its turn, and applies the import; resolves like `read`. Errors: those of `applyImport`. */
    async apply(id: ImportId, origin: Origin, { beforeCommit, ...options }: ApplyOptions): Promise<void> {
      checkEvent("apply", { state: await getState(control, id) });
      const applyRules = { ...rules, ...(beforeCommit && { beforeCommit }) };
      await changeInTurn(id, origin, options, () => applyImport(db, id, applyRules, origin));
    },
    /** Waits for its turn, and undoes the import; `keptCounts` is from `confirmUndo`. Errors: those of `undoImport`. */
    async undo(id: ImportId, keptCounts: KeptCounts, origin: Origin, options: CallOptions): Promise<void> {
      const undo = { kept: keptCounts, restoreWindowDays: rules.restoreWindowDays };
      await changeInTurn(id, origin, options, () => undoImport(db, id, undo, origin));
    },
    async cancel(id: ImportId, origin: Origin, beforeCommit?: ApplyRules["beforeCommit"]): Promise<void> {
      await withPrismaTransaction(control, async (tx) => {
        await cancelImport(tx, id, origin);
        await beforeCommit?.(tx);
      });
      await within(removeStaged(control, id), { inBackground: false }, () => Promise.resolve());
    },
    count: turns.count,
    forget: (id: ImportId) => forgetImport(control, id),
    async close(): Promise<void> {
      const ended = turns.close(closeMs).then(() => Promise.all(running));
      await Promise.race([ended, sleep(2 * closeMs, undefined, { ref: false })]);
    },
  };
}
