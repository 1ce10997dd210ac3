import pg from "pg";
import { expect, test } from "vitest";
import type { SchoolId } from "../../src/directory/index.ts";
import {
  isDatabaseUnavailable,
  isRefused,
  openDatabase,
  withPrismaTransaction,
  type PrismaDb,
  type Transaction,
} from "../../src/platform/database/db.ts";
import { sharedReads, type SharedReads } from "../../src/platform/database/prisma.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { asOthers } from "../support/one-connection.ts";

const db = await testDatabase();
const make = makeMakers(db);
const rename = (tx: Transaction, id: SchoolId, name: string) =>
  tx.prisma.school.update({ where: { id }, data: { name } });
const nameOf = async (id: SchoolId) => (await db.prisma.school.findUniqueOrThrow({ where: { id } })).name;

test("Prisma Client and named SQL share one transaction: the same connection, seen at once, one commit", async () => {
  const school = await make.school();
  const pids = await withPrismaTransaction(db, async (tx) => {
    await rename(tx, school, "by Prisma");
    const { rows } = await tx.query<{ name: string; pid: number }>(
      "SELECT name, pg_backend_pid() AS pid FROM school WHERE id = $1",
      [school],
    );
    expect(rows[0]!.name).toBe("by Prisma");
    expect(await asOthers(() => nameOf(school))).not.toBe("by Prisma");
    const [own] = await tx.prisma.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
    return [own!.pid, rows[0]!.pid];
  });
  expect(pids[0]).toBe(pids[1]);
  expect(await nameOf(school)).toBe("by Prisma");
});

test("whatever is thrown rolls both back, and the connection is used again", async () => {
  const school = await make.school();
  const before = await nameOf(school);
  for (let time = 0; time < 12; time++) {
    const failing = withPrismaTransaction(db, async (tx) => {
      await rename(tx, school, "lost");
      await tx.query("UPDATE school SET city = 'lost' WHERE id = $1", [school]);
      throw new Error("stop");
    });
    await expect(failing).rejects.toThrow("stop");
  }
  expect(await nameOf(school)).toBe(before);
  expect(db.pool.idleCount).toBe(db.pool.totalCount);
});

test("two transactions at the same time have connections of their own", async () => {
  const pids = await Promise.all(
    Array.from({ length: 5 }, () =>
      withPrismaTransaction(db, async (tx) => {
        const [{ pid }] = (await tx.prisma.$queryRaw`SELECT pg_backend_pid() AS pid, pg_sleep(0.1)::text`) as [
          { pid: number },
        ];
        const { rows } = await tx.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
        expect(rows[0]!.pid).toBe(pid);
        return pid;
      }),
    ),
  );
  expect(new Set(pids).size).toBe(5);
});

test("a refused write throws PostgreSQL's own error, which quotes no row", async () => {
  const school = await make.school();
  const person = await make.person({ school });
  const refused = (work: (tx: Transaction) => Promise<unknown>) =>
    withPrismaTransaction(db, work).then(
      () => null,
      (error: unknown) => error,
    );
  const check = await refused((tx) =>
    tx.prisma.person.update({ where: { id: person }, data: { status: "SOFT_DELETED" } }),
  );
  expect(check).toBeInstanceOf(pg.DatabaseError);
  expect(isRefused(check)).toBe(true);
  expect(check).toMatchObject({ code: "23514" });
  expect(JSON.stringify(check) + String(check)).not.toContain("Failing row");
  const taken = await refused((tx) =>
    tx.prisma.retiredClientId.createMany({ data: [1, 2].map(() => ({ clientId: "one", retiredAt: new Date() })) }),
  );
  expect(taken).toMatchObject({ code: "23505", constraint: "retired_client_id_pkey" });
  const deferred = await refused((tx) => tx.prisma.affiliation.deleteMany({ where: { personId: person } }));
  expect(deferred).toMatchObject({ code: "23503", constraint: "person_home_affiliation_fkey" });
});

const endOtherSessions = () =>
  db.pool.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
  );
const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

test.each([
  ["Prisma Client", (tx: Transaction) => tx.prisma.school.count()],
  ["named SQL", (tx: Transaction) => tx.query("SELECT 1")],
  ["the commit", () => Promise.resolve()],
])("a connection that was lost counts as unavailable when %s finds out", async (_what, ask) => {
  const work = withPrismaTransaction(db, async (tx) => {
    await tx.prisma.school.count();
    await asOthers(endOtherSessions);
    await ask(tx);
  });
  expect(isDatabaseUnavailable(await errorOf(work))).toBe(true);
  await db.prisma.school.count();
});

test("a server that is not there and a pool that is full count as unavailable", async () => {
  const count = (own: PrismaDb) => [
    errorOf(own.prisma.school.count()),
    errorOf(withPrismaTransaction(own, (tx) => tx.prisma.school.count())),
    errorOf(withPrismaTransaction(own, (tx) => tx.query("SELECT 1"))),
  ];
  const nowhere = openDatabase({ url: "postgresql://nobody@127.0.0.1:1/nothing" });
  const full = openDatabase({ url: db.url, poolSize: 1 });
  const held = await full.pool.connect();
  full.pool.options.connectionTimeoutMillis = 50;
  const errors = await Promise.all([...count(nowhere), ...count(full)]);
  expect(errors.map(isDatabaseUnavailable)).toEqual(errors.map(() => true));
  held.release();
  for (const own of [nowhere, full]) await own.close();
});

test("what a page reads twice is asked once, and asked anew for another page and in a transaction", async () => {
  const school = await make.school();
  const before = await nameOf(school);
  const page: SharedReads = new Map();
  const inPage = <T>(work: () => Promise<T>, of = page) => sharedReads.run(of, work);

  expect(await inPage(async () => Promise.all([nameOf(school), nameOf(school)]))).toEqual([before, before]);
  expect(page.size).toBe(1);
  await inPage(() => withPrismaTransaction(db, (tx) => rename(tx, school, "changed")));

  expect(await inPage(() => nameOf(school))).toBe(before);
  expect(await inPage(() => nameOf(school), new Map())).toBe("changed");
  expect(await nameOf(school)).toBe("changed");
  const inTransaction = (tx: Transaction) => tx.prisma.school.findUniqueOrThrow({ where: { id: school } });
  expect((await inPage(() => withPrismaTransaction(db, inTransaction))).name).toBe("changed");
  expect(page.size).toBe(1);
});

test("a full disk counts as unavailable, so that callers try again", async () => {
  const fill = "DO $$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$";
  const errors = await Promise.all([
    errorOf(db.pool.query(fill)),
    errorOf(withPrismaTransaction(db, (tx) => tx.prisma.$executeRawUnsafe(fill))),
  ]);
  expect(errors.map(isDatabaseUnavailable)).toEqual([true, true]);
});
