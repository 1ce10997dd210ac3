// Hashes what it is sent, one after another, in a thread that gives way to the one that answers requests.
import { argon2Sync, type Argon2Parameters } from "node:crypto";
import { getPriority, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";

const lowerBy = 5;
const lowest = 19;

// On Linux a priority is that of the thread; elsewhere it would be that of the whole process.
if (process.platform === "linux") setPriority(Math.min(lowest, getPriority() + lowerBy));

parentPort!.on("message", (parameters: Argon2Parameters) => {
  parentPort!.postMessage(argon2Sync("argon2id", parameters));
});
