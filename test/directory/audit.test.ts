import { beforeEach, expect, test } from "vitest";
import { sweepAudit } from "../../src/events/index.ts";
import { makeUuid } from "../../src/platform/crypto/ids.ts";
import { measureStatements } from "../support/explain.ts";
import { testDatabase } from "../support/database.ts";
import { makeTestClock, startService } from "../support/service.ts";

const db = await testDatabase();
const now = new Date("2026-02-03T08:00:00Z");
const daysAgo = (days: number): Date => new Date(now.getTime() - days * 86_400_000);
const count = () => db.prisma.audit.count();
const signal = new AbortController().signal;

beforeEach(() => db.prisma.audit.deleteMany());

const write = (ages: readonly number[]) =>
  db.prisma.audit.createMany({
    data: ages.map((days) => ({ id: makeUuid(daysAgo(days)), at: daysAgo(days), action: "signed_in" })),
  });

test("lines are kept for the days that are set and then go, oldest first, a batch at a time", async () => {
  await write([500, 401, 400.1, 399.9, 1]);
  expect(await sweepAudit(db, daysAgo(400), { signal, batch: 2 })).toBe(3);
  expect((await db.prisma.audit.findMany({ orderBy: { at: "asc" } })).map(({ at }) => at)).toEqual([
    daysAgo(399.9),
    daysAgo(1),
  ]);
  expect(await sweepAudit(db, daysAgo(400), { signal, batch: 2 })).toBe(0);
});

test("lines of one instant all go, however many more than a batch they are", async () => {
  await write(Array.from({ length: 10 }, () => 500));
  expect(await sweepAudit(db, daysAgo(400), { signal, batch: 3 })).toBe(10);
});

test("a process that is asked to stop ends after its batch", async () => {
  await write([500, 500, 500]);
  expect(await sweepAudit(db, daysAgo(400), { signal: AbortSignal.abort(), batch: 2 })).toBe(0);
  expect(await count()).toBe(3);
});

test("the service's own job does so, after the days of its setting", async () => {
  const service = await startService({ clock: makeTestClock(now), env: { AUDIT_DAYS: "30" } });
  const at = (days: number) => ({ id: makeUuid(daysAgo(days)), at: daysAgo(days), action: "signed_in" });
  await service.db.prisma.audit.createMany({ data: [at(31), at(29)] });
  await service.runJob("events.sweepAudit");
  expect(await service.db.prisma.audit.count({ where: { action: "signed_in" } })).toBe(1);
});

test.each(["never analyzed", "analyzed while it was empty", "analyzed"])(
  "a sweep of a long log reads a batch and what it deletes, statistics %s",
  async (statistics) => {
    const own = await testDatabase({ poolSize: 2 });
    await own.pool.query("ALTER TABLE audit_first SET (autovacuum_enabled = false)");
    if (statistics === "analyzed while it was empty") await own.pool.query("ANALYZE audit_first");
    await own.pool.query(
      `INSERT INTO audit (id, at, action, detail) SELECT gen_random_uuid(), $1::timestamptz - (n || ' minutes')::interval, 'signed_in', '{}' FROM generate_series(1, 20000) n`,
      [now],
    );
    if (statistics === "analyzed") await own.pool.query("ANALYZE audit_first");
    const { db: measured, costs } = measureStatements(own);
    const before = new Date(now.getTime() - 19_000 * 60_000);
    expect(await sweepAudit(measured, before, { signal, batch: 250 })).toBe(1000);
    expect(costs.length).toBeGreaterThan(3);
    for (const { pages, scanned } of costs) {
      expect(scanned).toEqual([]);
      expect(pages).toBeLessThan(250 * 40);
    }
  },
);
