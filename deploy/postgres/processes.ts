import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { giveTo, type Account } from "./account.ts";

type Started = { command: string; args: readonly string[]; folder: string; log: string; account: Account };

/** Starts a program that goes on when we end; what it says goes to a file. */
export function startProcess({ command, args, folder, log, account }: Started): number {
  const output = openSync(log, "a", 0o600);
  giveTo(account, log);
  const child = spawn(command, args, {
    cwd: folder,
    detached: true,
    stdio: ["ignore", output, output],
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LANG: "C.UTF-8", HOME: folder },
    ...account,
  });
  closeSync(output);
  child.unref();
  child.on("error", () => undefined);
  if (child.pid === undefined) throw new Error(`${command} could not be started.`);
  return child.pid;
}

/** Whether the process runs; one that ended and was not yet waited for does not. */
export function isRunning(pid: number): boolean {
  const status = `/proc/${pid}/stat`;
  if (!existsSync(status)) return false;
  try {
    return !/\) [ZX] /.test(readFileSync(status, "utf8"));
  } catch {
    return false;
  }
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

const pauseMs = 100;

/** Resolves when `isSo` answers true; throws after the time. */
export async function until(what: string, seconds: number, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`${what}: not within ${seconds} s`);
    await sleep(pauseMs);
  }
}

/** Ends processes in the given order, each only when those before it have ended. */
export async function endProcesses(pids: readonly number[], name: NodeJS.Signals, seconds: number): Promise<void> {
  for (const pid of pids) {
    // One that is stopped takes no other signal before.
    signal(pid, "SIGCONT");
    signal(pid, name);
    await until(`process ${pid} ends`, seconds, () => !isRunning(pid)).catch(() => signal(pid, "SIGKILL"));
  }
}
