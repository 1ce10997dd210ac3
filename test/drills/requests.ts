/**
 * npm run drill -- requests --count 100000 --seed 11
 *
 * Sends generated requests, valid, nearly valid, hostile and broken, to a service of its own: none may be answered by a
 * failure or with a secret. `npm test` sends a few of them.
 */
import { spawn } from "node:child_process";
import { parseArgs } from "node:util";

const { count, seed } = parseArgs({
  options: { count: { type: "string", default: "100000" }, seed: { type: "string", default: "1" } },
}).values;
const args = ["vitest", "run", "--project", "slow", "test/security/requests/hostile.test.ts"];
const env = { ...process.env, TEST_RUNS: count, TEST_SEED: seed };
spawn("npx", args, { stdio: "inherit", env }).once("close", (code) => (process.exitCode = code ?? 1));
