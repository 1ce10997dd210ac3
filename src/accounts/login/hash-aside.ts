import type { Argon2Parameters } from "node:crypto";
import { makeThreadPool } from "../../platform/threads/index.ts";

const run = makeThreadPool({ idleMs: 600_000 });
const task = { module: new URL("./hash.ts", import.meta.url), seconds: 60 };

/**
 * Hashes with argon2id in a thread, beside the few that Node has for files and names of hosts. The caller limits how
 * many run at a time.
 */
export async function hashAside(parameters: Argon2Parameters): Promise<Buffer> {
  return Buffer.from((await run(task, parameters)) as Uint8Array);
}
