import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installedServers } from "../support/servers.ts";
import { runGates, sumUp, type Gate } from "./run-gates.ts";

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

/** In the order in which they are cheap to fail. */
const gates: Gate[] = [
  { name: "generated code is current", program: "node", args: ["openapi/tools/generate.ts", "--check"], minutes: 5 },
  { name: "contract rules", ...script("lint:openapi", 5) },
  { name: "no released client breaks", ...script("lint:breaking", 5) },
  { name: "changelog names what differs", ...script("lint:changelog", 5) },
  { name: "types", program: "tsc", args: ["--noEmit"], minutes: 5 },
  { name: "format", ...script("lint:format", 5) },
  { name: "code rules", ...script("lint:code", 5) },
  { name: "import rules", ...script("lint:imports", 5), expects: /\([1-9]\d* modules/ },
  allTests,
  { name: "every operation is tested", program: "node", args: ["test/proxy/report.ts"], minutes: 1 },
  { name: "clients", ...tests("test:clients", 8) },
  { name: "examples", ...tests("test:examples", 6) },
  { name: "outside generators", ...tests("test:generators", 8) },
  { name: "browser", ...tests("test:browser", 20) },
  ...otherServers(),
];

const { values } = parseArgs({
  options: {
    first: { type: "string", default: "", short: "f" },
    only: { type: "string", multiple: true, default: [] },
    minutes: { type: "string", default: "60" },
  },
});
const known = new Set(gates.map(({ name }) => name));
for (const name of [values.first, ...values.only])
  if (name !== "" && !known.has(name))
    throw new Error(`No gate is called ${name}; there are: ${[...known].join(", ")}`);

rmSync(exchanges, { recursive: true, force: true });
mkdirSync(exchanges, { recursive: true });
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
for (const { name, ok, seconds, why } of outcomes)
  console.log(`${ok ? "✔" : "✖"} ${name} (${seconds} s)${why ? `: ${why}` : ""}`);
const { passed, failed, ok } = sumUp(outcomes);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = ok ? 0 : 1;
