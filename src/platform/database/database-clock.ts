import { systemClock, type Clock } from "../clock.ts";
import type { Db } from "./db.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { WorkerJob } from "../jobs/worker.ts";

/** Units: milliseconds. `offset` is the database's time minus `performance.now()`, within `tolerance`. */
type Measured = { offset: number; tolerance: number; machineAhead: number };

const readTime = {
  name: "platform.readTime",
  text: `SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS "ms"`,
};
const samples = 3;

async function measure({ pool }: Db): Promise<Measured> {
  let best: Measured | undefined;
  for (let i = 0; i < samples; i++) {
    const sent = performance.now();
    const { rows } = await pool.query<{ ms: number }>(readTime);
    const machine = systemClock().getTime();
    const received = performance.now();
    const tolerance = (received - sent) / 2;
    const offset = rows[0]!.ms - (sent + tolerance);
    const measured = { offset, tolerance, machineAhead: machine - (received + offset) };
    if (best === undefined || tolerance < best.tolerance) best = measured;
  }
  return best!;
}

const clockOf =
  (offset: () => number): Clock =>
  () =>
    new Date(performance.now() + offset());

export async function readDatabaseClock(db: Db): Promise<Clock> {
  const { offset } = await measure(db);
  return clockOf(() => offset);
}

const tellSeconds = 5;

type Deps = { db: Db; log: Log; metrics: Metrics };

/** The database's time, for all shared decisions: a machine with a wrong clock would delete too early. */
export async function openDatabaseClock({ db, log, metrics }: Deps): Promise<{ clock: Clock; job: WorkerJob }> {
  let { offset, machineAhead } = await measure(db);
  let toldSeconds = 0;
  const tell = () => {
    const aheadSeconds = Math.round(machineAhead / 1000);
    if (Math.abs(aheadSeconds - toldSeconds) < tellSeconds) return;
    toldSeconds = aheadSeconds;
    log.warn({ aheadSeconds }, "the clock of this machine is not that of the database, by which the service goes");
  };
  tell();
  // Loaded here, because a command only measures once and needs no prom-client.
  const { watchMachineClock } = await import("../telemetry/metrics.ts");
  watchMachineClock(metrics, () => machineAhead / 1000);
  const job: WorkerJob = {
    name: "platform.readTime",
    everySeconds: 5,
    inEveryProcess: true,
    async run() {
      const measured = await measure(db);
      const { tolerance } = measured;
      // Moves as little as the measurement allows: the old offset may come from a shorter round trip.
      offset = Math.min(Math.max(offset, measured.offset - tolerance), measured.offset + tolerance);
      machineAhead = measured.machineAhead;
      tell();
    },
  };
  return { clock: clockOf(() => offset), job };
}

/** Replaces `Date.now` of this process; returns the undo. oidc-provider and the log have no option for a clock. */
export function setProcessTime(clock: Clock): () => void {
  const { now } = Date;
  Date.now = () => clock().getTime();
  return () => void (Date.now = now);
}
