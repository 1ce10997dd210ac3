// The service in production in one process, which says how long its event loop stood still. Its jobs run when they are
// asked for, and may call providers and receivers on this machine.
import { isMainThread } from "node:worker_threads";
import { makeApp } from "../../../src/app.ts";
import { readConfig } from "../../../src/config/index.ts";
import { openShares } from "../../../src/platform/database/shares.ts";
import { makeLog } from "../../../src/platform/telemetry/log.ts";
import { startService } from "../../../src/start.ts";

const tickMs = 5;

/** Returns the CPU time that this thread took since. Units: milliseconds. */
function startMeasuring(): () => number {
  const began = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(began);
    return (user + system) / 1000;
  };
}

/**
 * Measures the longest time that the loop worked without a turn for a timer. It is CPU time of this thread, because
 * the processors of a busy machine also stop it for others.
 */
function watchLoop(): { take(): number } {
  let [longestMs, since] = [0, startMeasuring()];
  setInterval(() => {
    longestMs = Math.max(longestMs, since());
    since = startMeasuring();
  }, tickMs);
  return {
    take() {
      const taken = longestMs;
      longestMs = 0;
      return taken;
    },
  };
}

const rows = Array.from({ length: 4000 }, (_, n) => ({ id: `person-${n}`, name: `Änne Muster ${n}`, groups: [n] }));
const text = JSON.stringify(rows);

/** CPU time that a fixed piece of work takes now: more while others use the processor's caches. Units: milliseconds. */
function measureWork(): number {
  const since = startMeasuring();
  for (let n = 0; n < 5; n++) JSON.stringify(JSON.parse(text));
  return since();
}

if (isMainThread) {
  const config = {
    ...readConfig({ ...process.env, NODE_ENV: "development", PORT: "0", DEMO_WORLD: "false" }),
    production: true,
    // Only the jobs of every process run by themselves.
    role: "web" as const,
  };
  const log = makeLog({ level: "fatal", format: "json" });
  const service = await startService(config, { log, say: () => undefined, onLost: (what) => log.fatal(what) });
  const url = config.databaseUrl!;
  const shares = openShares({ url, poolSize: config.databasePoolSize, role: "worker", onConnectionError: () => {} });
  const local = { ...service.config, role: "worker" as const, production: false, allowPrivateAddresses: true };
  const app = await makeApp(local, { clock: () => new Date(), log, shares });
  const watch = watchLoop();
  const run = (job: string) => app.jobs.find(({ name }) => name === job)!.run(new AbortController().signal);
  // After the tick that measures what was before.
  const takeLongest = () => new Promise<number>((resolve) => setTimeout(() => resolve(watch.take()), 2 * tickMs));
  const answers: Record<string, (what: string) => unknown> = {
    take: takeLongest,
    block(ms) {
      for (const since = startMeasuring(); since() < Number(ms););
      return takeLongest();
    },
    async work() {
      const took = measureWork();
      await takeLongest();
      return took;
    },
    run: async (job) => void (await run(job)),
  };
  process.on("message", ({ ask, of }: { ask: string; of: string }) => {
    Promise.resolve(answers[ask]!(of)).then(
      (answer) => process.send?.({ answer }),
      (error: unknown) => process.send?.({ failure: String(error) }),
    );
  });
  const stop = async () => {
    await app.close();
    await shares.close();
    await service.stop();
    process.exit(0);
  };
  process.once("SIGTERM", () => void stop());
  process.once("disconnect", () => process.exit(1));
  process.send?.({ url: service.config.issuerUrl, jobs: app.jobs.map(({ name }) => name) });
}
