/**
 * Sign-ons at twice the capacity beside reads and webhooks: `npm run bench -- monday`. First what one core brings in
 * sign-ons of each kind; then sign-ons with passwords by the clock, however many of them wait. A world at
 * BENCH_DATABASE_URL stays and is used again.
 */
import { once } from "node:events";
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { getAppToken } from "../test/support/token.ts";
import { measureFlow, startSubject, type Rate, type Subject } from "./harness.ts";
import { openNetwork } from "./monday/browser.ts";
import { arrive, at, type Arrivals } from "./monday/open-loop.ts";
import { countLeft, readDone } from "./monday/postgres.ts";
import { app, makeWays } from "./monday/sign-ons.ts";
import { openEvents, type Events } from "./monday/webhooks.ts";
import { makePupils } from "./monday/world.ts";
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
const capacitySeconds = Number(process.env["BENCH_SECONDS"] ?? 10);
const connections = 16;

const world = await openWorld(process.env["BENCH_DATABASE_URL"], Number(values.people));
const network = openNetwork(200);
const subjects: Subject[] = [];
const start = async (...given: Parameters<typeof startSubject>): Promise<Subject> => {
  const subject = await startSubject(...given);
  subjects.push(subject);
  return subject;
};
try {
  const pupils = await makePupils(world.db);
  const environment = { DATABASE_URL: world.url, LOG_LEVEL: "error" };
  const web = await start("service", "./subjects/service.ts", { ...environment, ROLE: "web" });
  await start("webhooks", "./subjects/webhooks.ts", environment);
  const events = await openEvents(world.db, await start("receiver", "./subjects/receiver.ts", {}));
  const ways = makeWays(web, pupils, network);
  let next = connections;

  console.log(`${pupils.length} pupils, ${cpus().length} processors, load ${load()}`);
  console.log(
    "\n| Sign-on | A second | p99 | CPU of the web process | CPU of PostgreSQL | WAL | A core of web brings |",
  );
  console.log("|---|---|---|---|---|---|---|");
  const password = await measureWay("password", web, world, () => ways.password(next++));
  await measureWay("card", web, world, () => ways.card(next++));
  await measureWay("session", web, world, (connection) => ways.session(connection));

  const reader = await openReader(web, world);
  const idle = await runBeside(reader, events, null);
  console.log(`\nIdle, load ${load()}:`);
  tell("reads", idle.reads);
  tell("events", idle.events, idle.delivered);
  const memory = web.memoryMb();

  const pace = password.perSecond * factor;
  const busy = await runBeside(reader, events, (n) => ways.password(next + n), pace);
  console.log(`\n${pace.toFixed(0)} sign-ons with a password a second, ${factor} times the capacity, load ${load()}:`);
  tell("sign-ons", busy.signOns!);
  const goodput = busy.signOns!.took.length / (busy.signOnMs / 1000);
  console.log(`sign-ons a second: ${goodput.toFixed(1)}, ${percent(goodput / password.perSecond)} of the capacity`);
  tell("reads", busy.reads);
  tell("events", busy.events, busy.delivered);
  console.log(`p99 of reads, busy against idle: ${ratio(busy.reads.took, idle.reads.took)} (at most 2)`);

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
  for (const subject of subjects.reverse()) await subject.stop();
  await world.close();
}

/** As many sign-ons as `connections` browsers make one after another, and what each costs. */
async function measureWay(
  name: string,
  web: Subject,
  { db }: World,
  way: (connection: number) => Promise<void>,
): Promise<Rate> {
  await measureFlow(way, { connections, seconds: Math.min(2, capacitySeconds) });
  const [before, cpuBefore] = [await readDone(db), web.cpuMs()];
  const rate = await measureFlow(way, { connections, seconds: capacitySeconds });
  const [after, cpu] = [await readDone(db), (web.cpuMs() - cpuBefore) / rate.count];
  const cells = [
    name,
    `${rate.perSecond.toFixed(1)}${rate.failed > 0 ? `, ${rate.failed} failed` : ""}`,
    `${rate.p99Ms.toFixed(0)} ms`,
    `${cpu.toFixed(1)} ms`,
    `${((after.cpuMs - before.cpuMs) / rate.count).toFixed(1)} ms`,
    `${((after.walBytes - before.walBytes) / rate.count / 1000).toFixed(1)} kB`,
    `${(1000 / cpu).toFixed(0)}/s`,
  ];
  console.log(`| ${cells.join(" | ")} |`);
  return rate;
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

/** Reads and events for a time, with sign-ons where they are given. */
async function runBeside(
  reader: Reader,
  events: Events,
  signOn: ((n: number) => Promise<void>) | null,
  perSecond = 0,
): Promise<{ reads: Arrivals; events: Arrivals; delivered: number[]; signOns: Arrivals | null; signOnMs: number }> {
  const began = performance.now();
  let signOnMs = 0;
  const [reads, sent, signOns] = await Promise.all([
    reader.run(),
    arrive((n) => events.send(n), { perSecond: Number(values.events), seconds }),
    signOn &&
      arrive(signOn, { perSecond, seconds }).then((result) => {
        signOnMs = performance.now() - began;
        return result;
      }),
  ]);
  return { reads, events: sent, delivered: await events.read(), signOns, signOnMs };
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

function ratio(ours: readonly number[], base: readonly number[]): string {
  return (at(ours, 0.99) / at(base, 0.99)).toFixed(2);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

function load(): string {
  return loadavg()[0]!.toFixed(0);
}
