// @module-tag slow
import type pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { makeUuid } from "../../src/platform/crypto/ids.ts";
import { leastPoolSize } from "../../src/platform/database/share-sizes.ts";
import type { SchoolId } from "../../src/directory/index.ts";
import { previewImport } from "../../src/imports/index.ts";
import { openDatabase } from "../../src/platform/database/db.ts";
import { writeRoster } from "../imports/rosters.ts";
import { makeAdminClient, makeStaff, refusalOf, type AdminClient, type Sent } from "../support/admin.ts";
import { makeDataDir } from "../support/data-dir.ts";
import { expectDescribed } from "../support/described.ts";
import { rosterOf, rosterType, untilDone } from "../support/import-office.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { countStopped, waitForTest, whileStopped } from "../support/standstill.ts";
import { getAppToken } from "../support/token.ts";
import { listUploads } from "../support/uploads.ts";
import { waitWithoutEnd } from "../support/waiting.ts";

// Files of other tests are not counted.
process.env["TMPDIR"] = makeDataDir();
const env = { DATABASE_POOL_SIZE: String(leastPoolSize) };
const service = await startService({ env });
const { db } = service;
waitWithoutEnd(service.shares.imports.pool);
const make = makeMakers(db);
await db.pool.query(`${waitForTest};
  CREATE TRIGGER wait_for_test BEFORE INSERT ON staged_person FOR EACH ROW EXECUTE FUNCTION wait_for_test()`);

type Shown = { id: string; state: string; progress: { phase: string; place: number | null } | null };
const shown = ({ body }: Sent) => body as Shown;
const file = rosterOf("1;student;Ada;Muster;5a");
const handIn = (call: AdminClient, school: string) =>
  call("POST", `/imports?school=${school}&in-background=true`, { body: file, headers: rosterType });

const countHeld = () => countStopped(db);
const inUse = ({ totalCount, idleCount }: pg.Pool) => totalCount - idleCount;

/** Statements of readings that are under way at the server, waiting or not. */
const countCopies = async () => {
  const text =
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle' AND query ~ '^COPY staged'";
  return (await db.pool.query(text)).rowCount;
};
const countUploads = async () => (await listUploads()).length;
const read = async (call: AdminClient, id: string) => shown(await call("GET", `/imports/${id}`));
const countStaged = (schoolId: SchoolId) => db.prisma.stagedPerson.count({ where: { schoolId } });
const cancel = (call: AdminClient, id: string) => call("POST", `/imports/${id}/cancellation`);

async function makeOffice() {
  const school = await make.school();
  return { school, ...(await makeStaff(service, "SECRETARY", { schoolIds: [school] })) };
}

test("while three rosters are read, every job is done and requests are answered", async () => {
  const offices = [await makeOffice(), await makeOffice(), await makeOffice()];
  const { call: operator } = await makeStaff(service, "OPERATOR");
  let made: Sent[] = [];
  await whileStopped(db, async () => {
    made = await Promise.all(offices.map(({ call, school }) => handIn(call, school)));
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
    await expect.poll(countHeld).toBe(1);
    const failed: string[] = [];
    for (const { name } of service.jobs)
      await service.runJob(name).catch((error: unknown) => failed.push(`${name}: ${String(error)}`));
    expect(failed).toEqual([]);
    expect((await operator("GET", "/schools")).status).toBe(200);
    // One is in its COPY on the only connection that reads; the others hold none.
    expect([await countHeld(), service.shares.imports.pool.waitingCount]).toEqual([1, 0]);
  });
  for (const [n, { call }] of offices.entries())
    expect(await untilDone(call, shown(made[n]!).id)).toMatchObject({ state: "READY" });
});

test("schools take turns, rosters say their place, and a caller has three at most", async () => {
  const [first, second] = [await makeOffice(), await makeOffice()];
  await whileStopped(db, async () => {
    const one = shown(await handIn(first.call, first.school)).id;
    await expect.poll(countHeld).toBe(1);
    const others = [await handIn(first.call, first.school), await handIn(first.call, first.school)];
    const last = await handIn(second.call, second.school);
    expectDescribed("createImport", last);
    expect(shown(last)).toMatchObject({ state: "READING", progress: { phase: "WAITING", percent: 0, place: 1 } });
    const placeOf = async (sent: Sent) => (await read(first.call, shown(sent).id)).progress?.place;
    expect([await placeOf(others[0]!), await placeOf(others[1]!)]).toEqual([2, 3]);
    const refused = await handIn(first.call, first.school);
    expectDescribed("createImport", refused);
    expect(refusalOf(refused)).toEqual([429, "too_many_imports"]);
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    expect((await cancel(first.call, one)).status).toBe(204);
    await expect
      .poll(async () => (await read(second.call, shown(last).id)).progress)
      .toMatchObject({ phase: "READING" });
    await expect.poll(countHeld).toBe(1);
    expect(shown(await handIn(first.call, first.school))).toMatchObject({ progress: { place: 3 } });
    for (const sent of others) expect((await cancel(first.call, shown(sent).id)).status).toBe(204);
  });
  await expect.poll(() => db.prisma.importTurn.count()).toBe(0);
});

/** Lets rosters of another office be in the queue, held by a process that is not there. */
async function fillQueue(rows: readonly { isSmall: boolean; isStarted: boolean }[]): Promise<() => Promise<unknown>> {
  const at = new Date(Date.now() + 3_600_000);
  const ids = rows.map(() => makeUuid(at));
  await db.prisma.import.createMany({
    data: ids.map((id) => ({
      id,
      format: "PLAIN",
      mode: "BULK",
      state: "READING",
      fileName: "",
      schoolYear: "",
      createdAt: at,
    })),
  });
  await db.prisma.importTurn.createMany({
    data: rows.map(({ isSmall, isStarted }, n) => {
      const turn = { importId: ids[n]!, actorId: `other-${n}`, schoolId: ids[n]!, isReading: true, isSmall };
      return { ...turn, queuedAt: new Date(0), startedAt: isStarted ? new Date(0) : null, seenAt: at };
    }),
  });
  const empty = () => db.prisma.import.deleteMany({ where: { id: { in: ids } } });
  onTestFinished(async () => void (await empty()));
  return empty;
}

test("who has no roster in the queue can hand one in, however many others wait", async () => {
  const office = await makeOffice();
  const empty = await fillQueue(Array.from({ length: 120 }, () => ({ isSmall: true, isStarted: true })));
  expect((await handIn(office.call, office.school)).status).toBe(201);
  expect(refusalOf(await handIn(office.call, office.school))).toEqual([503, "unavailable"]);
  await empty();
  await expect.poll(() => db.prisma.importTurn.count()).toBe(0);
  const emptyAgain = await fillQueue(Array.from({ length: 12 }, () => ({ isSmall: true, isStarted: true })));
  await db.prisma.importTurn.updateMany({ data: { schoolId: office.school } });
  expect(refusalOf(await handIn(office.call, office.school))).toEqual([429, "too_many_imports"]);
  const other = await makeOffice();
  expect((await handIn(other.call, other.school)).status).toBe(201);
  await emptyAgain();
  await expect.poll(() => db.prisma.importTurn.count()).toBe(0);
});

test("of a school one roster is read at a time, whoever hands it in, while that of another school is read beside it", async () => {
  const wide = await startService({ db, env: { DATABASE_POOL_SIZE: "30", IMPORTS_AT_ONCE: "2" } });
  const [first, other] = [await makeOffice(), await makeOffice()];
  const same = { school: first.school, ...(await makeStaff(wide, "SECRETARY", { schoolIds: [first.school] })) };
  const beside = makeAdminClient(wide, await getAppToken(wide, other.app, ["admin:read", "admin:write"]));
  await whileStopped(db, async () => {
    const made = [await handIn(same.call, same.school), await handIn(beside, other.school)];
    await expect.poll(countHeld).toBe(2);
    expect(made.map(({ status }) => status)).toEqual([201, 201]);
    for (const { call } of [same, { call: beside }]) expect((await call("GET", "/imports")).status).toBe(200);
    const { call } = await makeStaff(wide, "SECRETARY", { schoolIds: [first.school] });
    const third = shown(await handIn(call, first.school)).id;
    expect((await cancel(beside, shown(made[1]!).id)).status).toBe(204);
    await expect.poll(countHeld).toBe(1);
    expect((await read(call, third)).progress).toMatchObject({ phase: "WAITING", place: 1 });
  });
  await expect.poll(() => db.prisma.importTurn.count()).toBe(0);
  await wide.close();
});

test("cancelling in another process ends the statement and removes the file, also of one that waits", async () => {
  const another = await startService({ db, env });
  const office = await makeOffice();
  const elsewhere = makeAdminClient(another, await getAppToken(another, office.app, ["admin:read", "admin:write"]));
  await expect.poll(countUploads).toBe(0);
  await whileStopped(db, async () => {
    const [running, waiting] = [await handIn(office.call, office.school), await handIn(office.call, office.school)];
    await expect.poll(countHeld).toBe(1);
    expect(await countUploads()).toBe(2);
    expect((await cancel(elsewhere, shown(waiting).id)).status).toBe(204);
    await expect.poll(countUploads).toBe(1);
    expect(await countHeld()).toBe(1);
    expect((await cancel(elsewhere, shown(running).id)).status).toBe(204);
    await expect.poll(countCopies).toBe(0);
    await expect.poll(countUploads).toBe(0);
    for (const sent of [running, waiting])
      expect(await read(office.call, shown(sent).id)).toMatchObject({ state: "CANCELLED", progress: null });
  });
  await expect.poll(() => db.prisma.importTurn.count()).toBe(0);
  const staged = await countStaged(office.school);
  await expect.poll(() => inUse(service.shares.imports.pool)).toBe(0);
  expect(staged).toBe(0);
  await another.close();
});

test("the turn of a process that was killed goes to the next one, and its import ends with a fault", async () => {
  const office = await makeOffice();
  const { id } = shown(await handIn(office.call, office.school));
  expect(await untilDone(office.call, id)).toMatchObject({ state: "READY" });
  const long = new Date(0);
  await db.prisma.import.update({
    where: { id },
    data: { state: "READING", progressPhase: "READING", progressPercent: 1, progressAt: long },
  });
  const lost = { importId: id, actorId: "killed", schoolId: office.school, isReading: true };
  await db.prisma.importTurn.create({ data: { ...lost, queuedAt: long, startedAt: long, seenAt: long } });
  const next = shown(await handIn(office.call, office.school)).id;
  expect(await untilDone(office.call, next)).toMatchObject({ state: "READY" });
  await service.runJob("imports.sweep");
  expect(await read(office.call, id)).toMatchObject({ state: "BROKEN", progress: null });
  expect(await db.prisma.importTurn.count()).toBe(0);
});

test("while a file is read no connection is held", async () => {
  const rows = Array.from({ length: 25_000 }, (_, n) => `${n};student;Ada;Muster;5a`);
  const path = await writeRoster(`id;role;first_name;last_name;classes\n${rows.join("\n")}\n`);
  const school = await make.school();
  const reader = openDatabase({ url: db.url, poolSize: 1 });
  const held: number[] = [];
  const onProgress = ({ phase }: { phase: string }) => {
    if (phase === "reading") held.push(reader.pool.totalCount - reader.pool.idleCount);
  };
  const { state } = await previewImport(
    reader,
    { path, schoolId: school, holdShare: 1, onProgress },
    { at: service.clock() },
  );
  await reader.close();
  expect(state).toBe("READY");
  expect(held.length).toBeGreaterThan(20);
  expect(held.filter((count) => count > 0)).toEqual([]);
});

/** Statements that work out what a roster changes, and wait for the test. */
const countLooking = async () => {
  const text = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'relation'`;
  return (await db.pool.query(text)).rowCount;
};

/** Does the work while nobody can look at what the rosters that wait would change. */
async function whileLookingStops(work: () => Promise<void>): Promise<void> {
  const blocker = await db.pool.connect();
  await blocker.query("BEGIN; LOCK staged_person IN ACCESS EXCLUSIVE MODE");
  try {
    await work();
  } finally {
    await blocker.query("ROLLBACK");
    blocker.release();
  }
}

test.each([
  ["leavers", "leavers"],
  ["groups", "changes"],
  ["look-alikes", "look-alikes"],
  ["a look ahead", "view-changes"],
])("a preview of %s holds no connection of changes and ends when its caller leaves", async (_what, list) => {
  const [office, other] = [await makeOffice(), await makeOffice()];
  const { id } = shown(await handIn(office.call, office.school));
  expect(await untilDone(office.call, id)).toMatchObject({ state: "READY" });
  const token = await getAppToken(service, office.app, ["admin:read", "admin:write"]);
  const leaving = new AbortController();
  await whileLookingStops(async () => {
    const asked = fetch(`${service.url}/admin/v1/imports/${id}/${list}`, {
      headers: { authorization: `Bearer ${token}` },
      signal: leaving.signal,
    }).catch(() => null);
    await expect.poll(countLooking).toBe(1);
    await expect.poll(() => inUse(service.shares.changes.pool)).toBe(0);
    expect((await other.call("GET", "/schools")).status).toBe(200);
    leaving.abort();
    await asked;
    await expect.poll(countLooking).toBe(0);
    await expect.poll(() => inUse(service.shares.imports.pool)).toBe(0);
  });
});

test("previews wait for each other and not for what is read, and what is read not for them", async () => {
  const office = await makeOffice();
  const { id } = shown(await handIn(office.call, office.school));
  expect(await untilDone(office.call, id)).toMatchObject({ state: "READY" });
  const reading = await makeOffice();
  await whileStopped(db, async () => {
    const { id: other } = shown(await handIn(reading.call, reading.school));
    await expect.poll(countHeld).toBe(1);
    const lists = ["leavers", "changes", "look-alikes"].map((list) => office.call("GET", `/imports/${id}/${list}`));
    expect((await Promise.all(lists)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await cancel(reading.call, other)).status).toBe(204);
  });
});

test("a file over 64 MB is refused, by its length or while it comes", async () => {
  const { app, call, school } = await makeOffice();
  const before = await db.prisma.import.count();
  const big = Buffer.alloc(64 * 2 ** 20 + 1, "a");
  const sent = await call("POST", `/imports?school=${school}`, { body: big, headers: rosterType });
  expectDescribed("createImport", sent);
  expect(refusalOf(sent)).toEqual([413, "body_too_large"]);
  const token = await getAppToken(service, app, ["admin:write"]);
  const streamed = await fetch(`${service.url}/admin/v1/imports?school=${school}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, ...rosterType },
    body: new Blob([big]).stream(),
    duplex: "half",
  } as RequestInit);
  expect([streamed.status, ((await streamed.json()) as { code: string }).code]).toEqual([413, "body_too_large"]);
  expect(await db.prisma.import.count()).toBe(before);
});
