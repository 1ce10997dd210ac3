// @module-tag slow
import express from "express";
import { expect, test } from "vitest";
import { makeHealthRouter, makeReadiness, type HealthCheck } from "../../src/platform/telemetry/health.ts";
import { openServer } from "../../src/platform/server/server.ts";
import { testDatabase } from "../support/database.ts";
import { makeTestClock, startService } from "../support/service.ts";

async function askReady(checks: HealthCheck[], isStopping = false) {
  const server = await openServer({ host: "127.0.0.1", port: 0 });
  server.serve(express().use(makeHealthRouter({ checks, isStopping: () => isStopping })));
  const answer = await fetch(`http://127.0.0.1:${server.port}/health/ready`);
  const body: unknown = await answer.json();
  await server.stop(0);
  return { status: answer.status, cache: answer.headers.get("cache-control"), body };
}

const well: HealthCheck = { name: "database", missing: "the database does not answer", check: async () => {} };

test("ready when every check passes, and never cached", async () => {
  expect(await askReady([well])).toEqual({
    status: 200,
    cache: "no-store",
    body: { status: "ready", checks: { database: "ok" } },
  });
});

test("not ready names what is missing, without the error behind it", async () => {
  const broken = { name: "keys", missing: "there is no signing key", check: () => Promise.reject(new Error("hush")) };
  expect(await askReady([well, broken])).toEqual({
    status: 503,
    cache: "no-store",
    body: { status: "not_ready", checks: { database: "ok", keys: "failed" }, missing: ["there is no signing key"] },
  });
});

test("readiness is checked at most once in five seconds, however often it is asked for", async () => {
  const clock = makeTestClock();
  let [checked, isBroken, isStopping] = [0, false, false];
  const check = async () => {
    checked++;
    if (isBroken) throw new Error("hush");
  };
  const isReady = makeReadiness({ checks: [{ ...well, check }], isStopping: () => isStopping, clock });
  expect([await isReady(), await isReady(), checked]).toEqual([true, true, 1]);
  isBroken = true;
  clock.forwardSeconds(4);
  expect(await isReady()).toBe(true);
  clock.forwardSeconds(1);
  expect([await isReady(), checked]).toEqual([false, 2]);
  isBroken = false;
  clock.forwardSeconds(5);
  isStopping = true;
  expect(await isReady()).toBe(false);
});

test("a check that hangs counts as failed after two seconds", async () => {
  const hanging = { name: "slow", missing: "it is slow", check: () => new Promise(() => {}) };
  expect((await askReady([hanging])).status).toBe(503);
});

test("a stopping process is not ready", async () => {
  expect(await askReady([well], true)).toMatchObject({ status: 503, body: { missing: ["the process is stopping"] } });
});

/** Asks again: on a busy machine a check of the database may take longer than two seconds. */
const expectService = (url: string) =>
  expect.poll(async () => {
    const answer = await fetch(`${url}/health/ready`);
    return [answer.status, await answer.json()] as unknown[];
  });

test("the service is ready with database, migrations and signing keys", async () => {
  const { url } = await startService();
  await expectService(url).toEqual([
    200,
    { status: "ready", checks: { database: "ok", migrations: "ok", signing_keys: "ok" } },
  ]);
});

test("a database without one of our migrations is not ready", async () => {
  const db = await testDatabase();
  const { url } = await startService({ db });
  await db.pool.query('DELETE FROM "_prisma_migrations"');
  await expectService(url).toMatchObject([503, { missing: ["the database is not migrated to this version"] }]);
});

test("a database without signing keys is not ready", async () => {
  const db = await testDatabase();
  const { url } = await startService({ db });
  await db.pool.query("DELETE FROM signing_key");
  await expectService(url).toMatchObject([503, { missing: ["there is no signing key"] }]);
});
