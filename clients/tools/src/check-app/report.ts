import type { Report } from "../report.ts";
import { checks, type Outcome, type Verdict } from "./checks.ts";

const marks: Readonly<Record<Outcome, string>> = {
  passed: "ok",
  failed: "FAILED",
  warning: "warning",
  skipped: "skipped",
};

/** A report for people and as data. `docs` is the address of the documentation, without a slash at its end. */
export function makeReport(verdicts: readonly Verdict[], docs: string): Report {
  const explained = verdicts.map(({ id, outcome, detail }) => {
    const { title, why, remedy } = checks[id];
    return { id, outcome, detail, title, why, remedy, docs: docs + checks[id].docs };
  });
  const count = (outcome: Outcome) => verdicts.filter((verdict) => verdict.outcome === outcome).length;
  const lines = explained.flatMap(({ id, outcome, title, detail, why, remedy, docs: link }) => [
    `${marks[outcome].padEnd(8)} ${id}: ${title}`,
    ...(detail === null ? [] : [`         ${detail}`]),
    ...(outcome === "failed" || outcome === "warning"
      ? [`         Why: ${why}`, `         Do:  ${remedy}`, `         See: ${link}`]
      : []),
  ]);
  const sum = (["passed", "failed", "warning", "skipped"] as const).map((outcome) => `${count(outcome)} ${outcome}`);
  const problems = explained.filter(({ outcome }) => outcome === "failed");
  return {
    lines: [...lines, "", `${sum.join(", ")}.`],
    quiet: problems.map(({ id }) => id),
    data: { ok: problems.length === 0, checks: explained },
    hasFailed: problems.length > 0,
  };
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
// What XML 1.0 cannot hold at all becomes a question mark.
const escapeXml = (text: string): string =>
  text
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "?")
    .replaceAll(/[&<>"]/g, (one) => escapes[one]!);

export function makeJUnitReport(verdicts: readonly Verdict[], docs: string): string {
  const count = (outcome: Outcome) => verdicts.filter((verdict) => verdict.outcome === outcome).length;
  const cases = verdicts.map(({ id, outcome, detail }) => {
    const { title, why, remedy, docs: link } = checks[id];
    const text = escapeXml(`${why}\n${remedy}\n${docs}${link}`);
    const message = escapeXml(detail ?? "");
    const inside: Readonly<Record<Outcome, string>> = {
      passed: "",
      failed: `<failure message="${message}">${text}</failure>`,
      warning: `<system-out>${message}\n${text}</system-out>`,
      skipped: `<skipped message="${message}"/>`,
    };
    return `  <testcase classname="check-app" name="${escapeXml(`${id}: ${title}`)}">${inside[outcome]}</testcase>`;
  });
  const counts = `tests="${verdicts.length}" failures="${count("failed")}" skipped="${count("skipped")}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="check-app" ${counts}>\n${cases.join("\n")}\n</testsuite>\n`;
}
