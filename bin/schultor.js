#!/usr/bin/env node
// The command line on the Node of this package, whichever Node starts this file.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../src/schultor.ts", import.meta.url));
const ownNode = fileURLToPath(new URL("../node_modules/node/bin/node", import.meta.url));
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major > 24 || (major === 24 && minor >= 7)) {
  const { enableCompileCache } = await import("node:module");
  enableCompileCache();
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
