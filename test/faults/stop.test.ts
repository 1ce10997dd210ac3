// @module-tag slow
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { makeDataDir, removeDataDir } from "../support/data-dir.ts";
import { testDatabase } from "../support/database.ts";
import { startMain, startProgram } from "../support/program.ts";
import { expectReady } from "../support/ready.ts";
import { countWaiting } from "../support/waiting.ts";

const db = await testDatabase();

// Without jobs, which run at the start and would wait for a held table beside the request.
const startWeb = (env: Record<string, string> = {}) => startMain({ DATABASE_URL: db.url, ROLE: "web", ...env });

/** Locks a table that the service needs: it waits until the table is given back, at the latest with the test. */
async function holdTable(table: string): Promise<() => Promise<void>> {
  const client = await db.pool.connect();
  await client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  let end: Promise<void> | null = null;
  const giveBack = () => (end ??= client.query("ROLLBACK").then(() => client.release()));
  onTestFinished(giveBack);
  return giveBack;
}

/** Waits for the request that waits for the table. */
const isHeld = () => expect.poll(() => countWaiting(db, { table: "oidc_artifact" })).toBe(1);

function get(url: string): Promise<{ status: number | undefined; connection: string | undefined }> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { authorization: `Bearer ${"a".repeat(43)}` } }, (res) => {
      res.resume();
      res.on("end", () => resolve({ status: res.statusCode, connection: res.headers.connection }));
    })
      .on("error", reject)
      .end();
  });
}

test("a request that runs when SIGTERM comes is answered whole; a new one is not accepted; the process ends with 0", async () => {
  const { url, child, ended, says } = await startWeb();
  const giveBack = await holdTable("oidc_artifact");
  const running = get(`${url}/idm/ep/v1/schools`);
  await isHeld();
  child.kill("SIGTERM");
  await says(/Stopping/);
  const isAccepted = () =>
    get(`${url}/health/live`).then(
      () => true,
      () => false,
    );
  await expect.poll(isAccepted).toBe(false);
  await giveBack();
  expect(await running).toEqual({ status: 401, connection: "close" });
  expect(await ended).toEqual({ code: 0, signal: null });
});

test("a request that never ends is cut off when the grace time is over, and the process still ends with 0", async () => {
  const { url, child, ended, output } = await startWeb({ SHUTDOWN_GRACE_SECONDS: "1" });
  const giveBack = await holdTable("oidc_artifact");
  const running = get(`${url}/idm/ep/v1/schools`).catch(() => "cut off");
  await isHeld();
  child.kill("SIGTERM");
  expect(await running).toBe("cut off");
  await giveBack();
  expect(await ended).toEqual({ code: 0, signal: null });
  expect(output()).toContain("were aborted cutOff=1");
});

test("a second signal ends at once, unless it is the echo of the first", async () => {
  const { url, child, ended, says } = await startWeb();
  const giveBack = await holdTable("oidc_artifact");
  const running = get(`${url}/idm/ep/v1/schools`).catch(() => "cut off");
  await isHeld();
  // The echo comes at once, here as another signal: two alike may arrive as one, and one after a pause too late.
  child.kill("SIGINT");
  child.kill("SIGTERM");
  await says(/Stopping/);
  await sleep(600);
  expect(child.exitCode).toBe(null);
  child.kill("SIGINT");
  expect(await ended).toEqual({ code: 130, signal: null });
  expect(await running).toBe("cut off");
  await giveBack();
});

test("what takes longer than two seconds at the start says so, and a signal ends it there", async () => {
  const giveBack = await holdTable("school");
  const { child, ended, says } = startProgram(["src/main.ts"], { PORT: "0", DEMO_WORLD: "true", DATABASE_URL: db.url });
  // A busy machine says it late.
  await says(/Loading the demo world … \(\d+ s\)/);
  child.kill("SIGTERM");
  expect(await ended).toEqual({ code: 0, signal: null });
  await giveBack();
});

test("when the embedded PostgreSQL is gone the process says so and ends with 1, and the next start has everything back", async () => {
  const dataDir = makeDataDir();
  onTestFinished(() => removeDataDir(dataDir));
  const { ended, says } = await startMain({ DATA_DIR: dataDir });
  const [pid] = readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n");
  process.kill(Number(pid), "SIGKILL");
  await says(/the embedded PostgreSQL stopped unexpectedly/);
  expect(await ended).toEqual({ code: 1, signal: null });
  const next = await startMain({ DATA_DIR: dataDir });
  await expectReady(next.url);
  next.child.kill("SIGTERM");
  await next.ended;
});
