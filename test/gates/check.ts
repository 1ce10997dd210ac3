import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installedServers } from "../support/servers.ts";
import { describeFlaky, listFlaky, resultsPath, root } from "./results.ts";
import { describeWithFailures, runGates, sumUp, type Gate } from "./run-gates.ts";

const { values } = parseArgs({
  options: {
    // In this order, before the others.
    first: { type: "string", multiple: true, default: [] },
    only: { type: "string", multiple: true, default: [] },
    minutes: { type: "string", default: "60" },
    // Run as root: the gate `tests` as this user, to whom the folder belongs.
    "tests-as": { type: "string" },
  },
});
const testUser = values["tests-as"];

// Of each gate. They only end what hangs: a quiet machine needs less than half.
const minutes = 40;
const script = (name: string): Pick<Gate, "program" | "args" | "minutes"> => ({
  program: "npm",
  args: ["run", "--silent", name],
  minutes,
});
const tests = (name: string): Omit<Gate, "name"> => {
  const { program, args } = script(name);
  const results = resultsPath(name.replace(":", "-"));
  return {
    program,
    args: [...args, "--", "--reporter=default", "--reporter=json", `--outputFile=${results}`],
    minutes,
    results,
  };
};
/** What the tests of operations exchange is counted in a folder of this run. */
const exchanges = join(root, ".cache/check/exchanges");
const counted = { env: { EXCHANGES_FOLDER: exchanges } };

/** A part of `npm run test:slow`, whose parts run side by side here. */
const slowPart = (name: string, ...args: string[]): Omit<Gate, "name"> => ({
  program: "node",
  args: ["test/gates/retry.ts", name, ...args],
  minutes,
  results: resultsPath(name),
  ...counted,
});
/** Tests whose script writes its results itself, because it runs again what failed. */
const retried = (name: string): Omit<Gate, "name"> => ({
  ...script(name),
  results: resultsPath(name.replace(":", "-")),
});

const parallel = (name: string, gate: Omit<Gate, "name">): Gate => ({ name, ...gate, isParallel: true });

function asUser(gate: Gate): Gate {
  if (testUser === undefined) return gate;
  const home = join(root, ".cache/home");
  // npm hands its own settings on, whose cache only root may write.
  const ofNpm = Object.keys(process.env).filter((name) => name.startsWith("npm_"));
  const env = [...ofNpm.flatMap((name) => ["-u", name]), `HOME=${home}`];
  return { ...gate, program: "runuser", args: ["-u", testUser, "--", "env", ...env, gate.program, ...gate.args] };
}

/** What depends on the version of PostgreSQL, on the servers that are installed. */
const otherServers = (): Gate[] =>
  installedServers().length === 0 ? [] : [parallel("tests on other PostgreSQL", tests("test:postgresql"))];

/** What the tests leave out for an ordinary user. */
function testsAsRoot(): Gate[] {
  if (testUser === undefined) return [];
  const results = resultsPath("test-as-root");
  const file = "test/faults/embedded-postgres.test.ts";
  const args = [
    "run",
    "--project",
    "slow",
    file,
    "--testNamePattern",
    "as root",
    "--reporter=json",
    `--outputFile=${results}`,
  ];
  return [parallel("tests as root", { program: "vitest", args, minutes, results })];
}

/** In the order in which they are cheap to fail. */
const gates: Gate[] = [
  parallel("generated code is current", {
    program: "node",
    args: ["openapi/tools/generate.ts", "--check"],
    minutes,
  }),
  parallel("contract rules", script("lint:openapi")),
  parallel("no released client breaks", script("lint:breaking")),
  parallel("changelog names what differs", script("lint:changelog")),
  parallel("types", script("lint:types")),
  parallel("code rules", script("lint:code")),
  parallel("format", script("lint:format")),
  parallel("import rules", { ...script("lint:imports"), expects: /\([1-9]\d* modules/ }),
  asUser({ name: "tests", ...tests("test"), ...counted }),
  asUser(parallel("slow tests, first half", slowPart("test-slow-1", "--project", "slow", "--shard=1/2"))),
  asUser(parallel("slow tests, second half", slowPart("test-slow-2", "--project", "slow", "--shard=2/2"))),
  asUser(parallel("models", slowPart("test-models", "--project", "models", "--tags-filter", "model"))),
  ...testsAsRoot(),
  parallel("every operation is tested", { program: "node", args: ["test/exchanges/report.ts"], minutes }),
  // The longest of them first. Those in the browser mostly wait, those on other PostgreSQL mostly compute.
  parallel("browser", retried("test:browser")),
  ...otherServers(),
  parallel("compatibility", retried("test:compatibility")),
  parallel("examples", retried("test:examples")),
  parallel("clients", retried("test:clients")),
  parallel("outside generators", retried("test:generators")),
];

const known = new Set(gates.map(({ name }) => name));
const unknown = [...values.first, ...values.only].find((name) => !known.has(name));
if (unknown !== undefined) {
  console.error(`There is no gate "${unknown}". The gates are: ${[...known].join(", ")}.`);
  process.exit(2);
}

const startedAt = Date.now();
rmSync(exchanges, { recursive: true, force: true });
mkdirSync(exchanges, { recursive: true });
if (testUser !== undefined) {
  mkdirSync(join(root, ".cache/home"), { recursive: true });
  execFileSync("chown", ["-R", `${testUser}:`, join(root, ".cache")]);
}
process.chdir(root);
const chosen = gates.filter(({ name }) => values.only.length === 0 || values.only.includes(name));
const turnOf = ({ name }: Gate) => (values.first.includes(name) ? values.first.indexOf(name) : values.first.length);
const ordered = chosen.toSorted((a, b) => turnOf(a) - turnOf(b));
const path = `${join(root, "node_modules/.bin")}:${process.env["PATH"] ?? ""}`;
const outcomes = await runGates(ordered, {
  say: console.log,
  env: { ...process.env, PATH: path },
  deadline: Date.now() + Number(values.minutes) * 60_000,
});

console.log("");
for (const outcome of outcomes) console.log(describeWithFailures(outcome));
const flaky = listFlaky().filter(({ at }) => Date.parse(at) >= startedAt);
if (flaky.length > 0) console.log(describeFlaky(flaky));
const { passed, failed, ok } = sumUp(outcomes);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = ok ? 0 : 1;
