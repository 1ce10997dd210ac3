// @module-tag slow
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { expect, test } from "vitest";
import { makeDataDir } from "../support/data-dir.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { startProgram } from "../support/program.ts";

test("a file of 200 MB with 100,000 people is read with less than 300 MB of memory", async () => {
  const db = await testDatabase();
  const school = await makeMakers(db).school();
  const path = join(makeDataDir(), "large.csv");
  const remark = `"${'A remark that goes on\nfor many lines, with ä; and ""quotes"".\n'.repeat(32)}"`;
  await pipeline(
    (function* () {
      yield "id;role;first_name;last_name;classes;remark\n";
      for (let n = 0; n < 100_000; n++) yield `${n};student;Ada ${n};Muster;${n % 400}a;${remark}\n`;
    })(),
    createWriteStream(path),
  );
  const { output, ended } = startProgram(["test/imports/memory-subject.ts", path, school], { DATABASE_URL: db.url });
  expect((await ended).code).toBe(0);
  const { state, created, memoryMb } = JSON.parse(output()) as { state: string; created: number; memoryMb: number };
  expect([state, created]).toEqual(["READY", 100_000]);
  expect(memoryMb).toBeLessThan(300);
});
