import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

export const root = join(import.meta.dirname, "../..");
const folder = join(root, ".cache/check");

/** What vitest writes as JSON, as far as it is read here. */
export type TestResults = {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
};

/** Where a run of tests writes its results. */
export const resultsPath = (name: string): string => join(folder, `${name}.json`);

/** `null` if the run wrote none. */
export function readResults(path: string): TestResults | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as TestResults;
  } catch {
    return null;
  }
}

export type Failure = { file: string; test: string; said: string };

/** Every failed test; a file that failed outside its tests counts as one, without a name. */
export function listFailures({ testResults }: TestResults): Failure[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name);
    const tests = assertionResults.filter((result) => result.status === "failed");
    if (tests.length === 0) return status === "failed" ? [{ file, test: "", said: firstLine(message) }] : [];
    return tests.map(({ fullName, failureMessages }) => ({
      file,
      test: fullName,
      said: firstLine(failureMessages[0]),
    }));
  });
}

const firstLine = (text = ""): string => text.split("\n", 1)[0]!;

export type Flaky = Failure & { at: string };
const flakyPath = join(folder, "flaky.json");
const mostFlaky = 200;

/** The tests of the last runs on this machine that failed and passed when they ran again. */
export function listFlaky(): Flaky[] {
  try {
    return JSON.parse(readFileSync(flakyPath, "utf8")) as Flaky[];
  } catch {
    return [];
  }
}

/** One line, such as `1 flaky: test/a.test.ts: it works`. */
export const describeFlaky = (flaky: readonly Failure[]): string =>
  `${flaky.length} flaky: ${flaky.map(({ file, test }) => `${file}: ${test}`).join("; ")}`;

export function keepFlaky(found: Flaky[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(flakyPath, JSON.stringify([...listFlaky(), ...found].slice(-mostFlaky), null, 2));
}
