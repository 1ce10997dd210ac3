// @module-tag slow
import { existsSync, readFileSync, readdirSync, readlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { startProgram } from "../support/program.ts";

test("a short drill: nothing that was acknowledged is lost when a process is killed and all connections are cut", async () => {
  const args = ["--minutes", "0.05", "--seed", "3", "--processes", "1", "--only", "kill-worker,cut-connections"];
  const program = startProgram(["test/drills/run.ts", "faults", ...args]);
  const { code } = await program.ended;
  expect(code, program.output()).toBe(0);
  expect(program.output()).toContain("Nothing was lost, doubled or left over.");
});

/** The processes that a process started, and those that these started. */
function listBelow(pid: number): number[] {
  let children = "";
  try {
    children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  } catch {
    // It ended meanwhile.
  }
  return children
    .split(" ")
    .filter(Boolean)
    .map(Number)
    .flatMap((child) => [child, ...listBelow(child)]);
}

/** The disk on which a process works, if it is one of a drill. */
function findDisk(pid: number): string[] {
  try {
    return /^.*schultor-drill-disk-\w+/.exec(readlinkSync(`/proc/${pid}/cwd`)) ?? [];
  } catch {
    return [];
  }
}

test("a drill that is told to stop ends everything that it started", async () => {
  const program = startProgram(["test/drills/run.ts", "faults", "--only", "kill-worker", "--processes", "1"]);
  const [, folder] = await program.says(/logs in (\S+)\.\n/);
  // The processes of the service are there, in whatever state.
  await expect
    .poll(() => existsSync(folder!) && readdirSync(folder!).filter((name) => name.endsWith(".log")).length)
    .toBe(2);
  const started = listBelow(program.child.pid!);
  expect(started.length).toBeGreaterThanOrEqual(3);
  const disks = new Set(started.flatMap(findDisk));
  expect(disks.size).toBe(1);
  program.child.kill("SIGTERM");
  expect((await program.ended).code, program.output()).toBe(143);
  await expect.poll(() => started.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  // Another run of tests may have its own.
  const mounts = readFileSync("/proc/mounts", "utf8");
  expect([...disks].filter((disk) => mounts.includes(disk))).toEqual([]);
});
