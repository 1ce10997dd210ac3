// @module-tag slow
import { expect, test } from "vitest";
import { isDatabaseUnavailable, openDatabase, withTransaction } from "../../src/platform/database/db.ts";
import { listenFor, makeWakeUp } from "../../src/platform/jobs/wake-up.ts";
import { testDatabase } from "../support/database.ts";
import { makeDatabaseGate } from "../support/database-gate.ts";

const { url, pool } = await testDatabase();
// A busy server, too, answers in this time.
const silence = { lookMs: 50, silentMs: 200, answerMs: 5_000 };

test("a statement on a server that falls silent ends as unavailable, and the next one finds the server again", async () => {
  const gate = await makeDatabaseGate(url);
  const db = openDatabase({ url: gate.url, silence });
  const ask = () => db.pool.query("SELECT 1");
  await Promise.all([ask(), ask()]);
  gate.freeze();
  const work = [ask(), withTransaction(db, (tx) => tx.query("SELECT 1"))];
  for (const error of await Promise.all(work.map((one) => one.catch((caught: unknown) => caught))))
    expect(isDatabaseUnavailable(error)).toBe(true);
  await gate.open();
  expect((await db.pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  await db.close();
});

test("a statement that works for long on a server that answers is let alone", async () => {
  // A busy server may take long to answer the check.
  const db = openDatabase({ url, silence: { ...silence, answerMs: 60_000 } });
  const { rows } = await db.pool.query("SELECT 1 AS one FROM pg_sleep(1.5)");
  expect(rows).toEqual([{ one: 1 }]);
  await db.close();
});

test("who listens is told of the work of others again after the server fell silent", async () => {
  const gate = await makeDatabaseGate(url);
  const db = openDatabase({ url: gate.url, silence });
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
  await db.close();
});
