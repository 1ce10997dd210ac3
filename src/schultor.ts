import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { commands, runCommandLine, type Terminal } from "./cli/index.ts";

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  return terminal.question(question).finally(() => terminal.close());
}

/** Reads in raw mode, so that the terminal does not echo. */
async function askSecret(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  const stopped = new AbortController();
  terminal.once("SIGINT", () => stopped.abort(new Error("Stopped. Nothing was changed.")));
  process.stderr.write(question);
  return terminal.question("", { signal: stopped.signal }).finally(() => {
    terminal.close();
    process.stderr.write("\n");
  });
}

/** A second signal ends the program. */
function untilStopped(): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stopping.abort());
  return stopping.signal;
}

const terminal: Terminal = {
  out: console.log,
  err: console.error,
  readConfig: async () => (await import("./config/index.ts")).readConfig(),
  readRemoteSettings: async () => (await import("./config/index.ts")).readRemoteSettings(),
  screen: process.stderr,
  untilStopped,
  ...(process.stdin.isTTY && process.stderr.isTTY && { ask, askSecret }),
};

// Set instead of exiting at once, so that a pipe gets the whole text.
process.exitCode = await runCommandLine(commands, process.argv.slice(2), terminal);
