// A child process: runs the default exports of the modules it is sent, one after another.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { lowerPriority } from "../threads/lower-priority.ts";
import { runTask, type Sent } from "../threads/run-task.ts";
import type { Finished } from "./index.ts";
import type { Limits } from "./watchdog.ts";

const [parent, memoryMb] = process.argv.slice(2).map(Number) as [number, number];

lowerPriority(10);
try {
  // If the machine's memory is used up, Linux kills this process first.
  writeFileSync("/proc/self/oom_score_adj", "1000");
} catch {
  // Other systems have no such file.
}

const watchdog = new Worker(new URL("./watchdog.ts", import.meta.url), {
  workerData: { parent, memoryMb } satisfies Limits,
});

const watching = once(watchdog, "online");

process.on("message", (sent: Sent) => {
  void watching
    .then(() => runTask(sent))
    .then((reply) => process.send!({ reply, isLarge: isLarge() } satisfies Finished));
});
process.once("disconnect", () => process.exit());

/** What one piece of work leaves in memory must not be counted against the next. */
const isLarge = (): boolean => process.memoryUsage.rss() > (memoryMb / 3) * 2 ** 20;
