/**
 * npm run drill -- failover [--scenario killed|frozen|cut] [--pgbouncer] [--grace 90] [--seconds 10]
 *
 * The primary of three nodes is lost while two processes for requests and two for jobs work. What was acknowledged is
 * compared with what is there. Needs the packages of deploy/postgres.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  findPrimary,
  readCluster,
  startCluster,
  stopCluster,
  type Cluster,
  type NodeName,
} from "../../deploy/postgres/cluster.ts";
import { readConfig } from "../../src/config/index.ts";
import { check, type Finding } from "./failover/checks.ts";
import { countAnswered, kinds, startLoad, type Kind, type Ledger } from "./failover/load.ts";
import { startReceiver } from "./failover/receiver.ts";
import { makeRelay } from "./failover/relay.ts";
import { useCodesAgain } from "./failover/replay.ts";
import { scenarios, waitUntilWhole, watchFormer, type Scenario } from "./failover/scenarios.ts";
import { startService, type Service } from "./failover/service.ts";
import { makeWorld, type World } from "./failover/world.ts";
import { runDrill, type Ends } from "./shared/ends.ts";

const { values: options } = parseArgs({
  options: {
    scenario: { type: "string", multiple: true },
    pgbouncer: { type: "boolean", default: false },
    // Seconds; longer than a failover takes.
    grace: { type: "string", default: "90" },
    seconds: { type: "string", default: "10" },
  },
});
const seconds = Number(options.seconds);
const say = (line: string) => void process.stdout.write(`${line}\n`);
const relays = { n1: makeRelay(), n2: makeRelay(), n3: makeRelay() };

/** For each kind, how long after the loss the last request ended that failed or took longer than `slowMs`. */
async function waitForAnswers(ledger: Ledger, lostAt: number): Promise<string> {
  const slowMs = 5000;
  const settledMs = 15_000;
  const lastDisturbed = (kind: Kind) =>
    ledger.ended[kind]
      .filter(({ begun, ended, isAnswered }) => ended > lostAt && (!isAnswered || ended - begun > slowMs))
      .reduce((last, { ended }) => Math.max(last, ended), lostAt);
  const answersSince = (kind: Kind) => {
    const at = lastDisturbed(kind);
    return ledger.ended[kind].filter(({ begun, isAnswered }) => isAnswered && begun >= at).length;
  };
  const isSettled = (kind: Kind) => answersSince(kind) >= 3 && performance.now() - lastDisturbed(kind) > settledMs;
  const deadline = performance.now() + 150_000;
  // Silence may come late: a commit that waits for its replica is not refused at once.
  await sleep(settledMs);
  while (!kinds.every(isSettled) && performance.now() < deadline) await sleep(200);
  await sleep(seconds * 1000);
  const took = kinds.map((kind) => {
    const after = ((lastDisturbed(kind) - lostAt) / 1000).toFixed(1);
    return `${kind} ${answersSince(kind) < 3 ? "never" : `${after} s`}`;
  });
  return took.join(", ");
}

function tell({ claim, faults, of }: Finding): boolean {
  const end = faults.length === 0 ? "" : `: ${faults.length} are: ${faults.slice(0, 3).join("; ").slice(0, 300)}`;
  say(`  ${faults.length === 0 ? "ok   " : "FAULT"} ${claim} (of ${of})${end}`);
  return faults.length === 0;
}

type Stage = { cluster: Cluster; relays: typeof relays; service: Service; world: World; ledger: Ledger };

async function lose(stage: Stage, scenario: Scenario): Promise<Finding[]> {
  const { cluster, ledger, world, service } = stage;
  await waitUntilWhole(cluster);
  await sleep(seconds * 1000);
  const former = (await findPrimary(cluster)) as NodeName;
  say(`\n${former}, the primary, is ${scenario.name}`);
  const lostAt = performance.now();
  scenario.lose(stage, former);
  const settled = new AbortController();
  const codes = useCodesAgain({ urls: service.urls, world, ledger, lostAt, signal: settled.signal });
  say(`  time until answered again: ${await waitForAnswers(ledger, lostAt)}`);
  settled.abort();
  await scenario.repair(stage, former);
  const faults = await watchFormer(cluster, former, 10);
  await waitUntilWhole(cluster);
  return [{ claim: `${former} is a replica now and was no second primary`, faults, of: 1 }, await codes];
}

async function run(folder: string, ends: Ends): Promise<boolean> {
  const reach = (name: NodeName, port: number) => relays[name].open(port);
  const receiver = await startReceiver();
  ends.add(() => receiver.close());
  ends.add(async () => {
    const started = readCluster(folder);
    if (started !== null) await stopCluster(started);
  });
  const cluster = await startCluster({ folder, say: () => undefined, reach });
  const { primary, replica, pooledPrimary, pooledReplica } = cluster.urls;
  const logs = join(folder, "service");
  mkdirSync(logs);
  const { encryptionKeys } = readConfig({ NODE_ENV: "development" });
  const world = await makeWorld(primary, receiver.url, encryptionKeys);
  const urls = options.pgbouncer ? { primary: pooledPrimary, replica: pooledReplica } : { primary, replica };
  const service = await startService({ urls, logs, graceSeconds: Number(options.grace) });
  ends.add(() => service.stop());
  await service.untilReady();
  say(`Three nodes, ${options.pgbouncer ? "PgBouncer, " : ""}HAProxy, two web and two worker processes`);
  const { ledger, stop } = await startLoad(service.urls, world);
  const isChosen = (name: string) => options.scenario?.some((one) => name.startsWith(one)) ?? true;
  const findings: Finding[] = [];
  for (const scenario of scenarios.filter(({ name }) => isChosen(name)))
    findings.push(...(await lose({ cluster, relays, service, world, ledger }, scenario)));
  await stop();
  say("");
  for (const kind of kinds)
    say(`  ${kind}: ${countAnswered(ledger, kind)} answered, refused ${JSON.stringify(ledger.failed[kind])}`);
  findings.push(
    ...(await check({ url: primary, service: service.urls[0]!, world, ledger, arrived: receiver.arrived })),
  );
  const ended = service.countEnded();
  findings.push({ claim: "no process of the service ended", faults: ended > 0 ? [`${ended} ended`] : [], of: 4 });
  return findings.map(tell).every(Boolean);
}

await runDrill(async (ends) => {
  const folder = mkdtempSync(join(tmpdir(), "schultor-failover-"));
  chmodSync(folder, 0o711);
  let isWell = false;
  ends.add(() => {
    for (const relay of Object.values(relays)) relay.close();
    if (isWell) rmSync(folder, { recursive: true, force: true });
    else say(`Logs: ${folder}`);
  });
  isWell = await run(folder, ends);
  return isWell;
});
