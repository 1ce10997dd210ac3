/**
 * npm run drill -- clock --seconds 20
 *
 * Two web processes and a worker under load, first with the right time; then one of the web processes and the worker on
 * machines whose clock is two hours behind, two hours ahead and 400 days ahead. Each time nothing may be lost, deleted
 * too early, kept too long or refused, also after the wrong ones have ended.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import pg from "pg";
import { askFor } from "../support/token.ts";
import { compare } from "./faults/compare.ts";
import { startDatabase } from "./faults/database.ts";
import { startLoad } from "./faults/load.ts";
import { makeWorld, startReceiver, type Receiver, type World } from "./faults/world.ts";
import { runDrill, type Ends } from "./shared/ends.ts";
import { untilReady } from "./shared/ready.ts";
import { startProcess } from "./shared/serve.ts";

const { values } = parseArgs({ options: { seconds: { type: "string", default: "20" } } });
const root = join(import.meta.dirname, "../..");
const hour = 3600;
const offsets = { right: 0, "2 h behind": -2 * hour, "2 h ahead": 2 * hour, "400 days ahead": 400 * 24 * hour };
const toleranceSeconds = 60;

type Stage = { database: { url(): string }; folder: string; world: World; receiver: Receiver; ends: Ends };
/** How far the latest time of each column is ahead of now, and how many rows are older than the drill's part. */
type Times = { ahead: Map<string, number>; old: Map<string, number> };

async function readTimes(url: string, before: Date): Promise<Times> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ table: string; column: string }>(
      `SELECT quote_ident(table_name) AS table, quote_ident(column_name) AS column FROM information_schema.columns
       JOIN pg_class c ON c.oid = to_regclass(quote_ident(table_name)) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       WHERE table_schema = current_schema() AND data_type = 'timestamp with time zone'`,
    );
    const times: Times = { ahead: new Map(), old: new Map() };
    for (const { table, column } of rows) {
      const text = `SELECT extract(epoch FROM max(${column}) - clock_timestamp())::float8 AS ahead,
        count(*) FILTER (WHERE ${column} < $1)::int AS old FROM ${table}`;
      const [read] = (await client.query<{ ahead: number | null; old: number }>(text, [before])).rows;
      times.ahead.set(`${table}.${column}`, read!.ahead ?? 0);
      times.old.set(`${table}.${column}`, read!.old);
    }
    return times;
  } finally {
    await client.end();
  }
}

// Written once, with the time of the writing, and kept for months.
const kept = ["audit.at", "person.created_at", "webhook_attempt.at"];

function compareTimes(expected: Times, was: Times, is: Times): string[] {
  const tooFar = [...is.ahead]
    .filter(([name, ahead]) => ahead > Math.max(expected.ahead.get(name) ?? 0, 0) + toleranceSeconds)
    .map(([name, ahead]) => `${name} lies ${Math.round(ahead)} s ahead`);
  const moved = kept
    .filter((name) => is.old.get(name) !== was.old.get(name))
    .map((name) => `${name}: ${was.old.get(name)} rows were older, now ${is.old.get(name)}`);
  return [...tooFar, ...moved];
}

async function countRefusals(url: string, { app }: World): Promise<number> {
  const asked = await Promise.all(
    Array.from({ length: 20 }, () => fetch(askFor({ url }, app).address, { redirect: "manual" })),
  );
  return asked.filter(({ status }) => status >= 400).length;
}

async function startPart({ database, folder, ends }: Stage, offsetSeconds: number) {
  const dns = join(folder, "dns");
  writeFileSync(dns, "0");
  const env = {
    DATABASE_URL: database.url(),
    DATABASE_POOL_SIZE: "15",
    DNS_DELAY_FILE: dns,
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
    SHUTDOWN_GRACE_SECONDS: "3",
    NODE_OPTIONS: ["test/drills/faults/slow-dns.ts", "test/support/shifted-clock.ts"]
      .map((file) => `--import ./${file}`)
      .join(" "),
  };
  const start = async (role: "web" | "worker", seconds: number) =>
    ends.keep(
      startProcess({
        root,
        role,
        logFile: join(folder, `${role}-${seconds}.log`),
        env: { ...env, CLOCK_OFFSET_SECONDS: String(seconds) },
      }),
      (started) => started.stop(),
    );
  const [right, wrong, worker] = [
    await start("web", 0),
    await start("web", offsetSeconds),
    await start("worker", offsetSeconds),
  ];
  await untilReady([right, wrong, worker]);
  return { right, wrong: [wrong, worker], urls: [right, wrong].map(({ port }) => `http://localhost:${port}`) };
}

/** Plays one offset. Shape: `expected` is null with the right time, to which the others are held. */
async function play(stage: Stage, offsetSeconds: number, expected: Times | null) {
  const { database, world, receiver } = stage;
  const began = new Date();
  const { right, wrong, urls } = await startPart(stage, offsetSeconds);
  const was = await readTimes(database.url(), began);
  let turn = 0;
  const load = startLoad(world, () => urls[turn++ % urls.length]!);
  const outcomes = { ok: 0, busy: 0, cut: 0, broken: 0, longestMs: 0 };
  load.countIn(outcomes);
  await sleep(Number(values.seconds) * 1000);
  await load.stop();
  const differences = await compare({ database, load, world, receiver, url: urls[0]! });
  const is = await readTimes(database.url(), began);
  await Promise.all(wrong.map((process) => process.stop()));
  const refusals = await countRefusals(urls[0]!, world);
  await right.stop();
  console.log(`${outcomes.ok} answered, ${outcomes.busy} refused, ${outcomes.broken} failed.`);
  const faults = [
    ...differences,
    ...(expected === null ? [] : compareTimes(expected, was, is)),
    ...(outcomes.busy > 0 ? [`${outcomes.busy} calls were refused`] : []),
    ...(refusals > 0 ? [`${refusals} sign-ons were refused after the wrong processes had ended`] : []),
    ...load.thrown,
  ];
  return { faults, times: is, acknowledged: load.acknowledged };
}

await runDrill(async (ends) => {
  const folder = mkdtempSync(join(tmpdir(), "schultor-drill-"));
  const disk = mkdtempSync(join(tmpdir(), "schultor-drill-disk-"));
  let isGood = true;
  ends.add(() => isGood && rmSync(folder, { recursive: true }));
  ends.add(() => rmSync(disk, { recursive: true, force: true }));
  console.log(`Logs in ${folder}.`);
  const database = await ends.keep(startDatabase(disk), (started) => started.stop());
  let expected: Times | null = null;
  const receiver = await ends.keep(startReceiver(), (started) => started.close());
  const world = await makeWorld(database.url(), receiver.url);
  const stage = { database, folder, world, receiver, ends };
  for (const [name, seconds] of Object.entries(offsets)) {
    console.log(`\nThe clock of one web process and the worker: ${name}.`);
    const { faults, times } = await play(stage, seconds, expected);
    expected ??= times;
    isGood &&= faults.length === 0;
    console.log(faults.length === 0 ? "Nothing was lost, early, late or refused." : `FAILED:\n${faults.join("\n")}`);
  }
  return isGood;
});
