// Runs in a thread: the default exports of the modules it is sent, one after another.
import { parentPort, workerData } from "node:worker_threads";
import { lowerPriority, runTask, type Sent } from "./run-task.ts";
import type { ThreadData } from "./pool.ts";

const { niceness } = workerData as ThreadData;
// Only Linux has priorities per thread.
if (niceness > 0 && process.platform === "linux") lowerPriority(niceness);

parentPort!.on("message", (sent: Sent) => void runTask(sent).then((reply) => parentPort!.postMessage(reply)));
