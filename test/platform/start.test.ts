// @module-tag slow
import { execFile } from "node:child_process";
import { createServer, type AddressInfo } from "node:net";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { makeBrowser } from "../support/browser.ts";
import { makeDataDir, removeDataDir } from "../support/data-dir.ts";
import { testDatabase } from "../support/database.ts";
import { startMain, startProgram } from "../support/program.ts";
import { expectReady } from "../support/ready.ts";

const db = await testDatabase();
const freshDb = await testDatabase();
const dataDir = makeDataDir();
afterAll(() => removeDataDir(dataDir));

test("a wrong configuration ends the start with code 78 and names every problem", async () => {
  const program = startProgram(["src/main.ts"], { PORT: "abc", PLATFORM: "No" });
  expect(await program.ended).toEqual({ code: 78, signal: null });
  expect(program.output()).toMatch(/2 problems[^]*PORT=abc[^]*PLATFORM=No/);
});

test("production with an http issuer, no keys and the demo world does not start", async () => {
  const program = startProgram(["src/main.ts"], {
    NODE_ENV: "production",
    ISSUER_URL: "http://login.example.org",
    DEMO_WORLD: "true",
    DATABASE_URL: db.url,
  });
  expect(await program.ended).toEqual({ code: 78, signal: null });
  expect(program.output()).toMatch(/DEMO_WORLD=true is refused/);
  expect(program.output()).toMatch(/ISSUER_URL must start with https/);
  expect(program.output()).toMatch(/ENCRYPTION_KEYS is missing/);
});

test("a taken port is told in words, and nothing is left behind", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  const program = startProgram(["src/main.ts"], { PORT: String(port), DATABASE_URL: db.url });
  expect(await program.ended).toEqual({ code: 1, signal: null });
  expect(program.output()).toContain(`Port ${port} is taken by another program`);
  other.close();
});

test("a wrong database password is told without the address's secret", async () => {
  const url = new URL(db.url);
  url.username = "nobody";
  url.password = "hush-hush";
  const program = startProgram(["src/main.ts"], { PORT: "0", DATABASE_URL: url.href });
  expect(await program.ended).toEqual({ code: 1, signal: null });
  expect(program.output()).toContain("Check DATABASE_URL");
  expect(program.output()).not.toContain("hush-hush");
});

test("without configuration it starts on an embedded database, prints what to try, and stops when asked", async () => {
  const program = startProgram(["src/main.ts"], { PORT: "0", DATA_DIR: dataDir });
  const [, url] = await program.says(/IDM API +(http:\/\/localhost:\d+)\//);
  await expectReady(url!);
  await program.says(/student\.goethe +demo-student-goethe/);
  const [curl] = await program.says(/curl .*schools(?=\n)/);
  const { stdout } = await promisify(execFile)("sh", ["-c", curl]);
  expect((JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)).toEqual([
    "Förderzentrum Süd",
    "Goethe-Gymnasium Musterstadt",
  ]);
  const [signOnUrl] = await program.says(/http:\S+\/(login|sign-in)(?= )/);
  const first = await fetch(signOnUrl, { redirect: "manual" });
  const page = await makeBrowser(url!).open(first.headers.get("location") ?? signOnUrl);
  expect(page.html).toContain('name="password"');
  program.child.kill("SIGTERM");
  expect(await program.ended).toEqual({ code: 0, signal: null });
});

test("two processes start on one database at once, and both serve", async () => {
  const programs = await Promise.all([startMain({ DATABASE_URL: db.url }), startMain({ DATABASE_URL: db.url })]);
  for (const { url } of programs) await expectReady(url);
});

test("a worker answers health checks and nothing else", async () => {
  const { url } = await startMain({ DATABASE_URL: db.url, ROLE: "worker" });
  await expectReady(url);
  expect((await fetch(`${url}/idm/ep/v1/schools`)).status).toBe(404);
});

const ownKey = "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=";

test("encryption keys that do not open what the database holds are told in words", async () => {
  const program = startProgram(["src/main.ts"], { PORT: "0", DATABASE_URL: db.url, ENCRYPTION_KEYS: ownKey });
  expect(await program.ended).toEqual({ code: 1, signal: null });
  expect(program.output()).toMatch(/\nNone of the encryption keys opens what this database holds\. [^\n]*\n$/);
});

test("production logs JSON lines only, and keeps metrics to their own port", async () => {
  const program = startProgram(["src/main.ts"], {
    NODE_ENV: "production",
    ISSUER_URL: "https://login.example.org",
    HOST: "127.0.0.1",
    PORT: "0",
    METRICS_PORT: "0",
    DATABASE_URL: freshDb.url,
    ENCRYPTION_KEYS: ownKey,
  });
  const [, port, metricsPort] = await program.says(/"port":(\d+),"metricsPort":(\d+)/);
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(answer.status).toBe(404);
  expect(answer.headers.get("strict-transport-security")).toContain("max-age");
  expect(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()).toContain(
    "http_request_duration_seconds",
  );
  for (const line of program.output().trim().split("\n")) expect(() => JSON.parse(line) as unknown).not.toThrow();
});
