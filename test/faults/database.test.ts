// @module-tag slow
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import {
  isDatabaseUnavailable,
  openDatabase,
  withPrismaTransaction,
  withTransaction,
  type OpenDb,
} from "../../src/platform/database/db.ts";
import type { Queryable } from "../../src/platform/database/sql.ts";
import { listenFor, makeWakeUp } from "../../src/platform/jobs/wake-up.ts";
import { startEmbeddedPostgres } from "../../src/platform/postgres/index.ts";
import { makeDataDir, removeDataDir } from "../support/data-dir.ts";
import { testDatabase } from "../support/database.ts";
import { makeDatabaseGate } from "../support/database-gate.ts";
import { atFileEnd } from "../support/file-end.ts";
import { expectReady } from "../support/ready.ts";
import { startService } from "../support/service.ts";

const { url, pool } = await testDatabase();
// A busy server, too, answers in this time.
const silence = { lookMs: 50, silentMs: 200, answerMs: 5_000 };

function open(options: Parameters<typeof openDatabase>[0]): OpenDb {
  const db = openDatabase(options);
  atFileEnd(() => db.close());
  return db;
}

test("while the database is away requests are 503 with Retry-After, the process is live and not ready, and apps get the keys; when it is back, so is the service", async () => {
  const gate = await makeDatabaseGate(url);
  const service = await startService({ db: { ...open({ url: gate.url }), url: gate.url } });
  const ask = (path: string, headers = {}) => fetch(service.url + path, { headers });
  const read = () => ask("/idm/ep/v1/schools", { authorization: `Bearer ${"a".repeat(43)}` });
  const readKeys = async () => ((await (await ask("/.well-known/jwks.json")).json()) as { keys: unknown[] }).keys;
  expect((await read()).status).toBe(401);
  await expectReady(service.url);
  const keys = await readKeys();
  expect(keys).toHaveLength(2);

  await gate.close();
  const away = await read();
  expect([away.status, away.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(await away.json()).toMatchObject({ code: "unavailable" });
  expect((await ask("/health/live")).status).toBe(200);
  expect(await readKeys()).toEqual(keys);
  const ready = await ask("/health/ready");
  const missing = expect.arrayContaining(["the database does not answer"]) as string[];
  expect([ready.status, await ready.json()]).toMatchObject([503, { status: "not_ready", missing }]);

  await gate.open();
  // Until every pool has noticed that its connections are gone, a read may be answered 503.
  await expect.poll(async () => (await read()).status).toBe(401);
  await expectReady(service.url);
});

test("a statement on a server that falls silent ends as unavailable, and the next one finds the server again", async () => {
  const gate = await makeDatabaseGate(url);
  const db = open({ url: gate.url, silence });
  const ask = () => db.pool.query("SELECT 1");
  await Promise.all([ask(), ask()]);
  gate.freeze();
  const work = [ask(), withTransaction(db, (tx) => tx.query("SELECT 1"))];
  for (const error of await Promise.all(work.map((one) => one.catch((caught: unknown) => caught))))
    expect(isDatabaseUnavailable(error)).toBe(true);
  await gate.open();
  expect((await db.pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
});

test("a statement that works for long on a server that answers is let alone", async () => {
  // A busy server may take long to answer the check.
  const db = open({ url, silence: { ...silence, answerMs: 60_000 } });
  expect((await db.pool.query("SELECT 1 AS one FROM pg_sleep(1.5)")).rows).toEqual([{ one: 1 }]);
});

test("who listens is told of the work of others again after the server fell silent", async () => {
  const gate = await makeDatabaseGate(url);
  const db = open({ url: gate.url, silence });
  const wakeUp = makeWakeUp();
  const listener = listenFor(db.pool, { work: wakeUp }, { askMs: 100 });
  const never = new AbortController().signal;
  await wakeUp.wait(60, never);
  gate.freeze();
  await expect.poll(() => db.pool.totalCount).toBe(0);
  await gate.open();
  // It wakes once when it listens again, and then for the work of another process.
  await wakeUp.wait(60, never);
  await pool.query("NOTIFY work");
  await wakeUp.wait(60, never);
  await listener.close();
});

test("who is in the middle of several questions gets the last answer too before the pool closes", async () => {
  const db = openDatabase({ url });
  // Connects first: that may take longer than the pool waits for its last answers.
  await db.pool.query("SELECT 1");
  const ask = async (): Promise<unknown> => {
    await db.pool.query("SELECT pg_sleep(0.1)");
    await sleep(5);
    return (await db.pool.query("SELECT 42 AS answer")).rows;
  };
  const asked = ask();
  await db.close();
  expect(await asked).toEqual([{ answer: 42 }]);
});

/** Commits until one fails: they wait for a replica once the checkpointer too has read the setting. */
async function commitUntilFailure(commit: () => Promise<void>): Promise<unknown> {
  for (;;) {
    const error = await commit().catch((caught: unknown) => caught);
    if (error !== undefined) return error;
  }
}

test("a commit whose wait for a replica was cut short is an error, although PostgreSQL answers it as done", async () => {
  const dataDir = makeDataDir();
  atFileEnd(() => removeDataDir(dataDir));
  const server = await startEmbeddedPostgres({ dataDir, say: () => undefined });
  atFileEnd(() => server.stop());
  const db = open({ url: server.url });
  await db.pool.query("CREATE TABLE note (id serial PRIMARY KEY)");
  await db.pool.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  await db.pool.query("SELECT pg_reload_conf()");
  const insert = async (tx: Queryable) => void (await tx.query("INSERT INTO note DEFAULT VALUES"));
  const cancelWaiting = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  for (const commit of [() => withTransaction(db, insert), () => withPrismaTransaction(db, insert)]) {
    const ended = commitUntilFailure(commit);
    await expect.poll(async () => (await db.pool.query(cancelWaiting)).rowCount).toBe(1);
    expect(isDatabaseUnavailable(await ended)).toBe(true);
  }
  expect((await db.pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
});
