import type { Report } from "../report.ts";
import { expectations } from "./expectations.ts";
import type { Outcome, Verdict } from "./findings.ts";

const outcomes: readonly Outcome[] = ["passed", "differs", "not offered", "not checked"];

/** A report for people and as data. `docs` is the address of the documentation, without a slash at its end. */
export function makeReport(verdicts: readonly Verdict[], docs: string): Report {
  const checks = verdicts.map((verdict) => ({ ...expectations.find(({ id }) => id === verdict.id)!, ...verdict }));
  const lines = checks.flatMap(({ number, id, outcome, reason, differences, sentence }) => [
    `${outcome.padEnd(12)} ${number} ${id}${reason === null ? "" : `: ${reason}`}`,
    ...differences.flatMap(({ sent, came, expected }) => [
      `    sent: ${sent}`,
      `    came: ${came}`,
      ...(expected === null ? [] : [`    expected: ${expected}`]),
    ]),
    ...(outcome === "differs" ? [`    ${number}: ${sentence}`] : []),
  ]);
  const sum = outcomes.map((outcome) => `${verdicts.filter((one) => one.outcome === outcome).length} ${outcome}`);
  const differing = verdicts.filter(({ outcome }) => outcome === "differs");
  const page = `${docs}/check-schulconnex`;
  return {
    lines: [...lines, "", `${sum.join(", ")}. What is expected: ${page}`],
    quiet: differing.map(({ id }) => id),
    data: { ok: differing.length === 0, docs: page, checks },
    hasFailed: differing.length > 0,
  };
}
