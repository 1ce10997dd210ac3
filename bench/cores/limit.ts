import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";

const root = "/sys/fs/cgroup";
const periodUs = 20_000;

/**
 * Gives each process this share of a processor, by a control group of its own, before other work of the machine;
 * answers how to end that once the processes have ended.
 *
 * Errors: those of the file system where this user may not make control groups.
 */
export function limitProcesses(pids: readonly number[], share: number): () => void {
  const quotaUs = Math.round(periodUs * share);
  const isUnified = existsSync(`${root}/cgroup.controllers`);
  const folders = pids.map((pid) => {
    const folder = `${root}/${isUnified ? "" : "cpu/"}schultor-bench-${pid}`;
    mkdirSync(folder);
    if (isUnified) {
      writeFileSync(`${folder}/cpu.weight`, "10000");
      writeFileSync(`${folder}/cpu.max`, `${quotaUs} ${periodUs}`);
    } else {
      writeFileSync(`${folder}/cpu.shares`, "100000");
      writeFileSync(`${folder}/cpu.cfs_period_us`, String(periodUs));
      writeFileSync(`${folder}/cpu.cfs_quota_us`, String(quotaUs));
    }
    writeFileSync(`${folder}/cgroup.procs`, String(pid));
    return folder;
  });
  return () => folders.forEach((folder) => rmdirSync(folder));
}
