import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { compileCache } from "./compile-cache.ts";
import { atFileEnd } from "./file-end.ts";

export type Program = {
  child: ChildProcess;
  /** Everything it has written so far. */
  output(): string;
  /** Resolves with the first match in what it writes. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
};

const root = join(import.meta.dirname, "../..");

/**
 * Runs a program, Node by default, as a process of its own, with nothing in its environment but what is given, and
 * where compiled code is kept; ends with the test file.
 */
export function startProgram(args: string[], env: Record<string, string> = {}, command = process.execPath): Program {
  const child = spawn(command, args, {
    cwd: root,
    env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: compileCache, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let written = "";
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      written += text;
      for (const listen of listeners) listen();
    });
  }
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  atFileEnd(async () => {
    child.kill("SIGTERM");
    const late = setTimeout(() => child.kill("SIGKILL"), 5000);
    await ended;
    clearTimeout(late);
  });
  return {
    child,
    output: () => written,
    ended,
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(written);
          if (match !== null) resolve(match);
        };
        listeners.add(look);
        void ended.then(() => reject(new Error(`ended without saying ${String(pattern)}:\n${written}`)));
        look();
      }),
  };
}

/** The service as `npm start` runs it, on a free port. */
export async function startMain(env: Record<string, string>): Promise<Program & { url: string }> {
  const program = startProgram(["src/main.ts"], { PORT: "0", DEMO_WORLD: "false", ...env });
  const [, url] = await program.says(/Health +(http:\/\/localhost:\d+)\//);
  return { ...program, url: url! };
}
