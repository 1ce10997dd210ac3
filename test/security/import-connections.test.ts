import { expect, test } from "vitest";
import { applyImport, makeImportSweep } from "../../src/imports/index.ts";
import { sampleImport } from "../support/import-samples.ts";
import { openDatabase } from "../../src/platform/database/db.ts";
import { makeImporter, now, origin, rules } from "../imports/rosters.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { untilImportWaits, waitWithoutEnd } from "../support/waiting.ts";

const db = await testDatabase();
const make = makeMakers(db);
const least = openDatabase({ url: db.url, poolSize: 1 });
waitWithoutEnd(least.pool);
const { run, preview } = makeImporter(least);
const header = "id;role;first_name;last_name;classes\n";
const row = (n: number) => `${n};student;Ada;Muster;5a\n`;
const rows = (...ids: number[]) => header + ids.map(row).join("");

/** Stops an import in the middle of its school until the work is done. */
async function inTheMiddle(importId: string, work: () => Promise<void>): Promise<void> {
  const blocker = await db.pool.connect();
  await blocker.query("BEGIN");
  await blocker.query("SELECT FROM import_school WHERE import_id = $1 FOR UPDATE", [importId]);
  try {
    await untilImportWaits(db);
    await work();
  } finally {
    await blocker.query("ROLLBACK");
    blocker.release();
  }
}

test("with a pool of one connection imports are previewed, held, shown, applied and swept", async () => {
  const school = await make.school();
  await run(rows(1, 2, 3, 4), { school });
  expect((await preview(rows(1), { school })).state).toBe("HELD");
  const waiting = await preview(rows(1, 2, 3, 4, 5), { school });
  expect([...(await sampleImport(least, waiting.id, now)).values()].flat()).toHaveLength(1);
  expect((await run(rows(1, 2), { school })).state).toBe("APPLIED");
  await makeImportSweep({ db: least, clock: () => new Date(now.getTime() + 8 * 86_400_000) }).run(
    new AbortController().signal,
  );
  expect(await db.prisma.stagedPerson.count()).toBe(0);
});

test("an import that works on a school holds one connection, and a second one of it is refused with none", async () => {
  const school = await make.school();
  const [first, second] = [await preview(rows(1, 2, 3, 4), { school }), await preview(rows(1, 2, 3), { school })];
  const applying = applyImport(least, first.id, rules, origin);
  await inTheMiddle(first.id, async () => {
    expect([least.pool.totalCount, least.pool.waitingCount]).toEqual([1, 0]);
    for (const { id } of [first, second])
      await expect(applyImport(db, id, rules, origin)).rejects.toMatchObject({ code: "import_running" });
  });
  expect((await applying).state).toBe("APPLIED");
  expect((await applyImport(db, second.id, rules, origin)).state).toBe("APPLIED");
  const { rows: locks } = await db.pool.query(
    "SELECT FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
  );
  expect(locks).toHaveLength(0);
});

test("an import that lost its lease between two schools ends before the next one, and its successor goes on", async () => {
  const officialIds = ["DE-LEASE-1", "DE-LEASE-2"];
  for (const officialId of officialIds) await make.school({ officialId });
  const roster = (name: string) =>
    JSON.stringify(
      officialIds.map((kennung, n) => ({
        pid: `p${n}`,
        person: { name: { vorname: name, familienname: "Test" } },
        personenkontexte: [{ organisation: { kennung }, rolle: "LERN", gruppen: [] }],
      })),
    );
  const [slow, next] = [await preview(roster("Slow")), await preview(roster("Next"))];
  // Between two schools it waits for its one connection longer than its lease lasts, and another import takes the
  // schools.
  const overtake = async (): Promise<void> => {
    const connection = await least.pool.connect();
    await db.prisma.import.update({ where: { id: slow.id }, data: { leaseUntil: new Date(0) } });
    expect((await applyImport(db, next.id, rules, origin)).state).toBe("APPLIED");
    connection.release();
  };
  let overtaken = Promise.resolve();
  const onProgress = ({ done }: { done: number }) => void (done === 1 && (overtaken = overtake()));
  await expect(applyImport(least, slow.id, { ...rules, onProgress }, origin)).rejects.toMatchObject({
    code: "import_running",
  });
  await overtaken;
  expect(await db.prisma.person.count({ where: { firstFull: "Next" } })).toBe(2);
  expect(await db.prisma.import.findUniqueOrThrow({ where: { id: slow.id } })).toMatchObject({
    leaseHolder: null,
    state: "READY",
  });
});

test("close the pool of one connection", () => least.close());
