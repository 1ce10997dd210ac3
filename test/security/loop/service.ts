// The service in production in one process, which says how long its event loop stood still. Its jobs run when they are
// asked for, and may call providers and receivers on this machine.
import { isMainThread } from "node:worker_threads";
import { makeApp } from "../../../src/app.ts";
import { readConfig } from "../../../src/config/index.ts";
import { openShares } from "../../../src/platform/database/shares.ts";
import { makeLog } from "../../../src/platform/telemetry/log.ts";
import { startService } from "../../../src/start.ts";

const tickMs = 10;

/**
 * Measures the longest time that the loop worked without a turn for a timer. It is CPU time of this thread, because
 * the processors of a busy machine also stop it for others.
 */
function watchLoop(): { take(): number } {
  let [longestMs, last] = [0, process.threadCpuUsage()];
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(last);
    longestMs = Math.max(longestMs, (user + system) / 1000);
    last = process.threadCpuUsage();
  }, tickMs);
  return {
    take() {
      const taken = longestMs;
      longestMs = 0;
      return taken;
    },
  };
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
  process.on("message", ({ blockMs, job }: { blockMs: number; job?: string }) => {
    for (const end = performance.now() + blockMs; performance.now() < end;);
    if (job === undefined) {
      // After the tick that measures what was before.
      setTimeout(() => process.send?.({ longestMs: watch.take() }), 2 * tickMs);
    } else
      void run(job).then(
        () => process.send?.({}),
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
