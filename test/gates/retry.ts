// Runs tests whose programs and browsers depend on chance. A file that failed runs once more, alone; a test that
// passes then is flaky: it is named and kept in .cache/check/flaky.json, and the run has not failed because of it.
// Usage: node test/gates/retry.ts <name of the run> [arguments of vitest]
import { spawnSync } from "node:child_process";
import { writeFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  describeFlaky,
  keepFlaky,
  listFailures,
  readResults,
  resultsPath,
  root,
  type Failure,
  type TestResults,
} from "./results.ts";

// More are no chance.
const mostFiles = 5;

const [name = "tests", ...given] = process.argv.slice(2);
const path = resultsPath(name);

/** Answers whether it succeeded. */
function run(args: string[], results: string): boolean {
  rmSync(results, { force: true });
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile=${results}`];
  const vitest = [join(root, "node_modules/vitest/vitest.mjs"), "run", ...args, ...reporters];
  return spawnSync(process.execPath, vitest, { cwd: root, stdio: "inherit" }).status === 0;
}

/** Those of the failures that do not occur when their file runs alone. */
function runAgain(failures: Failure[]): Failure[] {
  const files = [...new Set(failures.map(({ file }) => file))];
  if (files.length > mostFiles) return [];
  return files.flatMap((file) => {
    console.log(`\nOnce more, alone: ${file}`);
    const again = resultsPath(`${name}-again`);
    // A single file has no parts.
    const ok = run([...given.filter((one) => !one.startsWith("--shard")), file], again);
    const results = readResults(again);
    if (results === null || results.numPassedTests === 0) return [];
    const still = new Set(listFailures(results).map(({ test }) => test));
    return failures.filter((one) => one.file === file && (ok || (one.test !== "" && !still.has(one.test))));
  });
}

/** The results as if the flaky tests had passed at once. */
function countAsPassed(results: TestResults, flaky: Failure[]): TestResults {
  const passed = new Set(flaky.map(({ file, test }) => `${file} ${test}`));
  const isFlaky = (file: string, test: string) => passed.has(`${file} ${test}`);
  const tests = flaky.filter(({ test }) => test !== "").length;
  return {
    ...results,
    numPassedTests: results.numPassedTests + tests,
    numFailedTests: results.numFailedTests - tests,
    testResults: results.testResults.map((file) => {
      const of = file.name.replace(`${root}/`, "");
      const assertionResults = file.assertionResults.map((one) =>
        one.status === "failed" && isFlaky(of, one.fullName) ? { ...one, status: "passed" } : one,
      );
      const failed = assertionResults.some(({ status }) => status === "failed");
      const passedAgain = isFlaky(of, "") || (file.assertionResults.length > 0 && !failed);
      return { ...file, assertionResults, status: passedAgain ? "passed" : file.status };
    }),
  };
}

let ok = run(given, path);
const results = readResults(path);
const failures = results === null ? [] : listFailures(results);
if (results !== null && failures.length > 0) {
  const flaky = runAgain(failures);
  if (flaky.length > 0) {
    const at = new Date().toISOString();
    keepFlaky(flaky.map((failure) => ({ ...failure, at })));
    writeFileSync(path, JSON.stringify(countAsPassed(results, flaky)));
    console.log(`\n${describeFlaky(flaky)}`);
  }
  ok = flaky.length === failures.length;
}
process.exitCode = ok ? 0 : 1;
