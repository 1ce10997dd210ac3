// @module-tag slow
import { expect, test } from "vitest";
import { isInstalled } from "../drills/point-in-time/pgbackrest.ts";
import { startProgram } from "../support/program.ts";
import { isLeftOut } from "../support/programs.ts";

const claim =
  "a server is restored by pgBackRest to the moment before a deletion: nothing that was used, ended or sent since counts again";

test.skipIf(isLeftOut(claim, isInstalled ? null : "it needs Debian's pgbackrest and PostgreSQL"))(claim, async () => {
  const program = startProgram(["test/drills/run.ts", "point-in-time"]);
  expect((await program.ended).code, program.output()).toBe(0);
  expect(program.output()).not.toContain("FAULT");
  expect(program.output()).toContain("ok    the deleted are there, and nobody else");
});
