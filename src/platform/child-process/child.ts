// A child process: runs the default exports of the modules it is sent, one after another. A thread of the same file
// watches its memory, because the work may block the main thread.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { isMainThread, Worker } from "node:worker_threads";
import { lowerPriority, runTask, type Sent } from "../threads/run-task.ts";
import type { Finished, Reply } from "./index.ts";

const limits = process.argv.slice(2);
const [parent, memoryMb] = limits.map(Number) as [number, number];
const everyMs = 20;

function watch(): void {
  setInterval(() => {
    const isOrphan = process.ppid !== parent;
    if (isOrphan || process.memoryUsage.rss() > memoryMb * 2 ** 20) process.kill(process.pid, "SIGKILL");
  }, everyMs);
}

function serve(): void {
  lowerPriority(10);
  try {
    // If the machine's memory is used up, Linux kills this process first.
    writeFileSync("/proc/self/oom_score_adj", "1000");
  } catch {
    // Other systems have no such file.
  }
  const watching = once(new Worker(new URL(import.meta.url), { argv: limits }), "online");
  process.on("message", (sent: Sent) => {
    void watching
      .then(() => runTask(sent))
      .then(
        (made): Reply => ({ made }),
        (error: unknown): Reply => ({ error }),
      )
      .then((reply) => process.send!({ reply, isLarge: isLarge() } satisfies Finished));
  });
  process.once("disconnect", () => process.exit());
}

/** What one piece of work leaves in memory must not be counted against the next. */
const isLarge = (): boolean => process.memoryUsage.rss() > (memoryMb / 3) * 2 ** 20;

if (isMainThread) serve();
else watch();
