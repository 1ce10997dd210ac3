import type { Argon2Parameters } from "node:crypto";
import { once } from "node:events";
import { Worker } from "node:worker_threads";

const free: Worker[] = [];

/**
 * Hashes with argon2id in a thread of its own, beside the few that Node has for files and names of hosts. As many
 * threads stay as there were hashes at the same time; the caller bounds them.
 */
export async function hashAside(parameters: Argon2Parameters): Promise<Buffer> {
  const thread = free.pop() ?? new Worker(new URL("./hash-thread.ts", import.meta.url));
  thread.ref();
  const answer = once(thread, "message") as Promise<[Uint8Array]>;
  thread.postMessage(parameters);
  // A thread that failed has ended.
  const [hash] = await answer;
  thread.unref();
  free.push(thread);
  return Buffer.from(hash);
}
