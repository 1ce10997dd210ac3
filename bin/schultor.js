#!/usr/bin/env node
// The command line on the Node of this package, whichever Node starts this file.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../src/schultor.ts", import.meta.url));
const ownNode = fileURLToPath(new URL("../node_modules/node/bin/node", import.meta.url));
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major > 24 || (major === 24 && minor >= 7)) {
  const { enableCompileCache } = await import("node:module");
  // Node's default is below the shared /tmp, where another user can put code that this one then runs.
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "schultor");
  if (process.env.NODE_COMPILE_CACHE === undefined) enableCompileCache(cache);
  await import(program);
} else if (existsSync(ownNode)) {
  const { status, signal } = spawnSync(ownNode, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  if (signal !== null) process.kill(process.pid, signal);
  process.exitCode = status ?? 1;
} else {
  console.error(`schultor needs Node 24.7 or later; this is ${process.version}. Run \`npm ci\`, which brings it.`);
  process.exitCode = 1;
}
