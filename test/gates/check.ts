import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installedServers } from "../support/servers.ts";
import { describeWithFailures, runGates, sumUp, type Gate } from "./run-gates.ts";

const { values } = parseArgs({
  options: {
    first: { type: "string", default: "", short: "f" },
    only: { type: "string", multiple: true, default: [] },
    minutes: { type: "string", default: "60" },
    // Run as root: the gate `tests` as this user, to whom the folder belongs.
    "tests-as": { type: "string" },
  },
});
const testUser = values["tests-as"];

const root = join(import.meta.dirname, "../..");
const results = (name: string) => join(root, ".cache/check", `${name}.json`);
const script = (name: string, minutes: number): Pick<Gate, "program" | "args" | "minutes"> => ({
  program: "npm",
  args: ["run", "--silent", name],
  minutes,
});
const tests = (name: string, minutes: number, kept = name): Omit<Gate, "name"> => {
  const { program, args } = script(name, minutes);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile=${results(kept)}`];
  // Properties are tried in full.
  const env = { TEST_WHOLE: "1" };
  return { program, args: [...args, "--", ...reporters], minutes, results: results(kept), env };
};

/** What depends on PostgreSQL once more on the servers that are installed, properties half as often. */
function otherServers(): Gate[] {
  if (installedServers().length === 0) return [];
  const whole = tests("test", 25, "test-on-other-postgresql");
  return [{ ...whole, name: "tests on other PostgreSQL", env: { TEST_SERVERS: "installed" } }];
}

/** What goes through the proxy of the tests is counted in a folder of this run. */
const exchanges = join(root, ".cache/check/exchanges");
const whole = tests("test", 25);
const allTests: Gate = { name: "tests", ...whole, env: { ...whole.env, EXCHANGES_FOLDER: exchanges } };

const parallel = (name: string, gate: Omit<Gate, "name">): Gate => ({ name, ...gate, isParallel: true });

function asUser(gate: Gate): Gate {
  if (testUser === undefined) return gate;
  const home = join(root, ".cache/home");
  // npm hands its own settings on, whose cache only root may write.
  const ofNpm = Object.keys(process.env).filter((name) => name.startsWith("npm_"));
  const env = [...ofNpm.flatMap((name) => ["-u", name]), `HOME=${home}`];
  return { ...gate, program: "runuser", args: ["-u", testUser, "--", "env", ...env, gate.program, ...gate.args] };
}

/** What the tests leave out for an ordinary user. */
function testsAsRoot(): Gate[] {
  if (testUser === undefined) return [];
  const gate = tests("test", 5, "test-as-root");
  const args = [...gate.args, "test/faults/embedded-postgres.test.ts", "--testNamePattern", "as root"];
  return [parallel("tests as root", { ...gate, args })];
}

/** In the order in which they are cheap to fail. */
const gates: Gate[] = [
  parallel("generated code is current", {
    program: "node",
    args: ["openapi/tools/generate.ts", "--check"],
    minutes: 5,
  }),
  parallel("contract rules", script("lint:openapi", 5)),
  parallel("no released client breaks", script("lint:breaking", 5)),
  parallel("changelog names what differs", script("lint:changelog", 5)),
  parallel("types", { program: "tsc", args: ["--noEmit"], minutes: 5 }),
  parallel("code rules", script("lint:code", 8)),
  parallel("format", script("lint:format", 5)),
  parallel("import rules", { ...script("lint:imports", 5), expects: /\([1-9]\d* modules/ }),
  asUser(allTests),
  ...testsAsRoot(),
  parallel("every operation is tested", { program: "node", args: ["test/proxy/report.ts"], minutes: 1 }),
  // The longest of them first.
  parallel("browser", tests("test:browser", 20)),
  parallel("examples", tests("test:examples", 10)),
  parallel("clients", tests("test:clients", 10)),
  parallel("outside generators", tests("test:generators", 10)),
  parallel("compatibility", tests("test:compatibility", 5)),
  ...otherServers(),
];

const known = new Set(gates.map(({ name }) => name));
for (const name of [values.first, ...values.only])
  if (name !== "" && !known.has(name))
    throw new Error(`No gate is called ${name}; there are: ${[...known].join(", ")}`);

rmSync(exchanges, { recursive: true, force: true });
mkdirSync(exchanges, { recursive: true });
if (testUser !== undefined) {
  mkdirSync(join(root, ".cache/home"), { recursive: true });
  execFileSync("chown", ["-R", `${testUser}:`, join(root, ".cache")]);
}
process.chdir(root);
const chosen = gates.filter(({ name }) => values.only.length === 0 || values.only.includes(name));
const ordered = chosen.toSorted((a, b) => Number(b.name === values.first) - Number(a.name === values.first));
const path = `${join(root, "node_modules/.bin")}:${process.env["PATH"] ?? ""}`;
const outcomes = await runGates(ordered, {
  say: console.log,
  env: { ...process.env, PATH: path },
  deadline: Date.now() + Number(values.minutes) * 60_000,
});

console.log("");
for (const outcome of outcomes) console.log(describeWithFailures(outcome));
const { passed, failed, ok } = sumUp(outcomes);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = ok ? 0 : 1;
