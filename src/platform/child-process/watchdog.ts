// Runs in a thread of the child, because the work may block its main thread.
import { workerData } from "node:worker_threads";

export type Limits = { parent: number; memoryMb: number };

const { parent, memoryMb } = workerData as Limits;
const everyMs = 20;

setInterval(() => {
  const isOrphan = process.ppid !== parent;
  if (isOrphan || process.memoryUsage.rss() > memoryMb * 2 ** 20) process.kill(process.pid, "SIGKILL");
}, everyMs);
