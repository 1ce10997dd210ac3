// @module-tag slow
import { createWriteStream, statSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { expect, test } from "vitest";
import { makeDataDir } from "../support/data-dir.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { startProgram } from "../support/program.ts";

test("a file of 150 MB with 6,250 people is read by a process that has no room for it", async () => {
  const db = await testDatabase();
  const school = await makeMakers(db).school();
  const path = join(makeDataDir(), "large.csv");
  const remark = `"${'A remark that goes on\nfor many lines, with ä; and ""quotes"".\n'.repeat(400)}"`;
  await pipeline(
    (function* () {
      yield "id;role;first_name;last_name;classes;remark\n";
      // What the columns mean is guessed from a piece of the file with several rows.
      for (let n = 0; n < 6250; n++) yield `${n};student;Ada ${n};Muster;${n % 400}a;${n < 100 ? "" : remark}\n`;
    })(),
    createWriteStream(path),
  );
  expect(statSync(path).size).toBeGreaterThan(150e6);
  // With less, most of its time goes to collecting garbage.
  const args = ["--max-old-space-size=130", "test/imports/memory-subject.ts", path, school];
  const { output, ended } = startProgram(args, { DATABASE_URL: db.url });
  expect((await ended).code, output()).toBe(0);
  expect(JSON.parse(output())).toEqual({ state: "READY", created: 6250 });
});
