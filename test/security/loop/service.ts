// The service in production in one process, which says how long its event loop stood still.
import { isMainThread } from "node:worker_threads";
import { readConfig } from "../../../src/config/index.ts";
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
  };
  const log = makeLog({ level: "fatal", format: "json" });
  const service = await startService(config, { log, say: () => undefined, onLost: (what) => log.fatal(what) });
  const watch = watchLoop();
  process.on("message", ({ blockMs }: { blockMs: number }) => {
    for (const end = performance.now() + blockMs; performance.now() < end;);
    // After the tick that measures what was before.
    setTimeout(() => process.send?.({ longestMs: watch.take() }), 2 * tickMs);
  });
  process.once("SIGTERM", () => void service.stop().then(() => process.exit(0)));
  process.once("disconnect", () => process.exit(1));
  process.send?.({ url: service.config.issuerUrl });
}
