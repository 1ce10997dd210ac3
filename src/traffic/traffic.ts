import { workInBatches } from "../platform/jobs/batches.ts";
import { addDays, type Clock } from "../platform/clock.ts";
import { isDatabaseUnavailable, type Db } from "../platform/database/db.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import { deleteFigures, writeCounts, type Counted, type Metric, type Subject } from "./figures.ts";
import { makeLogs, makeLogSweep, type Logs } from "./logs.ts";
import { writeJobRuns, type JobRun } from "./job-runs.ts";

const hourMs = 3_600_000;
const mostKeys = 20_000;
const keptDays = { hours: 14, days: 731 };

type Owner = { clientId?: string | null | undefined; schoolId?: string | null | undefined };

export type Traffic = {
  count(metric: Metric, outcome: string, owner?: Owner): void;
  noteJob(run: Pick<JobRun, "name" | "durationMs" | "outcome">): void;
  noteRequest: Logs["noteRequest"];
  noteStep: Logs["noteStep"];
  flush(): Promise<void>;
  jobs: WorkerJob[];
};

export function makeTraffic({ db, clock }: { db: Db; clock: Clock }): Traffic {
  const logs = makeLogs({ db, clock });
  let counted = new Map<string, Counted>();
  let runs = new Map<string, JobRun>();

  function add(metric: Metric, subject: Subject, { outcome, hour }: { outcome: string; hour: number }): void {
    const key = `${metric} ${subject} ${hour} ${outcome}`;
    const entry = counted.get(key);
    if (entry !== undefined) entry.count++;
    else if (counted.size < mostKeys || subject === "")
      counted.set(key, { metric, subject, outcome, hour: new Date(hour * hourMs), count: 1 });
  }

  async function flush(): Promise<void> {
    const [written, ran] = [counted, runs];
    counted = new Map();
    runs = new Map();
    await writeCounts(db.pool, [...written.values()]).catch((error: unknown) => {
      if (isDatabaseUnavailable(error)) takeBack(written);
      throw error;
    });
    await writeJobRuns(db.pool, [...ran.values()]);
  }

  function takeBack(counts: ReadonlyMap<string, Counted>): void {
    for (const [key, count] of counts) {
      const later = counted.get(key);
      if (later !== undefined) later.count += count.count;
      else if (counted.size < mostKeys) counted.set(key, count);
    }
  }

  return {
    count(metric, outcome, { clientId, schoolId } = {}) {
      const at = { outcome, hour: Math.floor(clock().getTime() / hourMs) };
      add(metric, "", at);
      if (clientId) add(metric, `app:${clientId}`, at);
      if (schoolId) add(metric, `school:${schoolId}`, at);
    },
    noteRequest: logs.noteRequest,
    noteStep: logs.noteStep,
    noteJob(run) {
      const at = clock();
      const before = runs.get(run.name);
      const since =
        run.outcome === "done"
          ? { doneAt: at, failures: 0 }
          : { doneAt: before?.doneAt ?? null, failures: (before?.failures ?? 0) + 1 };
      runs.set(run.name, { ...run, at, ...since });
    },
    async flush() {
      await flush();
      await logs.flush();
    },
    jobs: [
      { name: "traffic.flushLogs", everySeconds: 15, inEveryProcess: true, run: logs.flush },
      { name: "traffic.sweepLogs", everySeconds: 600, run: makeLogSweep({ db: db.pool, clock }) },
      { name: "traffic.flush", everySeconds: 60, inEveryProcess: true, run: flush },
      {
        name: "traffic.sweep",
        everySeconds: 3600,
        async run(signal) {
          for (const [step, days] of [["HOUR", keptDays.hours] as const, ["DAY", keptDays.days] as const]) {
            const before = addDays(clock(), -days);
            await workInBatches(signal, (batch) => deleteFigures(db.pool, { step, before, batch }));
          }
        },
      },
    ],
  };
}
