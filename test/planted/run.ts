// Plants one fault of faults.ts after another in a copy of the project, and runs the tests that are said to find it.
// Usage: npm run test:planted [-- part of a file, or of what is wrong]
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { listFailures, readResults, root } from "../gates/results.ts";
import { copyProject } from "../support/copy-project.ts";
import { filesTagged } from "../support/suites.ts";
import { faults, type Fault } from "./faults.ts";

const slow = new Set(filesTagged("slow"));
const longestRunMs = 600_000;

/** Why a line of the list cannot be planted. */
function findMistakes({ file, from, to, foundBy }: Fault): string[] {
  const missing = [file, ...foundBy].filter((path) => !existsSync(join(root, path)));
  if (missing.length > 0) return missing.map((path) => `${path} does not exist`);
  const source = readFileSync(join(root, file), "utf8");
  const count = source.split(from).length - 1;
  if (count !== 1) return [`${file} has this ${count} times: ${from}`];
  try {
    stripTypeScriptTypes(plantIn(source, { from, to }));
    return [];
  } catch (err) {
    return [`${file} cannot be compiled with: ${to}: ${String(err)}`];
  }
}

const plantIn = (source: string, { from, to }: Pick<Fault, "from" | "to">): string => source.replace(from, () => to);

type Outcome = "passed" | "failed" | "broken";

/** Runs files of tests in the copy as it is now. `broken`: they did not load, or took too long on a busy machine. */
function runTests(copy: string, files: readonly string[]): Outcome {
  const path = join(copy, ".cache/planted.json");
  rmSync(path, { force: true });
  const project = files.some((file) => slow.has(file)) ? "slow" : "fast";
  const options = ["--project", project, "--maxWorkers=1", "--bail=1", "--reporter=json", `--outputFile=${path}`];
  const args = [join(copy, "node_modules/vitest/vitest.mjs"), "run", ...files, ...options];
  const { status } = spawnSync(process.execPath, args, { cwd: copy, stdio: "ignore", timeout: longestRunMs });
  const results = readResults(path);
  if (results === null) return "broken";
  if (status === 0) return results.numPassedTests > 0 ? "passed" : "broken";
  return listFailures(results).some(({ test, said }) => test !== "" && !said.includes("timed out"))
    ? "failed"
    : "broken";
}

function runWithFault(copy: string, fault: Fault): Outcome {
  const path = join(copy, fault.file);
  const source = readFileSync(path, "utf8");
  writeFileSync(path, plantIn(source, fault));
  try {
    return runTests(copy, fault.foundBy);
  } finally {
    writeFileSync(path, source);
  }
}

const [part = ""] = process.argv.slice(2);
const chosen = faults.filter(({ file, wrong }) => file.includes(part) || wrong.includes(part));
const mistakes = faults.flatMap(findMistakes);
if (mistakes.length > 0) throw new Error(`The list of faults is out of date.\n${mistakes.join("\n")}`);

const copy = copyProject();
process.once("exit", () => rmSync(copy, { recursive: true, force: true }));
process.once("SIGINT", () => process.exit(130));
const tests = [...new Set(chosen.flatMap(({ foundBy }) => foundBy))];
// A test that fails anyway finds nothing.
for (const files of [tests.filter((file) => !slow.has(file)), tests.filter((file) => slow.has(file))])
  if (files.length > 0 && runTests(copy, files) !== "passed") throw new Error("The tests fail without a fault.");

const missed: string[] = [];
for (const fault of chosen) {
  const outcome = runWithFault(copy, fault);
  const line = `${fault.file}: ${fault.wrong} (${fault.foundBy.join(", ")})`;
  console.log(
    `${outcome === "failed" ? "found" : "missed"}  ${line}${outcome === "broken" ? ": the tests did not run" : ""}`,
  );
  if (outcome !== "failed") missed.push(line);
}
console.log(`${chosen.length} planted, ${chosen.length - missed.length} found`);
for (const line of missed) console.log(`missed: ${line}`);
process.exitCode = missed.length === 0 && chosen.length > 0 ? 0 : 1;
