// @module-tag slow
import { beforeAll, expect, test } from "vitest";
import { openDatabase } from "../../src/platform/database/db.ts";
import { testDatabase } from "../support/database.ts";
import { makeDatabaseGate, type DatabaseGate } from "../support/database-gate.ts";
import { expectReady } from "../support/ready.ts";
import { startService, type TestService } from "../support/service.ts";

let gate: DatabaseGate;
let service: TestService;

beforeAll(async () => {
  const { url } = await testDatabase();
  gate = await makeDatabaseGate(url);
  const db = openDatabase({ url: gate.url });
  service = await startService({ db: { ...db, url: gate.url } });
  return db.close;
});

const read = () =>
  fetch(`${service.url}/idm/ep/v1/schools`, { headers: { authorization: `Bearer ${"a".repeat(43)}` } });
const readKeys = async () =>
  ((await (await fetch(`${service.url}/.well-known/jwks.json`)).json()) as { keys: unknown[] }).keys;

test("while the database is away requests are 503 with Retry-After, the process is live and not ready, and apps get the keys; when it is back, so is the service", async () => {
  expect((await read()).status).toBe(401);
  await expectReady(service.url);
  const keys = await readKeys();
  expect(keys).toHaveLength(2);

  await gate.close();
  const away = await read();
  expect([away.status, away.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(await away.json()).toMatchObject({ code: "unavailable" });
  expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
  expect(await readKeys()).toEqual(keys);
  const ready = await fetch(`${service.url}/health/ready`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({
    status: "not_ready",
    missing: expect.arrayContaining(["the database does not answer"]) as string[],
  });

  await gate.open();
  // Until every pool has noticed that its connections are gone, a read may be answered 503.
  await expect.poll(async () => (await read()).status).toBe(401);
  await expectReady(service.url);
});
