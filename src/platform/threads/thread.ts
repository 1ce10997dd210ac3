// Runs in a thread: the default exports of the modules it is sent, one after another.
import { parentPort, workerData } from "node:worker_threads";
import { lowerPriority } from "./lower-priority.ts";
import type { Reply, Sent, ThreadData } from "./pool.ts";

const { niceness } = workerData as ThreadData;
// Only Linux has priorities per thread.
if (niceness > 0 && process.platform === "linux") lowerPriority(niceness);

async function work({ module, given }: Sent): Promise<Reply> {
  try {
    const { default: run } = (await import(module)) as { default: (given: unknown) => unknown };
    return { made: await run(given) };
  } catch (error) {
    return { error };
  }
}

parentPort!.on("message", (sent: Sent) => void work(sent).then((reply) => parentPort!.postMessage(reply)));
