/**
 * Sign-ons at twice the capacity beside reads and webhooks: `npm run bench -- monday`. They have passwords and come by
 * the clock, however many of them wait. Before that, the capacity with passwords alone and where most people need none.
 * A world at BENCH_DATABASE_URL stays and is used again.
 */
import { once } from "node:events";
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { getAppToken } from "../test/support/token.ts";
import type { Subject } from "./harness.ts";
import { openNetwork, type Refused } from "./monday/browser.ts";
import { signOnInTurns } from "./monday/closed-loop.ts";
import { arrive, at, type Arrivals } from "./monday/open-loop.ts";
import { countLeft } from "./monday/postgres.ts";
import { startService, type Service } from "./monday/service.ts";
import { app, makeWays, type Ways } from "./monday/sign-ons.ts";
import type { Events } from "./monday/webhooks.ts";
import { makePasskeys, makePupils } from "./monday/world.ts";
import { openWorld, takeSample, type World } from "./size/worlds.ts";

const { values } = parseArgs({
  options: {
    people: { type: "string", default: "10000" },
    seconds: { type: "string", default: "30" },
    factor: { type: "string", default: "2" },
    reads: { type: "string", default: "50" },
    events: { type: "string", default: "10" },
  },
});
const [seconds, factor] = [Number(values.seconds), Number(values.factor)];
const connections = 16;
/** How ten people sign in at a school with cards, passkeys and devices of their own, in this order. */
const mixedWays = [
  ...(["card", "session", "passkey", "card", "session"] as const),
  ...(["card", "password", "card", "session", "passkey"] as const),
];

const world = await openWorld(process.env["BENCH_DATABASE_URL"], Number(values.people));
const network = openNetwork(200);
let service: Service | undefined;
try {
  const pupils = await makePupils(world.db);
  service = await startService(world);
  const { web, worker, events } = service;
  const told: Refused[] = [];
  const keys = await makePasskeys(world.db, pupils.slice(0, 1000), web.url);
  const ways = makeWays(web, pupils, { keys, network, told: (refused) => told.push(refused) });
  let next = connections;

  console.log(`${pupils.length} pupils, ${cpus().length} processors, load ${load()}`);
  const reader = await openReader(web, world);
  const idle = await runBeside(reader, events, null);
  console.log(`\nIdle, load ${load()}:`);
  tell("reads", idle.reads);
  tell("events", idle.events, idle.delivered);
  const memory = web.memoryMb();

  const fill = async (signOn: (connection: number) => Promise<void>) => {
    const [, made] = await Promise.all([
      runBeside(reader, events, null),
      signOnInTurns(signOn, { connections, seconds }),
    ]);
    return made;
  };
  // Each browser has its session before the time counts.
  await signOnInTurns(ways.session, { connections, count: connections });
  const mixed = await fill((connection) => signInMixed(ways, { n: next++, connection }));
  const full = await fill(() => ways.password(next++));
  console.log(`\nAs many sign-ons as ${connections} browsers make beside the same reads and events:`);
  console.log(`${full.count} with a password, ${full.perSecond.toFixed(1)} a second: the capacity`);
  console.log(
    `${mixed.count} of which ${shareOfPasswords()} with a password, ${mixed.perSecond.toFixed(1)} a second, ` +
      `${(mixed.perSecond / full.perSecond).toFixed(2)} times as many; ${mixed.failed} failed`,
  );

  const pace = full.perSecond * factor;
  told.length = 0;
  const used = openUsage({ web, worker });
  const busy = await runBeside(reader, events, (n) => ways.password(next + n), pace, used);
  console.log(`\n${pace.toFixed(0)} sign-ons with a password a second, ${factor} times the capacity, load ${load()}:`);
  tell("sign-ons", busy.signOns!);
  const goodput = busy.signOns!.meanwhile / seconds;
  console.log(
    `sign-ons a second meanwhile: ${goodput.toFixed(1)}, ${percent(goodput / full.perSecond)} of the capacity`,
  );
  tellWaits(told);
  tell("reads", busy.reads);
  tell("events", busy.events, busy.delivered);
  console.log(`p99 of reads, busy against idle: ${ratio(busy.reads.took, idle.reads.took)} (at most 2)`);
  console.log(`processors used meanwhile: ${used.read()}`);

  const after = await runBeside(reader, events, null);
  const left = await countLeft(world.db);
  console.log(`\nAfterwards, load ${load()}:`);
  tell("reads", after.reads);
  await ways.password(next + Math.ceil(pace * seconds));
  console.log(
    `a sign-on succeeds; busy connections ${left.transactions}, deliveries that wait ${left.deliveries}, ` +
      `memory ${web.memoryMb().toFixed(0)} MB, before ${memory.toFixed(0)} MB`,
  );
  await reader.close();
} finally {
  await network.close();
  await service?.stop();
  await world.close();
}

function signInMixed(ways: Ways, { n, connection }: { n: number; connection: number }): Promise<void> {
  const way = mixedWays[n % mixedWays.length]!;
  return ways[way](way === "session" ? connection : n);
}

function shareOfPasswords(): string {
  return percent(mixedWays.filter((way) => way === "password").length / mixedWays.length);
}

type Reader = { run(): Promise<Arrivals>; close(): Promise<unknown> };

async function openReader(web: Subject, { db }: World): Promise<Reader> {
  const authorization = `Bearer ${await getAppToken(web, app, ["users:read"])}`;
  const { people } = await takeSample({ ...world, db });
  const urls = people.map((id) => `${web.url}/idm/ep/v1/users/${id}`);
  const thread = new Worker(new URL("./monday/reader.ts", import.meta.url), { workerData: { urls, authorization } });
  return {
    async run() {
      const answer = once(thread, "message") as Promise<[Arrivals]>;
      thread.postMessage({ perSecond: Number(values.reads), seconds });
      return (await answer)[0];
    },
    close: () => thread.terminate(),
  };
}

type Usage = { stop(): void; read(): string };

/** The processors that the parts use from now until `stop`; the load is that of this process. */
function openUsage({ web, worker }: Record<"web" | "worker", Subject>): Usage {
  const readCpuMs = (): Record<string, number> => {
    const { user, system } = process.cpuUsage();
    return { web: web.cpuMs(), worker: worker.cpuMs(), load: (user + system) / 1000 };
  };
  const [before, began] = [readCpuMs(), performance.now()];
  let said = "";
  return {
    stop() {
      const [after, tookMs] = [readCpuMs(), performance.now() - began];
      const share = ([name, cpuMs]: [string, number]) => `${name} ${((cpuMs - before[name]!) / tookMs).toFixed(2)}`;
      said = `${Object.entries(after).map(share).join(", ")} of ${cpus().length}`;
    },
    read: () => said,
  };
}

/** Reads and events for a time, with sign-ons where they are given; `used` counts until their last arrival. */
async function runBeside(
  reader: Reader,
  events: Events,
  signOn: ((n: number) => Promise<void>) | null,
  perSecond = 0,
  used?: Usage,
): Promise<{ reads: Arrivals; events: Arrivals; delivered: number[]; signOns: Arrivals | null }> {
  const [reads, sent, signOns] = await Promise.all([
    reader.run().finally(() => used?.stop()),
    arrive((n) => events.send(n), { perSecond: Number(values.events), seconds }),
    signOn && arrive(signOn, { perSecond, seconds }),
  ]);
  return { reads, events: sent, delivered: await events.read(), signOns };
}

function tell(what: string, result: Arrivals, took = result.took): void {
  const { arrived, refused, failed, most } = result;
  const times = `p50 ${at(took, 0.5).toFixed(0)} ms, p99 ${at(took, 0.99).toFixed(0)} ms`;
  console.log(`${what}: ${arrived} arrived, ${took.length} succeeded, ${times}, most at a time ${most}`);
  for (const [status, waits] of Map.groupBy(refused, ({ status }) => status)) {
    const seconds = waits.map(({ retryAfterSeconds }) => retryAfterSeconds).sort((a, b) => a - b);
    console.log(`  ${waits.length} refused with ${status}, to wait ${seconds[0]} to ${seconds.at(-1)} s`);
    console.log(`  "${waits[0]!.text.slice(0, 240)}"`);
  }
  for (const [reason, count] of failed) console.log(`  ${count} FAILED: ${reason}`);
}

function tellWaits(told: readonly Refused[]): void {
  if (told.length === 0) return console.log("nobody was told to wait");
  const seconds = told.map(({ retryAfterSeconds }) => retryAfterSeconds).sort((a, b) => a - b);
  console.log(`told to wait, with ${told[0]!.status}: ${told.length} times, ${seconds[0]} to ${seconds.at(-1)} s`);
  console.log(`  "${told[0]!.text.slice(0, 240)}"`);
}

function ratio(ours: readonly number[], base: readonly number[]): string {
  return (at(ours, 0.99) / at(base, 0.99)).toFixed(2);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

function load(): string {
  return loadavg()[0]!.toFixed(0);
}
