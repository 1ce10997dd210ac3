import { createInterface } from "node:readline/promises";
import { commands, runCommandLine, type Terminal } from "./cli/index.ts";

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  return terminal.question(question).finally(() => terminal.close());
}

const terminal: Terminal = {
  out: console.log,
  err: console.error,
  readConfig: async () => (await import("./config/index.ts")).readConfig(),
  screen: process.stderr,
  ...(process.stdin.isTTY && process.stderr.isTTY && { ask }),
};

// The code is set instead of ending at once, so that a pipe gets the whole text.
process.exitCode = await runCommandLine(commands, process.argv.slice(2), terminal);
