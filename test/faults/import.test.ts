import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { expect, test } from "vitest";
import { getImport } from "../../src/imports/index.ts";
import { makeDataDir } from "../support/data-dir.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { startProgram } from "../support/program.ts";
import { fingerprint, makeImporter } from "../imports/rosters.ts";
import { countWaitingImports } from "../support/waiting.ts";

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
  await expect.poll(() => countWaitingImports(db), { timeout: 60_000 }).toBe(1);
  child.kill("SIGKILL");
  expect((await ended).signal).toBe("SIGKILL");
  await blocker.query("ROLLBACK");
  blocker.release();

  // The server may take a moment to notice that nobody is there any more.
  const isAround =
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND (state LIKE 'idle in%' OR state = 'active')";
  while ((await db.pool.query(isAround)).rowCount !== 0) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await fingerprint(db)).toBe(before);
  expect((await getImport(db, id)).schools[0]!.state).toBe("READY");

  expect(await apply(id)).toMatchObject({
    state: "APPLIED",
    schools: [{ counts: { people: { created: 1, changed: 1, removed: 1 }, groups: { created: 1 } } }],
  });
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
