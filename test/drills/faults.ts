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
import { findPort } from "../support/find-port.ts";
import { runDrill } from "./shared/ends.ts";
import { compare } from "./faults/compare.ts";
import { startDatabase } from "./faults/database.ts";
import { kinds, type Stage } from "./faults/kinds.ts";
import { noOutcomes, startLoad, type Load, type Outcomes } from "./faults/load.ts";
import { startMember, type Member } from "./faults/members.ts";
import { callKinds, type CallKind } from "./faults/recovery.ts";
import { makeRandom } from "./faults/random.ts";
import { startRelay } from "./faults/relay.ts";
import { makeWorld, startReceiver } from "./faults/world.ts";
import { untilReady } from "./shared/ready.ts";

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
    load.serverErrors.begin(name, kinds[name]!.takesDatabase ?? false);
    await kinds[name]!.run(stage);
    await stage.database.untilWritable();
    load.serverErrors.databaseIsBack();
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

const inSeconds = (ms: number | undefined): string =>
  ms === undefined ? "not noticed" : `${(ms / 1000).toFixed(1)} s`;

function print(rows: Map<string, Row>, { serverErrors }: Load): void {
  const counted = ["Answered", "429, 503", "Connection lost", "server_error", "Other 5xx", "Longest call"];
  const heads = [...callKinds, ...counted];
  console.log("\nFrom a fault (held 3 s where it has an end) until calls of a kind succeed again, at most:");
  console.log(`\n| Fault | Times | ${heads.join(" | ")} |\n|${"---|".repeat(heads.length + 2)}`);
  for (const [name, row] of [...rows].sort()) {
    const noticed = callKinds.map((kind) => inSeconds(row.noticedMs[kind]));
    const counts = [row.ok, row.busy, row.cut, serverErrors.count(name), row.broken, inSeconds(row.longestMs)];
    const cells = [name, row.times, ...noticed, ...counts];
    console.log(`| ${cells.join(" | ")} |`);
  }
}

const startMembers = async (port: number, folder: string): Promise<Member[]> => {
  const env = {
    NODE_ENV: "development",
    PATH: process.env["PATH"] ?? "",
    DATABASE_URL: `postgresql://schultor@127.0.0.1:${port}/schultor`,
    DATABASE_POOL_SIZE: "15",
    DEMO_WORLD: "false",
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
    WEBHOOK_RETRY_SECONDS: "1,2,4,8,16,30",
    SHUTDOWN_GRACE_SECONDS: "3",
  };
  const members = [];
  for (const role of ["web", "worker"] as const)
    for (let i = 0; i < Number(values.processes); i++)
      members.push(startMember({ role, port: await findPort(), folder, env }));
  return members;
};

await runDrill(async (ends) => {
  const folder = mkdtempSync(join(tmpdir(), "schultor-drill-"));
  const disk = mkdtempSync(join(tmpdir(), "schultor-drill-disk-"));
  console.log(`Seed ${values.seed}, ${values.minutes} minutes; logs in ${folder}.`);
  let isGood = false;
  ends.add(() => isGood && rmSync(folder, { recursive: true }));
  ends.add(() => rmSync(disk, { recursive: true, force: true }));
  const database = await ends.keep(startDatabase(disk), (started) => started.stop());
  const relay = await ends.keep(startRelay(database.socket), (started) => started.close());
  const receiver = await ends.keep(startReceiver(), (started) => started.close());
  const world = await makeWorld(database.url(), receiver.url);
  const members = await ends.keep(startMembers(relay.port, folder), (started) =>
    Promise.all(started.map((member) => member.stop())),
  );
  const urls = members.filter(({ role }) => role === "web").map(({ port }) => `http://localhost:${port}`);
  await untilReady(members);
  const load = startLoad(world, () => pickOf(Math.random, urls));
  const rows = await play({ database, relay, members, random: makeRandom(Number(values.seed)) }, load);
  await load.stop();
  print(rows, load);
  const differences = await compare({ database, load, world, receiver, url: urls[0]! });
  isGood = differences.length === 0;
  console.log(isGood ? "\nNothing was lost, doubled or left over." : `\nFAILED:\n${differences.join("\n")}`);
  return isGood;
});
