// @module-tag slow
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { makeChildPool } from "../../src/platform/child-process/index.ts";
import { makeDataDir } from "../support/data-dir.ts";
import type { Asked } from "./child-work.ts";

const module = new URL("./child-work.ts", import.meta.url);
const folder = makeDataDir();
const run = makeChildPool({ memoryMb: 160 });
const ask = (asked: Asked, seconds = 60, signal?: AbortSignal) =>
  run<Asked, unknown>({ module, seconds }, asked, signal);

/** The id of the child once it is at work; null before. */
function readPid(path: string): number | null {
  try {
    return Number(readFileSync(path, "utf8")) || null;
  } catch {
    return null;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("work is done without the environment of the service, and its errors are those of the call", async () => {
  process.env["SECRET_OF_THE_SERVICE"] = "s";
  const [made, environment, failed] = await Promise.allSettled([
    ask({ does: "square", n: 5 }),
    ask({ does: "show environment" }),
    ask({ does: "throw" }),
  ]);
  delete process.env["SECRET_OF_THE_SERVICE"];
  expect(made).toEqual({ status: "fulfilled", value: 25 });
  expect(environment).toMatchObject({ status: "fulfilled", value: {} });
  expect(JSON.stringify(environment)).not.toContain("SECRET");
  expect(failed).toMatchObject({ status: "rejected", reason: { name: "RangeError", message: "refused" } });
});

test.each<[Asked["does"], string]>([
  ["fill memory", "memory"],
  ["fill buffers", "memory"],
  ["exit", "crash"],
])("to %s ends the child alone", async (does, why) => {
  await expect(ask({ does })).rejects.toMatchObject({ name: "ChildEnded", why });
});

test("what takes too long, or is no longer wanted, has ended when the call fails", async () => {
  const [late, unwanted] = ["late", "unwanted"].map((name) => join(folder, name)) as [string, string];
  await expect(ask({ does: "run on", pidFile: late }, 0.7)).rejects.toMatchObject({ why: "time" });
  const leaving = new AbortController();
  const work = ask({ does: "run on", pidFile: unwanted }, 60, leaving.signal);
  work.catch(() => undefined);
  await expect.poll(() => readPid(unwanted)).not.toBeNull();
  leaving.abort(new Error("cancelled"));
  await expect(work).rejects.toThrow("cancelled");
  const pids = [late, unwanted].map(readPid).filter((pid) => pid !== null);
  expect(pids.filter(isRunning)).toEqual([]);
  await expect(ask({ does: "square" }, 60, leaving.signal)).rejects.toThrow("cancelled");
});

test("a child is kept for the next work until it failed, became large or had none for a while", async () => {
  const paths = ["first", "second", "third"].map((name) => join(folder, name)) as [string, string, string];
  const few = makeChildPool({ memoryMb: 384, idleMs: 600_000 });
  const square = (pidFile: string, pool = few) => pool({ module, seconds: 60 }, { does: "square", pidFile });
  await square(paths[0]);
  await square(paths[1]);
  expect(readPid(paths[1])).toBe(readPid(paths[0]));
  await few({ module, seconds: 60 }, { does: "keep much memory", pidFile: paths[1] });
  expect(readPid(paths[1])).toBe(readPid(paths[0]));
  expect(isRunning(readPid(paths[0])!)).toBe(false);
  await square(paths[0]);
  await expect(few({ module, seconds: 60 }, { does: "throw" })).rejects.toThrow("refused");
  expect(isRunning(readPid(paths[0])!)).toBe(false);
  await square(paths[2], makeChildPool({ memoryMb: 160, idleMs: 1 }));
  await expect.poll(() => isRunning(readPid(paths[2])!)).toBe(false);
});

test("a child that never yields ends when the process that started it is killed", async () => {
  const pidFile = join(folder, "orphan");
  const parent = spawn(process.execPath, [fileURLToPath(new URL("./child-parent.ts", import.meta.url)), pidFile], {
    stdio: "ignore",
  });
  await expect.poll(() => readPid(pidFile), { timeout: 20_000 }).not.toBeNull();
  parent.kill("SIGKILL");
  await expect.poll(() => isRunning(readPid(pidFile)!)).toBe(false);
});
