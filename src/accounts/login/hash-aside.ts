import type { Argon2Parameters } from "node:crypto";
import { makeThreadPool } from "../../platform/threads/index.ts";

const run = makeThreadPool({ idleMs: 600_000 });
const runBehind = makeThreadPool({ niceness: 10 });
const task = { module: new URL("./hash.ts", import.meta.url), seconds: 60 };

/** Hashes with argon2id in a thread of its own, so that Node's pool stays free. The caller limits how many run. */
export async function hashAside(parameters: Argon2Parameters): Promise<Buffer> {
  return Buffer.from((await run(task, parameters)) as Uint8Array);
}

/** Hashes at a lower priority than sign-ins. */
export async function hashBehind(parameters: Argon2Parameters): Promise<Buffer> {
  return Buffer.from((await runBehind(task, parameters)) as Uint8Array);
}
