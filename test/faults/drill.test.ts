// @module-tag slow
import { expect, test } from "vitest";
import { isInstalled } from "../drills/point-in-time/pgbackrest.ts";
import { startProgram } from "../support/program.ts";
import { isLeftOut } from "../support/programs.ts";

async function runDrill(...args: string[]): Promise<string> {
  const program = startProgram(["test/drills/run.ts", ...args]);
  expect((await program.ended).code, program.output()).toBe(0);
  return program.output();
}

test("a short drill: nothing that was acknowledged is lost when a process is killed and all connections are cut", async () => {
  const args = ["--minutes", "0.05", "--seed", "3", "--processes", "1", "--only", "kill-worker,cut-connections"];
  expect(await runDrill("faults", ...args)).toContain("Nothing was lost, doubled or left over.");
});

const restored =
  "a server is restored by pgBackRest to the moment before a deletion: nothing that was used, ended or sent since counts again";
test.skipIf(isLeftOut(restored, isInstalled ? null : "it needs Debian's pgbackrest and PostgreSQL"))(
  restored,
  async () => {
    const output = await runDrill("point-in-time");
    expect(output).not.toContain("FAULT");
    expect(output).toContain("ok    the deleted are there, and nobody else");
  },
);
