/**
 * npm run drill -- faults --minutes 10 --seed 1 [--only kill-web,disk-full] [--processes 2]
 *
 * Web and worker processes on a PostgreSQL, under load, while faults come at random, each for some seconds. At the end
 * the people that the receiver of the webhooks knows are compared with the API, and both with what was acknowledged.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import pg from "pg";
import { findPort } from "../test/support/find-port.ts";
import { getAppToken } from "../test/support/token.ts";
import { startDatabase, type Database } from "./faults/database.ts";
import { kinds, type Stage } from "./faults/kinds.ts";
import { noOutcomes, startLoad, type Load, type Outcomes } from "./faults/load.ts";
import { startMember, type Member } from "./faults/members.ts";
import { callKinds, type CallKind } from "./faults/recovery.ts";
import { makeRandom } from "./faults/random.ts";
import { startRelay } from "./faults/relay.ts";
import { makeWorld, startReceiver, type World } from "./faults/world.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: Object.keys(kinds).join(",") },
    processes: { type: "string", default: "2" },
  },
});
const recoverySeconds = 120;

/** `noticedMs`: the longest time until calls of a kind succeeded again. */
type Row = Outcomes & { times: number; noticedMs: Partial<Record<CallKind, number>> };

const pickOf = <T>(random: () => number, from: readonly T[]): T => from[Math.floor(random() * from.length)]!;

async function isReady({ port }: Member): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/health/ready`, { signal: AbortSignal.timeout(2000) }).catch(
    () => null,
  );
  await response?.body?.cancel();
  return response?.status === 200;
}

async function untilReady(members: Member[]): Promise<void> {
  const end = performance.now() + recoverySeconds * 1000;
  for (const member of members)
    while (!(await isReady(member))) {
      if (performance.now() > end)
        throw new Error(`${member.role} ${member.port} is not ready after ${recoverySeconds} s`);
      await sleep(100);
    }
}

async function play(stage: Stage, load: Load): Promise<Map<string, Row>> {
  const names = values.only.split(",").filter((name) => kinds[name]!.isPossible?.(stage) ?? true);
  for (const name of values.only.split(","))
    if (!names.includes(name)) console.log(`${name}: not possible on this machine`);
  const rows = new Map<string, Row>();
  const end = performance.now() + Number(values.minutes) * 60_000;
  // Each kind comes once before any comes again, and all of them however short the time is.
  let queue: string[] = [];
  for (let played = 0; played < names.length || performance.now() < end; played += 1) {
    if (queue.length === 0) queue = names.toSorted(() => stage.random() - 0.5);
    const name = queue.pop()!;
    const row = rows.get(name) ?? { ...noOutcomes(), times: 0, noticedMs: {} };
    rows.set(name, row);
    load.countIn(row);
    row.times += 1;
    load.recovery.begin();
    await kinds[name]!.run(stage);
    await untilAnswered(load, performance.now());
    await untilReady(stage.members);
    await sleep(500 + stage.random() * 1500);
    for (const kind of callKinds) {
      const noticedMs = load.recovery.noticedMs(kind);
      if (noticedMs !== null) row.noticedMs[kind] = Math.max(row.noticedMs[kind] ?? 0, noticedMs);
    }
  }
  return rows;
}

async function untilAnswered({ recovery }: Load, since: number): Promise<void> {
  const end = since + recoverySeconds * 1000;
  while (!recovery.isOver(since)) {
    if (performance.now() > end) throw new Error(`not every kind of call succeeds after ${recoverySeconds} s`);
    await sleep(20);
  }
}

async function listPeople(url: string, world: World): Promise<Set<string>> {
  const token = await getAppToken({ url }, world.app, ["people:read"]);
  const response = await fetch(`${url}/idm/ep/v1/schools/${world.school}/people`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return new Set(((await response.json()) as { id: string }[]).map(({ id }) => id));
}

async function countPending(database: Database): Promise<number> {
  const client = new pg.Client({ connectionString: database.url() });
  await client.connect();
  const { rows } = await client
    .query<{ pending: number }>(
      `SELECT (SELECT count(*) FROM webhook_delivery WHERE state = 'PENDING')::int
         + (SELECT count(*) FROM app_event, webhook_fan_out f WHERE app_event.position IS NULL OR app_event.position > f.position)::int
         AS pending`,
    )
    .finally(() => client.end());
  return rows[0]!.pending;
}

const missing = (of: Set<string>, from: Set<string>): number => [...of].filter((id) => !from.has(id)).length;

const inSeconds = (ms: number | undefined): string =>
  ms === undefined ? "not noticed" : `${(ms / 1000).toFixed(1)} s`;

function print(rows: Map<string, Row>): void {
  const heads = [...callKinds, "Answered", "429, 503", "Connection lost", "Other 5xx", "Longest call"];
  console.log("\nFrom a fault (held 3 s where it has an end) until calls of a kind succeed again, at most:");
  console.log(`\n| Fault | Times | ${heads.join(" | ")} |\n|${"---|".repeat(heads.length + 2)}`);
  for (const [name, row] of [...rows].sort()) {
    const noticed = callKinds.map((kind) => inSeconds(row.noticedMs[kind]));
    const cells = [name, row.times, ...noticed, row.ok, row.busy, row.cut, row.broken, inSeconds(row.longestMs)];
    console.log(`| ${cells.join(" | ")} |`);
  }
}

async function judge({ database, load, world, receiver, url }: Judged): Promise<string[]> {
  const end = performance.now() + recoverySeconds * 1000;
  while ((await countPending(database)) > 0 && performance.now() < end) await sleep(500);
  const [api, pending] = [await listPeople(url, world), await countPending(database)];
  const first = [...api].filter((id) => !load.acknowledged.has(id) && !receiver.people.has(id));
  const { received, repeated } = receiver.counts();
  console.log(
    `\n${load.acknowledged.size} people acknowledged, ${api.size} in the API, ${receiver.people.size} at the receiver; ${received} webhooks, ${repeated} of them repeated; ${load.used.codes} codes and ${load.used.refreshes} refresh tokens used.`,
  );
  return [
    ...new Set(load.wrongs),
    ...(pending > 0 ? [`${pending} deliveries still wait`] : []),
    ...(missing(load.acknowledged, api) > 0 ? [`${missing(load.acknowledged, api)} acknowledged people are lost`] : []),
    // The person who signs in was there before the receiver.
    ...(first.length > 1 ? [`${first.length - 1} people of the API are unknown to the receiver`] : []),
    ...(missing(receiver.people, api) > 0 ? [`the receiver has ${missing(receiver.people, api)} people too many`] : []),
    ...(missing(load.acknowledged, receiver.people) > 0
      ? [`the receiver lacks ${missing(load.acknowledged, receiver.people)} acknowledged people`]
      : []),
  ];
}

type Judged = {
  database: Database;
  load: Load;
  world: World;
  receiver: Awaited<ReturnType<typeof startReceiver>>;
  url: string;
};

const random = makeRandom(Number(values.seed));
const folder = mkdtempSync(join(tmpdir(), "schultor-drill-"));
const disk = mkdtempSync(join(tmpdir(), "schultor-drill-disk-"));
console.log(`Seed ${values.seed}, ${values.minutes} minutes; logs in ${folder}.`);
const database = await startDatabase(disk);
const relay = await startRelay(database.socket);
const receiver = await startReceiver();
const world = await makeWorld(database.url(), receiver.url);
const members: Member[] = [];
const env = {
  NODE_ENV: "development",
  PATH: process.env["PATH"] ?? "",
  DATABASE_URL: `postgresql://schultor@127.0.0.1:${relay.port}/schultor`,
  DATABASE_POOL_SIZE: "10",
  DEMO_WORLD: "false",
  WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
  WEBHOOK_RETRY_SECONDS: "1,2,4,8,16,30",
  SHUTDOWN_GRACE_SECONDS: "3",
};
for (const role of ["web", "worker"] as const)
  for (let i = 0; i < Number(values.processes); i++)
    members.push(startMember({ role, port: await findPort(), folder, env }));
const urls = members.filter(({ role }) => role === "web").map(({ port }) => `http://localhost:${port}`);
let failed = true;
try {
  await untilReady(members);
  const load = startLoad(world, () => pickOf(Math.random, urls));
  const rows = await play({ database, relay, members, random }, load);
  await load.stop();
  print(rows);
  const faults = await judge({ database, load, world, receiver, url: urls[0]! });
  failed = faults.length > 0;
  console.log(failed ? `\nFAILED:\n${faults.join("\n")}` : "\nNothing was lost, doubled or left over.");
} finally {
  await Promise.all(members.map((member) => member.stop()));
  relay.close();
  receiver.close();
  await database.stop();
  rmSync(disk, { recursive: true, force: true });
  if (!failed) rmSync(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
