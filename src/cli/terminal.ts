import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { readRemoteSettings } from "../config/remote.ts";
import type { Terminal } from "./run.ts";

async function ask(question: string, signal?: AbortSignal): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const stopped = new AbortController();
  terminal.once("SIGINT", () => stopped.abort(new Error("Stopped. Nothing was changed.")));
  const signals = AbortSignal.any([stopped.signal, ...(signal === undefined ? [] : [signal])]);
  return terminal.question(question, { signal: signals }).finally(() => terminal.close());
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

export const processTerminal: Terminal = {
  out: console.log,
  err: console.error,
  readRemoteSettings,
  screen: process.stderr,
  untilStopped,
  ...(process.stdin.isTTY && process.stderr.isTTY && { ask, askSecret }),
};
