import { spawn } from "node:child_process";
import { join } from "node:path";
import { compileCache } from "./compile-cache.ts";

const root = join(import.meta.dirname, "../..");

export type Typed = { text: string; isFenced: boolean };

/** The commands of a page in their order: lines of shell blocks, and inline code that begins like a command. */
export function readCommands(page: string): Typed[] {
  const commands: Typed[] = [];
  const pattern = /^( *)```sh\n([^]*?)^ *```$|`((?:[A-Z_]+=[^\s`]+ )*(?:npm|npx|eval) [^`]+)`/gm;
  for (const [, indent, block, inline] of page.matchAll(pattern)) {
    if (inline !== undefined) commands.push({ text: inline, isFenced: false });
    const lines = (block ?? "").replaceAll(new RegExp(`^${indent}`, "gm"), "").replaceAll(/\\\n\s*/g, "");
    for (const text of lines.split("\n")) if (text.trim() !== "") commands.push({ text, isFenced: true });
  }
  return commands;
}

export type Ended = { text: string; code: number; output: string };

/** Starts our own command, by this program, without the start of npm before it. */
const shortNpx = (schultor: string) => `npx() {
  if [ "$1" = schultor ]; then shift; "${schultor}" "$@"; else command npx "$@"; fi
}`;

/**
 * Types the commands into one shell, each to its end, whatever became of the one before. Only the first goes through
 * npm's own `npx`; the others start `schultor` at once.
 */
export async function typeCommands(
  texts: readonly string[],
  env: Record<string, string>,
  { folder = root, schultor = join(root, "node_modules/.bin/schultor") } = {},
): Promise<Ended[]> {
  const mark = "--- ended with";
  const shell = spawn("bash", {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], NODE_COMPILE_CACHE: compileCache, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  // Commands read the shell's own input otherwise.
  const first = texts.findIndex((text) => text.includes("npx schultor"));
  for (const [at, text] of texts.entries()) {
    shell.stdin.write(`{ ${text}\n} 2>&1 </dev/null\ncode=$?; echo; echo "${mark} $code"\n`);
    if (at === first) shell.stdin.write(`${shortNpx(schultor)}\n`);
  }
  shell.stdin.end();
  await new Promise((resolve) => shell.once("close", resolve));
  const parts = output.split(new RegExp(`^${mark} (\\d+)\\n`, "m"));
  return texts.map((text, at) => ({ text, output: parts[2 * at] ?? "", code: Number(parts[2 * at + 1]) }));
}
