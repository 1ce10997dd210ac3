import fc from "fast-check";
import { expect } from "vitest";

// Always the same walk, so that a failure is a failure for everybody; the environment asks for others.
export const asked = { seed: read("TEST_SEED"), runs: read("TEST_RUNS"), path: process.env["TEST_PATH"] };
export const seed = asked.seed ?? 20_260_203;

/** Whether this is the slow suite, or another that leaves nothing out. */
export const isFullRun = process.env["TEST_WHOLE"] === "1";

const usualTimeoutMs = isFullRun ? 600_000 : 60_000;
/** How long a property may take. Units: milliseconds. */
export const walkTimeoutMs = asked.runs === undefined && asked.path === undefined ? usualTimeoutMs : 3_600_000;

/**
 * How a property is tried: `numRuns` times from the same seed in the slow suite, `fastRuns` times in the fast
 * one, unless the environment says otherwise.
 *
 * TEST_SEED: begins another walk. TEST_RUNS: how often, for every property. TEST_PATH: only the one that a failure
 * printed.
 *
 * Shape: a failure is printed at once, with the command that comes back to it; only that command makes the
 *        counterexample smaller, for on a database this takes longer than the test may.
 */
export function walks<Made>(numRuns: number, fastRuns = Math.ceil(numRuns / 10)): fc.Parameters<Made> {
  const again = asked.path === undefined ? { endOnFailure: true } : { path: asked.path };
  const usual = isFullRun ? numRuns : fastRuns;
  return { seed, numRuns: asked.runs ?? usual, ...again, reporter: report };
}

function report<Made>(run: fc.RunDetails<Made>): void {
  if (!run.failed) return;
  const { currentTestName = "", testPath = "" } = expect.getState();
  const name = currentTestName.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const command = `TEST_SEED=${run.seed} TEST_PATH=${run.counterexamplePath ?? ""} npx vitest run ${relative(testPath)} -t '${name}'`;
  throw new Error(`${fc.defaultReportMessage(run) ?? ""}\n\nOnly this one again, made smaller:\n${command}`, {
    cause: run.errorInstance,
  });
}

const relative = (path: string): string => path.replace(`${process.cwd()}/`, "");

function read(variable: string): number | undefined {
  const text = process.env[variable];
  if (text === undefined) return undefined;
  if (!/^-?\d+$/.test(text)) throw new Error(`${variable} must be a number`);
  return Number(text);
}
