import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, realpathSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const guards = new Map<string, ChildProcess>();
const memory = "/dev/shm";
const enoughBytes = 4 * 2 ** 30;

/** Making a database takes a seventh of the time in memory. */
function findPlace(): string {
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize < enoughBytes ? tmpdir() : memory;
}

/**
 * A new data folder that the server's own user can enter when the tests run as root; it does not outlive this
 * process.
 */
export function makeDataDir(): string {
  const dataDir = realpathSync(mkdtempSync(join(findPlace(), "schultor-test-")));
  chmodSync(dataDir, 0o711);
  guards.set(dataDir, startGuard(dataDir));
  return dataDir;
}

export function removeDataDir(dataDir: string): void {
  guards.get(dataDir)?.kill("SIGKILL");
  guards.delete(dataDir);
  const cluster = join(dataDir, "postgres");
  if (existsSync(cluster)) rmSync(realpathSync(cluster), { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}

/**
 * Ends the folder's server and removes the folder when this process is gone without having done so, even by kill -9.
 */
function startGuard(dataDir: string): ChildProcess {
  const script = `
    cat
    pid=$(head -n 1 "$0/postgres/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid"
    for wait in 1 2 4; do sleep $wait; rm -rf "$(readlink -f "$0/postgres")" "$0"; done`;
  const guard = spawn("sh", ["-c", script, dataDir], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  guard.unref();
  (guard.stdin as unknown as { unref(): void }).unref();
  return guard;
}
