/**
 * npm run drill -- upgrade --from <revision> [--seconds 15]
 *
 * An earlier revision serves under load. The migrations of this one run, its processes start beside the earlier ones,
 * these stop; then the earlier revision comes back on the new schema, and this one again. Requests go to all processes
 * in turn, as behind a proxy. None may fail, and at the end what the receiver of the webhooks knows is compared with
 * the API, and both with what was acknowledged.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startEmbeddedPostgres } from "../../src/platform/postgres/index.ts";
import { compare } from "./faults/compare.ts";
import { noOutcomes, startLoad, type Load, type Outcomes } from "./faults/load.ts";
import { startReceiver } from "./faults/world.ts";
import { runDrill } from "./shared/ends.ts";
import { isReady, untilReady } from "./shared/ready.ts";
import { errorsIn, startProcess, type, type Process } from "./shared/serve.ts";
import { startBalancer, type Balancer } from "./upgrade/balancer.ts";
import { startCrossings, type Crossings } from "./upgrade/crossings.ts";
import { checkOut } from "./upgrade/revision.ts";
import { makeWorld } from "./upgrade/world.ts";

const { values } = parseArgs({
  options: { from: { type: "string" }, seconds: { type: "string", default: "15" } },
});
const revision = values.from;
if (revision === undefined) throw new Error("npm run drill -- upgrade --from <revision>");
const here = join(import.meta.dirname, "../..");
const versionNames = ["old", "new"] as const;
type VersionName = (typeof versionNames)[number];
type Running = Partial<Record<VersionName, Process[]>>;

type Place = {
  roots: Record<VersionName, string>;
  env: Record<string, string>;
  folder: string;
  balancer: Balancer;
  running: Running;
  wrongs: string[];
};
type Stage = Place & { load: Load; crossings: Crossings };

const roles = ["web", "worker"] as const;
const logOf = (folder: string, name: VersionName, role: string): string => join(folder, `${name}-${role}.log`);
const urlOf = ({ port }: Process): string => `http://localhost:${port}`;
const webOf = (processes: Process[] = []): Process[] => processes.filter(({ role }) => role === "web");

async function startVersion(place: Place, name: VersionName): Promise<void> {
  const { roots, env, folder, running } = place;
  const processes: Process[] = [];
  running[name] = processes;
  for (const role of roles)
    processes.push(await startProcess({ root: roots[name], role, env, logFile: logOf(folder, name, role) }));
  await untilReady(processes);
  sendToAll(place);
}

/** Stops the processes of a version after the others have its share of the requests. */
async function stopVersion(place: Place, name: VersionName): Promise<void> {
  const processes = place.running[name] ?? [];
  place.running[name] = [];
  sendToAll(place);
  for (const process of processes) {
    if (process.hasEnded()) place.wrongs.push(`${name} ${process.role} ended by itself`);
    const exitCode = await process.stop();
    if (exitCode !== 0) place.wrongs.push(`${name} ${process.role} stopped with ${exitCode}`);
  }
}

const sendToAll = ({ balancer, running }: Place): void => {
  const web = versionNames.flatMap((name) => webOf(running[name]));
  if (web.length > 0) balancer.sendTo(web.map(({ port }) => port));
};

/** Lets the load go on, and takes the steps of a sign-on at every pair of versions that run. */
async function serve({ running, crossings, wrongs }: Stage): Promise<void> {
  const end = performance.now() + Number(values.seconds) * 1000;
  const urls = versionNames.flatMap((name) => webOf(running[name])).map(urlOf);
  do for (const from of urls) for (const to of urls) await crossings.cross(from, to);
  while (performance.now() < end);
  for (const name of versionNames)
    for (const process of running[name] ?? [])
      if (!(await isReady(process))) wrongs.push(`${name} ${process.role} is not ready`);
}

const steps: [string, (stage: Stage) => Promise<unknown>][] = [
  ["old alone", serve],
  ["the new migrations run", ({ roots, env }) => type(roots.new, ["migrate"], env)],
  ["old on the new schema", serve],
  ["new starts beside old", (stage) => startVersion(stage, "new")],
  ["both", serve],
  ["old stops", (stage) => stopVersion(stage, "old")],
  ["new alone", serve],
  ["old comes back", (stage) => startVersion(stage, "old")],
  ["both", serve],
  ["new stops", (stage) => stopVersion(stage, "new")],
  ["old alone again", serve],
  ["new comes back", (stage) => startVersion(stage, "new")],
  ["both again", serve],
  ["old stops for good", (stage) => stopVersion(stage, "old")],
  ["new alone again", serve],
];

async function play(stage: Stage): Promise<void> {
  const { load, crossings, wrongs } = stage;
  const heads = [
    "Step",
    "Took",
    "Answered",
    "429, 503",
    "Connection lost",
    "Other 5xx",
    "Longest call",
    "Codes",
    "Refreshes",
  ];
  console.log(`\n| ${heads.join(" | ")} |\n|${"---|".repeat(heads.length)}`);
  for (const [name, step] of steps) {
    const [row, began, before] = [noOutcomes(), performance.now(), crossings.counts()];
    load.countIn(row);
    await step(stage);
    const after = crossings.counts();
    const made = [after.codes - before.codes, after.refreshes - before.refreshes];
    console.log(`| ${[name, inSeconds(performance.now() - began), ...cellsOf(row), ...made].join(" | ")} |`);
    if (row.cut > 0) wrongs.push(`${name}: ${row.cut} connections lost`);
  }
}

const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const cellsOf = ({ ok, busy, cut, broken, longestMs }: Outcomes) => [ok, busy, cut, broken, inSeconds(longestMs)];

const readErrors = ({ folder }: Place): string[] =>
  versionNames.flatMap((name) =>
    roles.flatMap((role) => errorsIn(logOf(folder, name, role)).map((line) => `${name} ${role}: ${line}`)),
  );

await runDrill(async (ends) => {
  const folder = mkdtempSync(join(tmpdir(), "schultor-drill-"));
  // The account of the embedded PostgreSQL enters it.
  chmodSync(folder, 0o711);
  console.log(`From ${revision}; logs in ${folder}.`);
  let isGood = false;
  ends.add(() => isGood && rmSync(folder, { recursive: true }));
  const roots = { old: join(folder, "old"), new: here };
  await checkOut(revision, roots.old);
  const say = () => undefined;
  const database = await ends.keep(startEmbeddedPostgres({ dataDir: join(folder, "data"), say }), (it) => it.stop());
  const receiver = await ends.keep(startReceiver(), (it) => it.close());
  const balancer = await ends.keep(startBalancer(), (it) => it.close());
  const env = {
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: "15",
    ISSUER_URL: balancer.url,
    TRUSTED_PROXIES: "127.0.0.1",
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
  };
  const world = await makeWorld(roots.old, env, receiver.url.replace("receiver.test", "127.0.0.1"));
  const running: Running = {};
  ends.add(() => Promise.all(versionNames.flatMap((name) => running[name] ?? []).map((process) => process.stop())));
  const place: Place = { roots, env, folder, balancer, running, wrongs: [] };
  await startVersion(place, "old");
  const load = startLoad(world, () => balancer.url);
  const stage: Stage = { ...place, load, crossings: await startCrossings(balancer.url, world) };
  await play(stage);
  await load.stop();
  const differences = await compare({
    database: { url: () => database.url },
    load,
    world,
    receiver,
    url: balancer.url,
  });
  await stopVersion(stage, "new");
  const found = [...stage.wrongs, ...stage.crossings.wrongs, ...load.thrown, ...differences, ...readErrors(place)];
  console.log(
    found.length === 0
      ? "\nNo request failed; nothing was lost, doubled or left over."
      : `\nFAILED:\n${found.join("\n")}`,
  );
  isGood = found.length === 0;
  return isGood;
});
