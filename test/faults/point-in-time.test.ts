import { expect, test } from "vitest";
import { isInstalled } from "../../drills/point-in-time/pgbackrest.ts";
import { startProgram } from "../support/program.ts";

test.skipIf(!isInstalled)(
  "a server is restored by pgBackRest to the moment before a deletion: nothing that was used, ended or sent since counts again (needs Debian's pgbackrest and PostgreSQL)",
  async () => {
    const program = startProgram(["drills/run.ts", "point-in-time"]);
    expect((await program.ended).code, program.output()).toBe(0);
    expect(program.output()).not.toContain("FAULT");
    expect(program.output()).toContain("ok    the deleted are there, and nobody else");
  },
);
