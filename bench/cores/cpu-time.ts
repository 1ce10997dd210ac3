import { readdirSync, readFileSync } from "node:fs";

const ticksPerSecond = 100;

/** Fields of /proc/<pid>/stat behind the name, which may hold spaces; empty once the process has ended. */
function readStat(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
  } catch {
    return [];
  }
}

/** Processes that this one started and that run now. */
export function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((one) => readStat(one)[1] === String(pid));
}

export const parentOf = (pid: number): number => Number(readStat(pid)[1]);

/** CPU time of processes, in seconds; `withEnded` adds that of their children that have ended. */
export function cpuSeconds(pids: readonly number[], { withEnded = false } = {}): number {
  const columns = withEnded ? [11, 12, 13, 14] : [11, 12];
  const ticks = pids.flatMap((pid) => columns.map((column) => Number(readStat(pid)[column] ?? 0)));
  return ticks.reduce((sum, one) => sum + one, 0) / ticksPerSecond;
}
