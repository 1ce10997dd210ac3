// @module-tag every-postgresql
import { readFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import pg from "pg";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { isDatabaseUnavailable, openDatabase, withTransaction } from "../../src/platform/database/db.ts";
import { asOthers } from "../support/one-connection.ts";
import { testDatabase } from "../support/database.ts";

const db = await testDatabase();
await db.pool.query("CREATE TABLE note (id int PRIMARY KEY)");
beforeEach(() => db.pool.query("DELETE FROM note"));

const countNotes = async () => (await db.pool.query<{ n: number }>("SELECT count(*)::int AS n FROM note")).rows[0]!.n;
const endOtherSessions = () =>
  db.pool.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
  );

test("a transaction that throws leaves nothing behind and its error unchanged", async () => {
  const error = new Error("not after all");
  const work = withTransaction(db, async (tx) => {
    await tx.query("INSERT INTO note VALUES (1)");
    throw error;
  });
  await expect(work).rejects.toBe(error);
  expect(await countNotes()).toBe(0);
});

test("a transaction answers what its work answers", async () => {
  expect(
    await withTransaction(
      db,
      async (tx) => (await tx.query<{ id: number }>("INSERT INTO note VALUES (2) RETURNING id")).rows,
    ),
  ).toEqual([{ id: 2 }]);
  expect(await countNotes()).toBe(1);
});

test("a connection lost in the middle of a transaction fails that transaction only", async () => {
  const work = withTransaction(db, async (tx) => {
    await tx.query("INSERT INTO note VALUES (3)");
    await asOthers(endOtherSessions);
    await tx.query("INSERT INTO note VALUES (4)");
  });
  const error = await work.catch((caught: unknown) => caught);
  expect(isDatabaseUnavailable(error)).toBe(true);
  expect(await countNotes()).toBe(0);
});

test("connections lost while nobody used them are replaced and reported", async () => {
  const { promise: allReported, resolve } = Promise.withResolvers<undefined>();
  let reported = 0;
  const onConnectionError = () => void (++reported === 3 && resolve(undefined));
  const own = openDatabase({ url: db.url, poolSize: 3, onConnectionError });
  await Promise.all([1, 2, 3].map(() => own.pool.query("SELECT pg_sleep(0.05)")));
  await endOtherSessions();
  await allReported;
  expect((await own.pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  await own.close();
});

test("a socket that is missing counts as unavailable, a file that is missing does not", async () => {
  const nowhere = openDatabase({ url: "postgresql://nobody@localhost/nothing?host=/nowhere" });
  expect(isDatabaseUnavailable(await nowhere.pool.query("SELECT 1").catch((error: unknown) => error))).toBe(true);
  await nowhere.close();
  expect(isDatabaseUnavailable(await readFile("/nowhere/file").catch((error: unknown) => error))).toBe(false);
});

test("a server that is not there counts as unavailable, a wrong query does not", async () => {
  const nowhere = openDatabase({ url: "postgresql://nobody@127.0.0.1:1/nothing" });
  expect(isDatabaseUnavailable(await nowhere.pool.query("SELECT 1").catch((error: unknown) => error))).toBe(true);
  await nowhere.close();
  expect(isDatabaseUnavailable(await db.pool.query("SELECT nonsense").catch((error: unknown) => error))).toBe(false);
});

test("a server that does not answer in time counts as unavailable, so that a start waits for it", async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const client = new pg.Client({ host: "127.0.0.1", port, connectionTimeoutMillis: 50 });
  client.on("error", () => undefined);
  expect(isDatabaseUnavailable(await client.connect().catch((error: unknown) => error))).toBe(true);
});

test("a full pool that nobody leaves counts as unavailable after a bounded wait", async () => {
  const own = openDatabase({ url: db.url, poolSize: 1 });
  expect(own.pool.options.connectionTimeoutMillis).toBe(10_000);
  const held = await own.pool.connect();
  own.pool.options.connectionTimeoutMillis = 50;
  const refused = await own.pool.query("SELECT 1").catch((error: unknown) => error);
  expect(isDatabaseUnavailable(refused)).toBe(true);
  own.pool.options.connectionTimeoutMillis = 10_000;
  held.release();
  expect((await own.pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  await own.close();
});

test("Prisma reads the time that was written, whatever the server's time zone", async () => {
  const client = new pg.Client({ connectionString: db.url });
  await client.connect();
  await client.query(`ALTER DATABASE "${new URL(db.url).pathname.slice(1)}" SET TimeZone = 'Asia/Tokyo'`);
  await client.end();
  const own = openDatabase({ url: db.url });
  const at = new Date("2026-02-03T08:00:00.123Z");
  await own.pool.query(
    "INSERT INTO audit (id, at, action) VALUES ('018f0000-0000-7000-8000-000000000001', $1, 'tried')",
    [at],
  );
  expect((await own.prisma.audit.findFirst())?.at).toEqual(at);
  await own.close();
});
