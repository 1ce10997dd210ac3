import { spawn, type StdioOptions } from "node:child_process";
import { rmSync } from "node:fs";
import { listFailures, readResults, type TestResults } from "./results.ts";

export type Gate = {
  name: string;
  program: string;
  args: string[];
  minutes: number;
  /** Variables on top of the environment. */
  env?: Record<string, string>;
  /** Where a test run writes its result as JSON; without one test that passed the gate fails. */
  results?: string;
  /** Fails too when what it printed does not match: for programs that succeed with nothing to do. */
  expects?: RegExp;
  /** It needs no file that another gate writes: neighbours like it run together. */
  isParallel?: boolean;
};
export type Outcome = {
  name: string;
  ok: boolean;
  seconds: number;
  /** Of its program and all that this waited for. */
  cpuSeconds: number;
  passed: number;
  failed: number;
  skipped: number;
  /** Of every failed test its name and the first line of what it said. */
  failures: string[];
  why?: string;
};
type Options = { say: (line: string) => void; env?: NodeJS.ProcessEnv; deadline?: number };

/**
 * Runs all gates in this order, parallel neighbours four at a time, two more than a small machine has processors,
 * because browsers and started services wait half of the time; anything unclear counts as failed.
 */
export async function runGates(gates: Gate[], options: Options): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const waiting = [...gates];
  while (waiting.length > 0) {
    const batch = waiting.splice(
      0,
      Math.max(
        1,
        countWhile(waiting, (gate) => gate.isParallel === true),
      ),
    );
    const work = async () => {
      for (let gate = batch.shift(); gate; gate = batch.shift())
        outcomes[gates.indexOf(gate)] = await reportGate(gate, options);
    };
    await Promise.all([work(), work(), work(), work()]);
  }
  return outcomes;
}

function countWhile<T>(items: T[], holds: (item: T) => boolean): number {
  const end = items.findIndex((item) => !holds(item));
  return end === -1 ? items.length : end;
}

async function reportGate(gate: Gate, options: Options): Promise<Outcome> {
  options.say(`── ${gate.name}`);
  const outcome = await runGate(gate, options);
  const tests = gate.results
    ? `, ${outcome.passed} tests passed, ${outcome.failed} failed, ${outcome.skipped} skipped`
    : "";
  options.say(describeOutcome(outcome, tests));
  return outcome;
}

const describeOutcome = ({ name, ok, seconds, cpuSeconds, why }: Outcome, tests = ""): string =>
  `${ok ? "✔" : "✖"} ${name} (${seconds} s, ${cpuSeconds} s of processors${tests})${why ? `: ${why}` : ""}`;

/** A line for the gate and one for each of its tests that failed. */
export const describeWithFailures = (outcome: Outcome): string =>
  [describeOutcome(outcome), ...outcome.failures.map((failure) => `    ${failure}`)].join("\n");

/** What counts: every gate and every test in one. */
export function sumUp(outcomes: Outcome[]): { passed: number; failed: number; ok: boolean } {
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed + (outcome.ok ? 1 : 0), 0);
  const failed = outcomes.reduce((sum, outcome) => sum + outcome.failed + (outcome.ok ? 0 : 1), 0);
  return { passed, failed, ok: failed === 0 && passed > 0 };
}

async function runGate(gate: Gate, { say, env = process.env, deadline = Infinity }: Options): Promise<Outcome> {
  const started = Date.now();
  const milliseconds = Math.min(gate.minutes * 60_000, deadline - started);
  if (gate.results) rmSync(gate.results, { force: true });
  const ended: Run =
    milliseconds > 0
      ? await run(gate, milliseconds, { ...env, ...gate.env })
      : { code: null, output: "", cpuSeconds: 0, why: "no time is left" };
  const { code, output, cpuSeconds } = ended;
  const tests = gate.results ? count(readResults(gate.results)) : noResults;

  let why = ended.why;
  if (!why && code !== 0) why = `it ended with ${String(code)}`;
  if (!why && gate.results && tests.passed === 0) why = "no test passed";
  if (!why && tests.failed > 0) why = "tests failed";
  if (!why && gate.expects && !gate.expects.test(output)) why = "it found nothing to look at";
  if (why && output.trim() !== "") say(output.trimEnd());
  const seconds = Math.round((Date.now() - started) / 100) / 10;
  return { name: gate.name, ok: why === undefined, seconds, cpuSeconds, ...tests, ...(why !== undefined && { why }) };
}

type Run = { code: number | null; output: string; cpuSeconds: number; why?: string };

/** Runs its arguments, then writes how long processors worked for them. */
const measured = '"$@" 3>&-; code=$?; times >&3; exit $code';

/** The program in a group of its own, so that nothing it started outlives it. */
function run({ program, args, minutes }: Gate, milliseconds: number, env: NodeJS.ProcessEnv): Promise<Run> {
  return new Promise((resolve) => {
    const stdio: StdioOptions = ["ignore", "pipe", "pipe", "pipe"];
    const child = spawn("sh", ["-c", measured, "sh", program, ...args], { env, detached: true, stdio });
    let [output, times] = ["", ""];
    let why: string | undefined;
    const collect = (chunk: Buffer) => (output += chunk.toString());
    child.stdout!.on("data", collect);
    child.stderr!.on("data", collect);
    child.stdio[3]!.on("data", (chunk: Buffer) => (times += chunk.toString()));
    const timer = setTimeout(() => {
      why = `it took longer than ${Math.min(minutes, Math.round(milliseconds / 60_000))} minutes`;
      endGroup(child.pid);
    }, milliseconds);
    child.on("error", (error) => (why = error.message));
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code, output, cpuSeconds: sumTimes(times), ...(why !== undefined && { why }) });
    });
  });
}

/** What `times` writes, such as `0m1.234s 0m0.567s`, in seconds. */
function sumTimes(times: string): number {
  const parts = [...times.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds),
  );
  return Math.round(parts.reduce((sum, part) => sum + part, 0) * 10) / 10;
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}

type Results = Pick<Outcome, "passed" | "failed" | "skipped" | "failures">;
const noResults: Results = { passed: 0, failed: 0, skipped: 0, failures: [] };

function count(results: TestResults | null): Results {
  if (results === null) return noResults;
  return {
    passed: results.numPassedTests,
    failed: results.numFailedTests,
    skipped: results.numPendingTests + results.numTodoTests,
    failures: listFailures(results).map(({ file, test, said }) => [file, test, said].filter(Boolean).join(": ")),
  };
}
