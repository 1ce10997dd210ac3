import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const rules = join(import.meta.dirname, "../../deploy/prometheus/alerts.yml");

/** What Prometheus would have stored of one process. Units: one scrape stands for `intervalSeconds`. */
export type Recording = {
  scrape(url: string): Promise<void>;
  /** The minute of the last scrape. */
  minute(): number;
  /** Evaluates the rules with promtool, or others made of them: which alerts fire in that minute. */
  listFiring(minute: number, change?: (rules: string) => string): Promise<{ critical: string[]; warning: string[] }>;
};

const intervalSeconds = 30;

/** Labels as Prometheus stores them: a label `job` of ours gives way to its own. */
function nameSeries(name: string, labels: string): string {
  const own = labels.replace(/(^|,)job=/, "$1exported_job=");
  return `${name}{${['job="schultor"', 'instance="a"', ...(own === "" ? [] : [own])].join(",")}}`;
}

function readSamples(text: string): Map<string, string> {
  const used = readFileSync(rules, "utf8");
  const samples = new Map<string, string>();
  for (const [, name, labels, value] of text.matchAll(/^([a-z_]+)(?:\{(.*)\})? (\S+)$/gm))
    if (used.includes(name!)) samples.set(nameSeries(name!, labels ?? ""), value!);
  return samples;
}

export function makeRecording(): Recording {
  const series = new Map<string, string[]>();
  let count = 0;
  return {
    async scrape(url) {
      const answer = await fetch(`${url}/metrics`).catch(() => null);
      const samples = answer?.ok ? readSamples(await answer.text()) : new Map<string, string>();
      samples.set(nameSeries("up", ""), answer?.ok ? "1" : "0");
      for (const [name, value] of samples) {
        const values = series.get(name) ?? Array.from({ length: count }, () => "_");
        series.set(name, [...values, value.replace("+Inf", "Inf")]);
      }
      count += 1;
      for (const values of series.values()) if (values.length < count) values.push("_");
    },
    minute: () => ((count - 1) * intervalSeconds) / 60,
    listFiring: (minute, change = (text) => text) => evaluate(series, minute, change(readFileSync(rules, "utf8"))),
  };
}

async function evaluate(series: Map<string, string[]>, minute: number, text: string) {
  const folder = mkdtempSync(join(tmpdir(), "schultor-alerts-"));
  // Promtool prints what it found only where something else was expected.
  const unexpected = [{ labels: "none", value: 1 }];
  const expr = "count by (alertname, severity) (ALERTS{alertstate='firing'})";
  const given = {
    rule_files: ["alerts.yml"],
    evaluation_interval: `${intervalSeconds}s`,
    tests: [
      {
        interval: `${intervalSeconds}s`,
        input_series: [...series].map(([name, values]) => ({ series: name, values: values.join(" ") })),
        promql_expr_test: [{ expr, eval_time: `${Math.round(minute * 60)}s`, exp_samples: unexpected }],
      },
    ],
  };
  writeFileSync(join(folder, "alerts.yml"), text);
  writeFileSync(join(folder, "run.json"), JSON.stringify(given));
  const printed = await promisify(execFile)("promtool", ["test", "rules", "run.json"], { cwd: folder })
    .catch((failed: unknown) => failed as { stdout: string; stderr: string })
    .then(({ stdout, stderr }) => stdout + stderr);
  rmSync(folder, { recursive: true });
  if (!printed.includes("got:")) throw new Error(printed);
  const fired = [...printed.matchAll(/alertname="(\w+)", severity="(\w+)"/g)];
  const namesOf = (wanted: string) =>
    fired
      .filter(([, , severity]) => severity === wanted)
      .map(([, name]) => name!)
      .toSorted();
  return { critical: namesOf("critical"), warning: namesOf("warning") };
}
