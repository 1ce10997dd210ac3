// Hashes what it is sent, one after another.
import { argon2Sync, type Argon2Parameters } from "node:crypto";
import { parentPort } from "node:worker_threads";

parentPort!.on("message", (parameters: Argon2Parameters) => {
  parentPort!.postMessage(argon2Sync("argon2id", parameters));
});
