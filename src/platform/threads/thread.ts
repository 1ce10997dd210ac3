// Runs in a thread: the default exports of the modules it is sent, one after another.
import { workerData } from "node:worker_threads";
import { lowerPriority, runTask } from "./run-task.ts";
import type { ThreadData } from "./pool.ts";

const { niceness } = workerData as ThreadData;
// Only Linux has priorities per thread. With piscina's `niceIncrement` no thread starts where they are forbidden.
if (niceness > 0 && process.platform === "linux") lowerPriority(niceness);

export default runTask;
