// @module-tag every-postgresql
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import {
  dropAuditPartitions,
  listAudit,
  listAuditPartitions,
  makeAuditPartitions,
  sweepAudit,
} from "../../src/events/index.ts";
import { makeUuid } from "../../src/platform/crypto/ids.ts";
import { testDatabase } from "../support/database.ts";
import { countRead, explainQuery, recordQueries } from "../support/explain.ts";
import { setKnownRows } from "../support/statistics.ts";

const signal = new AbortController().signal;
const dayMs = 86_400_000;
const later = (date: Date, days: number) => new Date(date.getTime() + days * dayMs);

async function openPartitioned() {
  const db = await testDatabase();
  const first = (await listAuditPartitions(db.pool))[0]!.until!;
  const write = (at: Date, action = "signed_in") =>
    db.prisma.audit.createMany({ data: [{ id: makeUuid(at), at, action }] });
  const countByPartition = async () =>
    (
      await db.pool.query<{ name: string; rows: number }>(
        "SELECT tableoid::regclass::text AS name, count(*)::int AS rows FROM audit GROUP BY 1 ORDER BY 1",
      )
    ).rows;
  const nameOf = (at: Date) => `audit_${at.toISOString().slice(0, 7).replace("-", "_")}`;
  return { db, first, write, countByPartition, nameOf };
}

test("partitions of months are made ahead, and each line goes to that of its month", async () => {
  const { db, first, write, countByPartition, nameOf } = await openPartitioned();
  expect(await makeAuditPartitions(db, later(first, -120))).toEqual([]);
  const made = await makeAuditPartitions(db, first);
  expect(made.length).toBeGreaterThanOrEqual(3);
  expect(made[0]).toBe(nameOf(first));
  expect(await makeAuditPartitions(db, first)).toEqual([]);
  await write(later(first, -1));
  await write(first);
  await write(later(first, 3650));
  expect(await countByPartition()).toEqual([
    { name: nameOf(first), rows: 1 },
    { name: "audit_first", rows: 1 },
    { name: "audit_rest", rows: 1 },
  ]);
  expect((await listAudit(db.pool, { limit: 10 })).map(({ at }) => at)).toEqual([
    later(first, 3650),
    first,
    later(first, -1),
  ]);
});

test("what is older than it is kept goes: a month as a whole once its last line may go, all else by age", async () => {
  const { db, first, write, countByPartition, nameOf } = await openPartitioned();
  const [month, next] = await makeAuditPartitions(db, first);
  for (const days of [-3, -1, 0, 27, 40]) await write(later(first, days));
  expect(await sweepAudit(db, later(first, -2), { signal })).toBe(1);
  expect(await sweepAudit(db, later(first, 10), { signal })).toBe(0);
  expect(await countByPartition()).toEqual([
    { name: month, rows: 2 },
    { name: next, rows: 1 },
  ]);
  await sweepAudit(db, later(first, 32), { signal });
  expect(await countByPartition()).toEqual([{ name: next, rows: 1 }]);
  expect((await listAuditPartitions(db.pool)).map(({ name }) => name)).not.toContain(nameOf(first));
});

test("lines for which nobody made a partition in time are kept, and go by age", async () => {
  const { db, first, write, countByPartition } = await openPartitioned();
  await write(later(first, 5));
  const made = await makeAuditPartitions(db, first);
  expect(made).toHaveLength((await listAuditPartitions(db.pool)).length - 2);
  await write(later(first, 6));
  expect(await countByPartition()).toEqual([{ name: "audit_rest", rows: 2 }]);
  expect(await sweepAudit(db, later(first, 5.5), { signal })).toBe(1);
});

test("several processes make each partition once, and drop it once", async () => {
  const { db, first } = await openPartitioned();
  const made = await Promise.all([1, 2, 3].map(() => makeAuditPartitions(db, first)));
  const names = (await listAuditPartitions(db.pool)).filter(({ isOfMonth }) => isOfMonth).map(({ name }) => name);
  expect(made.flat().sort()).toEqual(names);
  const drop = () => dropAuditPartitions(db, later(first, 200));
  const dropped = await Promise.all([1, 2, 3].map(drop));
  // A partition whose lock was not free in time is left for the next run.
  dropped.push(await drop());
  expect(new Set(dropped.flat())).toEqual(new Set(["audit_first", ...names]));
});

test("a partition that somebody reads is left for the next run, and whoever writes meanwhile does not wait", async () => {
  const { db, first, write } = await openPartitioned();
  const reader = new pg.Client({ connectionString: db.url });
  await reader.connect();
  onTestFinished(() => reader.end());
  await reader.query("BEGIN; SELECT count(*) FROM audit");
  expect(await dropAuditPartitions(db, later(first, 1))).toEqual([]);
  await write(first);
  await reader.query("ROLLBACK");
  expect(await dropAuditPartitions(db, later(first, 1))).toEqual(["audit_first"]);
});

test("a page of an app's lines reads those of the page, also if PostgreSQL knows nothing of the log", async () => {
  const { db, first } = await openPartitioned();
  const tables = ["audit", "audit_rest", "audit_first"];
  await db.pool.query(
    `INSERT INTO audit (id, at, action, client_id, act_id)
     SELECT gen_random_uuid(), $1::timestamptz + n * interval '1 minute', 'signed_in', 'app', CASE WHEN n % 50 = 0 THEN gen_random_uuid() END
     FROM generate_series(-40000, -1) n`,
    [first],
  );
  await setKnownRows(db, tables, "never");
  const clientId = "app";
  const at = later(first, -1);
  const after = { at, id: makeUuid(at) };
  const amongs = [undefined, { schoolIds: [], clientIds: [clientId] }];
  for (const isOldestFirst of [false, true])
    for (const among of amongs) {
      const filter = { clientId, among, after, isOldestFirst, limit: 10 };
      const [query] = await recordQueries(/FROM audit/, async () => {
        const ids = (await listAudit(db.pool, filter)).map(({ actId }) => actId);
        expect(ids).toEqual(Array.from({ length: 10 }, () => null));
      });
      expect(countRead(await explainQuery(db, query!, "force_custom_plan"))).toBeLessThan(1000);
    }
});

test("who reaches one school or app reads the lines of the page alone, however many others are newer", async () => {
  const { db, first } = await openPartitioned();
  const [own, other] = [makeUuid(first), makeUuid(first)];
  await db.pool.query(
    `INSERT INTO audit (id, at, action, client_id, school_id)
     SELECT gen_random_uuid(), $1::timestamptz + n * interval '1 minute', 'signed_in',
       CASE WHEN n < -35000 THEN 'own' ELSE 'other' END, CASE WHEN n < -35000 THEN $2::uuid ELSE $3::uuid END
     FROM generate_series(-40000, -1) n`,
    [first, own, other],
  );
  await db.pool.query("ANALYZE audit");
  const amongs = [
    { schoolIds: [own], clientIds: [] },
    { schoolIds: [], clientIds: ["own"] },
  ];
  for (const among of amongs) {
    const [query] = await recordQueries(/FROM audit/, async () => {
      const lines = await listAudit(db.pool, { among, limit: 10 });
      expect(lines.map(({ schoolId }) => schoolId)).toEqual(Array.from({ length: 10 }, () => own));
      const nothing = { among, schoolId: other, clientId: "other", limit: 10 };
      expect(await listAudit(db.pool, nothing)).toEqual([]);
    });
    expect(countRead(await explainQuery(db, query!, "force_custom_plan"))).toBeLessThan(1000);
  }
});
