import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";

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
};
export type Outcome = {
  name: string;
  ok: boolean;
  seconds: number;
  passed: number;
  failed: number;
  skipped: number;
  why?: string;
};
type Options = { say: (line: string) => void; env?: NodeJS.ProcessEnv; deadline?: number };

/** Runs gates one after the other, all of them whatever comes out; anything unclear counts as failed. */
export async function runGates(gates: Gate[], options: Options): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const gate of gates) {
    options.say(`── ${gate.name}`);
    const outcome = await runGate(gate, options);
    const tests = gate.results
      ? `, ${outcome.passed} tests passed, ${outcome.failed} failed, ${outcome.skipped} skipped`
      : "";
    options.say(
      `${outcome.ok ? "✔" : "✖"} ${gate.name} (${outcome.seconds} s${tests})${outcome.why ? `: ${outcome.why}` : ""}`,
    );
    outcomes.push(outcome);
  }
  return outcomes;
}

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
  const {
    code,
    output,
    why: trouble,
  } = milliseconds > 0
    ? await run(gate, milliseconds, { ...env, ...gate.env })
    : { code: null, output: "", why: "no time is left" };
  const tests = gate.results ? readResults(gate.results) : { passed: 0, failed: 0, skipped: 0 };

  let why = trouble;
  if (!why && code !== 0) why = `it ended with ${String(code)}`;
  if (!why && gate.results && tests.passed === 0) why = "no test passed";
  if (!why && tests.failed > 0) why = "tests failed";
  if (!why && gate.expects && !gate.expects.test(output)) why = "it found nothing to look at";
  if (why && output.trim() !== "") say(output.trimEnd());
  const seconds = Math.round((Date.now() - started) / 100) / 10;
  return { name: gate.name, ok: why === undefined, seconds, ...tests, ...(why !== undefined && { why }) };
}

type Run = { code: number | null; output: string; why?: string };

/** The program in a group of its own, so that nothing it started outlives it. */
function run({ program, args, minutes }: Gate, milliseconds: number, env: NodeJS.ProcessEnv): Promise<Run> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let why: string | undefined;
    const collect = (chunk: Buffer) => (output += chunk.toString());
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    const timer = setTimeout(() => {
      why = `it took longer than ${Math.min(minutes, Math.round(milliseconds / 60_000))} minutes`;
      endGroup(child.pid);
    }, milliseconds);
    const end = (result: Run) => {
      clearTimeout(timer);
      resolve({ ...result, ...(why !== undefined && { why }) });
    };
    child.on("error", (error) => end({ code: null, output, why: error.message }));
    child.on("close", (code) => end({ code, output }));
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}

function readResults(path: string): { passed: number; failed: number; skipped: number } {
  try {
    const results = JSON.parse(readFileSync(path, "utf8")) as {
      numPassedTests: number;
      numFailedTests: number;
      numPendingTests: number;
      numTodoTests: number;
    };
    return {
      passed: results.numPassedTests,
      failed: results.numFailedTests,
      skipped: results.numPendingTests + results.numTodoTests,
    };
  } catch {
    return { passed: 0, failed: 0, skipped: 0 };
  }
}
