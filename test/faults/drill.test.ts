import { expect, test } from "vitest";
import { startProgram } from "../support/program.ts";

test("a short drill: nothing that was acknowledged is lost when a process is killed and all connections are cut", async () => {
  const args = ["--minutes", "0.05", "--seed", "3", "--processes", "1", "--only", "kill-worker,cut-connections"];
  const program = startProgram(["drills/run.ts", "faults", ...args]);
  const { code } = await program.ended;
  expect(code, program.output()).toBe(0);
  expect(program.output()).toContain("Nothing was lost, doubled or left over.");
});
