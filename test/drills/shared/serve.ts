import { execFile, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { findPort } from "../../support/find-port.ts";

/** A process of the service, of the version whose files are in `root`. It is never started again. */
export type Process = {
  role: "web" | "worker" | "all";
  port: number;
  /** Whether it ended before it was stopped. */
  hasEnded(): boolean;
  /** Shape: answers its exit code, null where it had to be killed. */
  stop(): Promise<number | null>;
};

type Wishes = { root: string; role: Process["role"]; logFile: string; env: Record<string, string> };

const ownEnv = () => ({ PATH: process.env["PATH"] ?? "", NODE_ENV: "development", DEMO_WORLD: "false" });
const patienceMs = 60_000;

export async function startProcess({ root, role, logFile, env }: Wishes): Promise<Process> {
  const port = await findPort();
  const log = openSync(logFile, "a");
  const child = spawn(process.execPath, ["src/main.ts"], {
    cwd: root,
    env: { ...ownEnv(), ROLE: role, PORT: String(port), ...env },
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  return {
    role,
    port,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), patienceMs);
      return ended.finally(() => clearTimeout(late));
    },
  };
}

/** The lines of a log that tell of errors. */
export const errorsIn = (logFile: string): string[] =>
  readFileSync(logFile, "utf8")
    .split("\n")
    .filter((line) => /^\d\d:\d\d:\d\d (ERROR|FATAL) /.test(line));

/** Types a command of the version whose files are in `root`; answers what it prints. */
export async function type(root: string, args: string[], env: Record<string, string>): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, "bin/schultor.js"), ...args], {
    cwd: root,
    env: { ...ownEnv(), ...env },
  });
  return stdout;
}
