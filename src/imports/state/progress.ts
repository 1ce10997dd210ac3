import type { Clock } from "../../platform/clock.ts";
import type { PrismaDb } from "../../platform/database/db.ts";
import type { ImportId } from "./record.ts";
import { noProgress } from "./states.ts";

/** Units: bytes while reading (each file is read twice), schools while comparing and applying. */
type Progress = { phase: "reading" | "checking" | "comparing" | "applying"; done: number; total: number };

export type OnProgress = (progress: Progress) => void;

const everyMs = 1000;

/** Writes progress every second, outside the transactions that report it. */
export function makeProgressReport({ prisma }: PrismaDb, id: ImportId, clock: Clock) {
  let latest: Progress | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  const write = (data: { progressPhase: string | null; progressPercent: number | null; progressAt: Date | null }) =>
    prisma.import.updateMany({ where: { id }, data });
  const timer = setInterval(() => {
    const { phase, done, total } = latest ?? { phase: "reading", done: 0, total: 1 };
    const progressPercent = Math.min(100, Math.floor((100 * done) / Math.max(1, total)));
    writing = write({ progressPhase: phase.toUpperCase(), progressPercent, progressAt: clock() }).catch(
      () => undefined,
    );
  }, everyMs);
  return {
    onProgress: (progress: Progress) => void (latest = progress),
    async end() {
      clearInterval(timer);
      await writing;
    },
    clear: () => write(noProgress),
  };
}
