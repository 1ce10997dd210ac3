// @module-tag slow
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { expect, test } from "vitest";
import { confirmUndo, getImport, undoImport } from "../../src/imports/index.ts";
import { makeDataDir } from "../support/data-dir.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { startProgram } from "../support/program.ts";
import { fingerprint, makeImporter, origin } from "../imports/rosters.ts";
import { countAround, countWaitingImports } from "../support/waiting.ts";

const db = await testDatabase();
const make = makeMakers(db);
const { preview, run, apply } = makeImporter(db);
const header = "id;role;first_name;last_name;classes\n";

test("an import killed in the middle has changed nothing and told nobody; applying it again does all of it", async () => {
  const school = await make.school();
  const { clientId } = await make.app();
  await make.grant({ app: clientId, school });
  await run(`${header}1;student;Ada;Muster;5a\n2;student;Bo;Bei;5a\n3;student;Cem;Chor;5a\n`, { school });
  const { id } = await preview(`${header}1;student;Ada;Married;6a\n2;student;Bo;Bei;5a\n4;student;Dan;Dur;5a\n`, {
    school,
  });
  const before = await fingerprint(db);

  // Its last statement waits for this row, when everything else is written and only the commit is missing.
  const blocker = await db.pool.connect();
  await blocker.query("BEGIN");
  await blocker.query("SELECT FROM import_school WHERE import_id = $1 FOR UPDATE", [id]);
  const { child, ended } = startProgram(["src/schultor.ts", "import", "apply", id], { DATABASE_URL: db.url });
  await expect.poll(() => countWaitingImports(db)).toBe(1);
  child.kill("SIGKILL");
  expect((await ended).signal).toBe("SIGKILL");
  await blocker.query("ROLLBACK");
  blocker.release();

  await expect.poll(() => countAround(db)).toBe(0);
  expect(await fingerprint(db)).toBe(before);
  expect((await getImport(db, id)).schools[0]!.state).toBe("READY");

  expect(await apply(id)).toMatchObject({
    state: "APPLIED",
    schools: [{ counts: { people: { created: 1, changed: 1, removed: 1 }, groups: { created: 1 } } }],
  });
});

test("undoing that is killed in the middle has changed nothing and told nobody; undoing again does all of it", async () => {
  const school = await make.school();
  const { clientId } = await make.app();
  await make.grant({ app: clientId, school });
  await run(`${header}1;student;Ada;Muster;5a\n2;student;Bo;Bei;5a\n`, { school });
  const later = makeImporter(db, () => ({ ...origin, at: new Date() }));
  const { id } = await later.run(`${header}1;student;Ada;Married;6a\n3;student;Cem;Chor;6a\n`, { school });
  const before = await fingerprint(db);
  // The program that the test above killed holds its turn for a minute.
  await db.prisma.importTurn.deleteMany();

  // Its last statement waits for this row, when everything else is written and only the commit is missing.
  const blocker = await db.pool.connect();
  await blocker.query("BEGIN");
  await blocker.query("SELECT FROM import_school WHERE import_id = $1 FOR UPDATE", [id]);
  const { child, ended } = startProgram(["src/schultor.ts", "import", "undo", id], { DATABASE_URL: db.url });
  await expect.poll(() => countWaitingImports(db)).toBe(1);
  child.kill("SIGKILL");
  expect((await ended).signal).toBe("SIGKILL");
  await blocker.query("ROLLBACK");
  blocker.release();
  await expect.poll(() => countAround(db)).toBe(0);
  expect(await fingerprint(db)).toBe(before);
  expect(await getImport(db, id)).toMatchObject({ state: "APPLIED", schools: [{ state: "APPLIED" }] });

  const undo = { kept: await confirmUndo(db, id, { confirmed: 0, now: new Date() }), restoreWindowDays: 30 };
  expect(await undoImport(db, id, undo, { ...origin, at: new Date() })).toMatchObject({
    state: "UNDONE",
    schools: [{ state: "UNDONE" }],
  });
  expect(await db.prisma.person.count({ where: { homeSchoolId: school, status: "ACTIVE", last: "Muster" } })).toBe(1);
});

test("a file of 200 MB with 100,000 people is read with less than 300 MB of memory", async () => {
  const school = await make.school();
  const path = join(makeDataDir(), "large.csv");
  const remark = `"${'A remark that goes on\nfor many lines, with ä; and ""quotes"".\n'.repeat(32)}"`;
  await pipeline(
    (function* () {
      yield `${header.trim()};remark\n`;
      for (let n = 0; n < 100_000; n++) yield `${n};student;Ada ${n};Muster;${n % 400}a;${remark}\n`;
    })(),
    createWriteStream(path),
  );
  const { output, ended } = startProgram(["test/imports/memory-subject.ts", path, school], { DATABASE_URL: db.url });
  expect((await ended).code).toBe(0);
  const { state, created, memoryMb } = JSON.parse(output()) as { state: string; created: number; memoryMb: number };
  expect([state, created]).toEqual(["READY", 100_000]);
  expect(memoryMb).toBeLessThan(300);
  console.log(`read with ${memoryMb} MB`);
});
