/**
 * Days of sign-ons in fast motion with all jobs running: `npm run bench -- day --sign-ons 100000`. Writes the rows of
 * each sign-on into a world, up to 5,000 in a statement, runs every job as often as its simulated time says, and asks a
 * service in a process of its own meanwhile, also for sign-ons. Prints rows and bytes of each table that grew, what the
 * jobs took, and the latency against idle.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import type { ClientId } from "../src/access/index.ts";
import { makeApp } from "../src/app.ts";
import { readConfig } from "../src/config/index.ts";
import { silentLog } from "../src/platform/telemetry/log.ts";
import { openShares } from "../src/platform/database/shares.ts";
import { openBenchDatabase } from "./database.ts";
import { percentile, probe, type Latencies } from "./day/latency.ts";
import { larger, measureTables, showSize, type Size } from "./day/tables.ts";
import { numberPairs, writeWave } from "./day/writes.ts";
import { startSubject } from "./harness.ts";
import { openSessions, signOn } from "./sign-on.ts";
import { fillWorld } from "./world/fill.ts";
import { appSecret, password } from "./world/shape.ts";

const { values } = parseArgs({
  options: {
    "sign-ons": { type: "string", default: "100000" },
    days: { type: "string", default: "2" },
    people: { type: "string", default: "10000" },
    "new-session-percent": { type: "string", default: "50" },
    "refresh-percent": { type: "string", default: "10" },
  },
});
const number = (name: keyof typeof values): number => {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  console.error(`--${name} takes a whole number`);
  return process.exit(2);
};
const perDay = number("sign-ons");
const days = number("days");
const quietDays = 2;
const dayMs = 86_400_000;
const tickMs = 5 * 60_000;
const waveSize = 5000;
const idleSeconds = 15;

/** Sign-ons of a hour of a school day, in thousandths of a day. */
const hours = [2, 1, 1, 1, 1, 5, 20, 170, 180, 120, 110, 100, 80, 50, 35, 30, 25, 20, 18, 14, 8, 5, 3, 1];

const database = await openBenchDatabase();
const { db } = database;
const until = new Date();
const begin = new Date(until.getTime() - (days + quietDays) * dayMs);
let now = begin;

await fillWorld(db, { people: number("people"), seed: 1, signIns: 20, until: begin });
// A day of fast motion takes minutes, and autovacuum looks at tables once a minute.
await db.pool.query("ALTER SYSTEM SET autovacuum_naptime = '1s'");
await db.pool.query("SELECT pg_reload_conf()");
const pairs = await numberPairs(db);

const env = { NODE_ENV: "development", PORT: "0", DEMO_WORLD: "false" };
const config = readConfig(env);
const shares = openShares({ url: database.url, poolSize: config.databasePoolSize, role: "worker" });
const app = await makeApp(config, { clock: () => now, log: silentLog, shares, isStopping: () => false });
const service = await startSubject("service", "./subjects/service.ts", {
  ...env,
  DATABASE_URL: database.url,
  ROLE: "web",
  LOG_LEVEL: "error",
});

const { rows } = await db.pool.query<{ id: string }>(
  `SELECT school_id AS id FROM "grant" WHERE client_id = 'app-00' AND sync LIMIT 1`,
);
const login = await db.pool.query<{ username: string }>(
  `SELECT username FROM credential JOIN sign_in USING (person_id) JOIN person p ON p.id = person_id
   WHERE client_id = 'app-00' AND p.status = 'ACTIVE' AND p.blocked_at IS NULL
     AND (SELECT count(*) FROM affiliation a WHERE a.person_id = p.id) = 1 LIMIT 8`,
);
const sessions = await openSessions(
  service.url,
  { clientId: "app-00" as ClientId, clientSecret: appSecret, redirectUri: "http://127.0.0.1:4000/callback" },
  login.rows.map(({ username }) => ({ username, password })),
);
const asked = {
  signOns: sessions.map(signOn),
  basic: Buffer.from(`app-00:${appSecret}`).toString("base64"),
  school: rows[0]!.id,
};
const probeWhile = async (work: () => Promise<void>): Promise<Latencies> => {
  const done = new AbortController();
  const probing = probe(service.url, { ...asked, done: done.signal });
  try {
    await work();
  } finally {
    done.abort();
  }
  return probing;
};

type Ran = { runs: number; longest: number; total: number };
const ran = new Map<string, Ran>();
const due = new Map<string, number>();

async function runJobs(): Promise<void> {
  for (const { name, everySeconds, run } of app.jobs) {
    if ((due.get(name) ?? 0) > now.getTime()) continue;
    due.set(name, now.getTime() + everySeconds * 1000);
    const began = performance.now();
    await run(new AbortController().signal);
    const took = performance.now() - began;
    const before = ran.get(name) ?? { runs: 0, longest: 0, total: 0 };
    ran.set(name, {
      runs: before.runs + 1,
      longest: Math.max(before.longest, took),
      total: before.total + took,
    });
  }
}

const peak = new Map<string, Size>();
let written = 0;

async function notePeak(): Promise<void> {
  for (const [name, size] of await measureTables(db)) peak.set(name, larger(size, peak.get(name) ?? size));
}

async function liveDays(count: number, signOnsPerDay: number): Promise<void> {
  const end = now.getTime() + count * dayMs;
  let owed = 0;
  for (let tick = 0; now.getTime() < end; tick++) {
    owed += ((hours[now.getUTCHours()] ?? 0) / 1000 / 12) * signOnsPerDay;
    for (; owed >= 1;) {
      const size = Math.min(waveSize, Math.floor(owed));
      await writeWave(
        db,
        {
          from: written,
          count: size,
          at: now,
          newSessionPercent: number("new-session-percent"),
          refreshPercent: number("refresh-percent"),
        },
        pairs,
      );
      written += size;
      owed -= size;
    }
    now = new Date(now.getTime() + tickMs);
    await runJobs();
    if (tick % 6 === 0) await notePeak();
  }
}

try {
  await runJobs();
  await probeWhile(() => sleep(3000));
  const idle = await probeWhile(() => sleep(idleSeconds * 1000));
  ran.clear();
  const before = await measureTables(db);
  const began = performance.now();
  const busy = await probeWhile(() => liveDays(days, perDay));
  const busySeconds = (performance.now() - began) / 1000;
  const end = await measureTables(db);
  await liveDays(quietDays, 0);
  await db.pool.query("SELECT pg_stat_force_next_flush()");
  const after = await measureTables(db);
  const idleAgain = await probeWhile(() => sleep(idleSeconds * 1000));

  console.log(
    `${written.toLocaleString("en")} sign-ons in ${days} simulated days, and ${busy["sign-on"].length} by the service itself, took ${busySeconds.toFixed(0)} s; load ${loadavg()[0]!.toFixed(1)}\n`,
  );
  console.log(
    "| Table | Before (bytes, live / dead rows) | Peak | End of the last day | Two quiet days later | Inserted, updated, deleted for a sign-on |\n|---|---|---|---|---|---|",
  );
  for (const [name, first] of before) {
    const [most, last, rest] = [peak.get(name)!, end.get(name)!, after.get(name)!];
    const changes = [rest.inserted - first.inserted, rest.updated - first.updated, rest.deleted - first.deleted];
    if (Math.max(...changes) < written / 100) continue;
    const each = changes.map((value) => (value / written).toFixed(2)).join(", ");
    console.log(`| \`${name}\` | ${[first, most, last, rest].map(showSize).join(" | ")} | ${each} |`);
  }
  console.log("\n| Job | Runs | Longest | All |\n|---|---|---|---|");
  for (const [name, { runs, longest, total }] of [...ran].sort((a, b) => b[1].total - a[1].total).slice(0, 10))
    console.log(`| \`${name}\` | ${runs} | ${longest.toFixed(0)} ms | ${(total / 1000).toFixed(1)} s |`);
  console.log(
    "\n| Request | Idle before p50 / p99 | Meanwhile | Idle after | Ratio to the mean of idle p50 / p99 |\n|---|---|---|---|---|",
  );
  for (const what of ["token", "read", "sign-on"] as const) {
    const at = (all: Latencies) => [0.5, 0.99].map((share) => percentile(all[what], share));
    const [first, while_, last] = [at(idle), at(busy), at(idleAgain)];
    const ratio = while_.map((value, i) => (value / ((first[i]! + last[i]!) / 2)).toFixed(2)).join(" / ");
    const show = (pair: number[]) => `${pair.map((ms) => ms.toFixed(1)).join(" / ")} ms`;
    console.log(`| ${what} | ${show(first)} | ${show(while_)} | ${show(last)} | **${ratio}** |`);
  }
} finally {
  await service.stop();
  app.endWaits();
  await app.close();
  await shares.close();
  await database.close();
}
