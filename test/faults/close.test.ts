// @module-tag slow
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { openDatabase } from "../../src/platform/database/db.ts";
import { testDatabase } from "../support/database.ts";

test("who is in the middle of several questions gets the last answer too before the pool closes", async () => {
  const { url } = await testDatabase();
  const db = openDatabase({ url });
  // Connects first: that may take longer than the pool waits for its last answers.
  await db.pool.query("SELECT 1");
  const ask = async (): Promise<unknown> => {
    await db.pool.query("SELECT pg_sleep(0.1)");
    await sleep(5);
    return (await db.pool.query<{ answer: number }>("SELECT 42 AS answer")).rows[0]?.answer;
  };
  const asked = ask();
  await db.close();
  expect(await asked).toBe(42);
});
