// Client credentials, sign-ons with a session, and one code used twenty times at once: the service beside other
// providers, each with one process for requests. Ends with 1 unless each code of the service brought tokens once.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClientId } from "../src/access/index.ts";
import { makeMakers } from "../test/support/make.ts";
import { giveLogin } from "../test/support/token.ts";
import { childrenOf, cpuSeconds, parentOf } from "./cores/cpu-time.ts";
import { openBenchDatabase } from "./database.ts";
import { measureFlow, measureRequests, type Rate } from "./harness.ts";
import { startBetterAuth } from "./peers/better-auth.ts";
import { startDjango } from "./peers/django.ts";
import { startGlewlwyd } from "./peers/glewlwyd.ts";
import { startInMemory, startOnPostgres } from "./peers/oidc-provider.ts";
import { Missing, type Peer, startModule, type Start } from "./peers/peer.ts";
import { openSessions, redeemCode, requestCode, signOn, tokenRequest } from "./sign-on.ts";

const connections = 16;
const seconds = Number(process.env["BENCH_SECONDS"] ?? 3);
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5);
const codes = 10;
const usesOfCode = 20;

type Named = Peer & { name: string };
type Measured = Rate & { cpuUs: number; postgresUs: number };
type Run = (peer: Peer, seconds: number) => Promise<Rate>;

const database = await openBenchDatabase();
const { rows } = await database.db.pool.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
const postmaster = parentOf(rows[0]!.pid);
const folder = mkdtempSync(join(tmpdir(), "schultor-peers-"));
const peers: Named[] = [];

const startOurs: Start = async ({ people }) => {
  const make = makeMakers(database.db);
  const school = await make.school();
  const app = await make.app({ clientId: "bench" as ClientId });
  await make.grant({ app: app.clientId, school, signOn: "EVERYBODY", sync: true });
  const members = await Promise.all(Array.from({ length: people }, () => make.person({ school })));
  const logins = await Promise.all(members.map((person) => giveLogin(database.db, person)));
  const env = { DATABASE_URL: database.url, LOG_LEVEL: "warn", WEB_CONCURRENCY: "1" };
  const subject = await startModule("Schultor", new URL("subjects/service.ts", import.meta.url).href, env);
  return { ...subject, sides: await openSessions(subject.url, app, logins), machine: { url: subject.url, app } };
};

const starts: [name: string, start: Start][] = [
  ["Schultor", startOurs],
  ["oidc-provider in memory", startInMemory],
  ["oidc-provider on PostgreSQL", startOnPostgres],
  ["better-auth", startBetterAuth],
  ["glewlwyd", startGlewlwyd],
  ["django-oauth-toolkit", startDjango],
];

const runSignOns: Run = ({ sides }, seconds) => {
  const flows = sides.map(signOn);
  return measureFlow((index) => flows[index]!(), { connections, seconds });
};

const runClientCredentials: Run = ({ machine }, seconds) =>
  measureRequests(machine.url, { requests: [tokenRequest(machine)], connections, seconds });

try {
  for (const [index, [name, start]] of starts.entries()) await add(name, start, `bench_peer_${index}`);
  await compareAll("code + PKCE sign-on with a session", runSignOns);
  // After the sign-ons: a code that is used twice takes the consent back, and the person is asked again.
  await useCodesOfAll();
  // Last: they push the sessions out of what the provider in memory keeps.
  await compareAll("client credentials", runClientCredentials);
} finally {
  for (const peer of peers) await peer.stop();
  for (const index of starts.keys())
    await database.db.pool.query(`DROP DATABASE IF EXISTS bench_peer_${index} WITH (FORCE)`);
  await database.close();
  rmSync(folder, { recursive: true });
}
process.exit();

/** Starts a provider on a database of its own; says which one is missing, and goes on. */
async function add(name: string, start: Start, databaseName: string): Promise<void> {
  await database.db.pool.query(`CREATE DATABASE ${databaseName}`);
  const url = new URL(database.url);
  url.pathname = databaseName;
  try {
    peers.push({ ...(await start({ databaseUrl: url.href, folder, people: connections })), name });
  } catch (error) {
    if (!(error instanceof Missing)) throw new Error(`${name} did not start`, { cause: error });
    console.log(`${name} is left out. ${error.message}`);
  }
}

/** Measures all in turns, a warm-up of each first, and prints a row of each. */
async function compareAll(what: string, run: Run): Promise<void> {
  const columns = "Rate | p99 | CPU of the provider, of PostgreSQL | Ratio ours / theirs: min / median / max | Failed";
  console.log(`\n| ${what}, ${connections} connections | ${columns} |`);
  console.log("|---|---|---|---|---|---|");
  const measured = new Map<Named, Measured[]>(peers.map((peer) => [peer, []]));
  for (const peer of peers) await run(peer, Math.min(2, seconds));
  await database.db.pool.query("VACUUM ANALYZE");
  for (let round = 0; round < rounds; round++)
    for (const peer of peers) measured.get(peer)!.push(await measure(peer, run));
  const ours = measured.get(peers[0]!)!;
  for (const [{ name }, theirs] of measured) console.log(presentRow(name, ours, theirs));
}

async function measure(peer: Peer, run: Run): Promise<Measured> {
  const read = () => ({
    own: peer.cpuMs(),
    postgres: (cpuSeconds([postmaster], { withEnded: true }) + cpuSeconds(childrenOf(postmaster))) * 1000,
  });
  const before = read();
  const rate = await run(peer, seconds);
  const after = read();
  const each = (used: number) => (used * 1000) / rate.count;
  return { ...rate, cpuUs: each(after.own - before.own), postgresUs: each(after.postgres - before.postgres) };
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function presentRow(name: string, ours: Measured[], theirs: Measured[]): string {
  const middle = (key: "perSecond" | "p99Ms" | "cpuUs" | "postgresUs") => median(theirs.map((one) => one[key]));
  const ratios = ours.map(({ perSecond }, round) => perSecond / theirs[round]!.perSecond);
  const [low, mid, high] = [Math.min(...ratios), median(ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2));
  const cells = [
    name,
    `${middle("perSecond").toFixed(0)}/s`,
    `${middle("p99Ms").toFixed(0)} ms`,
    `${middle("cpuUs").toFixed(0)} µs, ${middle("postgresUs").toFixed(0)} µs`,
    theirs === ours ? "" : `${low} / **${mid}** / ${high}`,
    theirs.reduce((sum, { failed }) => sum + failed, 0),
  ];
  return `| ${cells.join(" | ")} |`;
}

async function useCodesOfAll(): Promise<void> {
  console.log(`\n| ${usesOfCode} uses of one code at once, ${codes} codes | Brought tokens | Answers to the others |`);
  console.log("|---|---|---|");
  for (const peer of peers) {
    const brought = await useCodes(peer);
    if (peer === peers[0] && brought.some((times) => times !== 1)) process.exitCode = 1;
  }
}

/** How often each code brought tokens, used many times at once; prints it with the answers to the other uses. */
async function useCodes({ name, sides }: Named): Promise<number[]> {
  const brought: number[] = [];
  const others = new Map<number, number>();
  for (let n = 0; n < codes; n++) {
    const side = sides[n % sides.length]!;
    const code = await requestCode(side);
    const answers = await Promise.all(Array.from({ length: usesOfCode }, () => redeemCode(side, code)));
    const refused = answers.filter(({ status }) => status !== 200);
    brought.push(answers.length - refused.length);
    for (const { status } of refused) others.set(status, (others.get(status) ?? 0) + 1);
  }
  const [least, most] = [Math.min(...brought), Math.max(...brought)];
  const statuses = [...others].map(([status, count]) => `${count} × ${status}`).join(", ");
  console.log(`| ${name} | ${least === most ? least : `${least} to ${most}`} | ${statuses} |`);
  return brought;
}
