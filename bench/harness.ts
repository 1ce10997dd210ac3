/**
 * What every measurement shares: subjects in processes of their own, measured in turns, so that a
 * machine whose speed drifts slows both sides alike and the ratio stays.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import autocannon from "autocannon";
import type { Db } from "../src/platform/database/db.ts";
import { statistics, withStatistics } from "./statistics.ts";

export type Subject = {
  name: string;
  url: string;
  pid: number;
  /** The most memory that its process has held so far, in megabytes; only of a module that answers `readPeak`. */
  readPeakMb(): Promise<number>;
  /** CPU time of its process so far; NaN where the system does not tell. */
  cpuMs(): number;
  /** The memory that its process holds now, in megabytes; NaN where the system does not tell. */
  memoryMb(): number;
  stop(): Promise<void>;
};

export type Rate = { count: number; perSecond: number; p50Ms: number; p99Ms: number; failed: number };

/** What was measured of one side: the CPU time is that of its process alone, divided by what it answered. */
type Measured = Rate & { cpuUs: number };

export type Comparison = {
  title: string;
  target: number;
  ours: Measured[];
  base: Measured[];
};

type Sides = {
  ours: () => Promise<Rate>;
  base: () => Promise<Rate>;
  rounds: number;
  /** The processes that answer. */
  subjects: Record<"ours" | "base", Pick<Subject, "cpuMs">>;
  /** Their database. */
  db: Db;
};

/**
 * Starts a server module in its own process.
 *
 * Shape:  the module sends `{url}` over IPC once it listens, and ends on SIGTERM.
 * Errors: rejects when the process ends before that.
 */
export async function startSubject(name: string, module: string, env: Record<string, string>): Promise<Subject> {
  const child: ChildProcess = fork(fileURLToPath(new URL(module, import.meta.url)), {
    env: { ...process.env, ...env },
    // As `npm start` sets it.
    execArgv: ["--max-semi-space-size=16"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.once("message", (message) => {
      resolve((message as { url: string }).url);
    });
    child.once("exit", (code) => {
      reject(new Error(`${name} ended before it listened (exit ${String(code)})`));
    });
  });
  return {
    name,
    url,
    pid: child.pid!,
    async readPeakMb() {
      child.send("readPeak");
      const [{ peakKb }] = (await once(child, "message")) as [{ peakKb: number }];
      return peakKb / 1000;
    },
    cpuMs: () => readCpuMs(child.pid!),
    memoryMb: () => readMemoryMb(child.pid!),
    async stop() {
      if (child.exitCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
  };
}

const tickMs = 10;

/** CPU time of a process so far; NaN where the system does not tell. */
// User and system time are fields 14 and 15; the name before them may hold spaces.
export function readCpuMs(pid: number): number {
  if (process.platform !== "linux") return Number.NaN;
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}

function readMemoryMb(pid: number): number {
  if (process.platform !== "linux") return Number.NaN;
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) / 1000;
}

type Load = { connections: number; seconds: number };
type BenchRequest = { method: "GET" | "POST"; path: string; headers?: Record<string, string>; body?: string };

/**
 * Requests per second over a number of connections, each asking one after another; anything but 2xx counts as failed.
 */
export async function measureRequests(
  base: string,
  { requests, connections, seconds }: Load & { requests: BenchRequest[] },
): Promise<Rate> {
  const result = await autocannon({ url: base, connections, duration: seconds, requests });
  return {
    count: result["2xx"],
    perSecond: result.requests.average,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    failed: result.non2xx + result.errors + result.timeouts,
  };
}

/** The same for GETs. */
export function measureUrls(
  base: string,
  { paths, headers, ...load }: Load & { paths: readonly string[]; headers?: Record<string, string> },
): Promise<Rate> {
  return measureRequests(base, {
    ...load,
    requests: paths.map((path) => ({ method: "GET", path, ...(headers && { headers }) })),
  });
}

/**
 * Flows per second: `connections` loops run one flow after another until the time is over.
 *
 * Errors: a flow that throws counts as failed; the first reason is printed.
 */
export async function measureFlow(flow: (connection: number) => Promise<void>, options: Load): Promise<Rate> {
  const durations: number[] = [];
  let failed = 0;
  const start = performance.now();
  const end = start + options.seconds * 1000;
  const connect = async (index: number) => {
    while (performance.now() < end) {
      const began = performance.now();
      try {
        await flow(index);
        durations.push(performance.now() - began);
      } catch (error) {
        if (failed++ === 0) console.error("a flow failed:", error);
      }
    }
  };
  await Promise.all(Array.from({ length: options.connections }, (_, index) => connect(index)));
  durations.sort((a, b) => a - b);
  const at = (share: number) =>
    durations[Math.min(durations.length - 1, Math.floor(durations.length * share))] ?? Number.NaN;
  return {
    count: durations.length,
    perSecond: durations.length / ((performance.now() - start) / 1000),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    failed,
  };
}

/** Measures two sides in turns, a warm-up of each first. */
export async function compare(title: string, target: number, sides: Sides): Promise<Comparison> {
  await sides.base();
  await sides.ours();
  const comparison: Comparison = { title: `${title}, statistics ${statistics}`, target, ours: [], base: [] };
  await withStatistics(sides.db, async () => {
    for (let round = 0; round < sides.rounds; round++) {
      comparison.base.push(await withCpu(sides.subjects.base, sides.base));
      comparison.ours.push(await withCpu(sides.subjects.ours, sides.ours));
    }
  });
  return comparison;
}

async function withCpu(subject: Pick<Subject, "cpuMs">, run: () => Promise<Rate>): Promise<Measured> {
  const before = subject.cpuMs();
  const rate = await run();
  return { ...rate, cpuUs: ((subject.cpuMs() - before) * 1000) / rate.count };
}

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** The pair-by-pair ratio ours/base as min, median, max, beside both medians, as a Markdown table row. */
export function report(comparison: Comparison): string {
  const ratios = comparison.ours.map(
    (rate, index) => rate.perSecond / (comparison.base[index]?.perSecond ?? Number.NaN),
  );
  const failed = [...comparison.ours, ...comparison.base].reduce((sum, rate) => sum + rate.failed, 0);
  const rate = (rates: Measured[]) =>
    `${median(rates.map((r) => r.perSecond)).toFixed(0)}/s (p99 ${median(rates.map((r) => r.p99Ms)).toFixed(1)} ms, CPU ${median(rates.map((r) => r.cpuUs)).toFixed(0)} µs)`;
  const [low, mid, high] = [Math.min(...ratios), median(ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2));
  return `| ${comparison.title} | ${rate(comparison.ours)} | ${rate(comparison.base)} | ${low} / **${mid}** / ${high} | ${comparison.target} | ${failed} |`;
}

/** As `report`, where the figure is the CPU time of one thing, ours against the baseline. */
export function reportCost({ title, target, ours, base }: Comparison): string {
  const ratios = ours.map(({ cpuUs }, index) => cpuUs / base[index]!.cpuUs);
  const failed = [...ours, ...base].reduce((sum, rate) => sum + rate.failed, 0);
  const cost = (rates: Measured[]) =>
    `${median(rates.map((r) => r.cpuUs)).toFixed(0)} µs (p50 ${median(rates.map((r) => r.p50Ms)).toFixed(1)} ms, p99 ${median(rates.map((r) => r.p99Ms)).toFixed(1)} ms)`;
  const [low, mid, high] = [Math.min(...ratios), median(ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2));
  return `| ${title} | ${cost(ours)} | ${cost(base)} | ${low} / **${mid}** / ${high} | ${target} | ${failed} |`;
}

export const costHead = [
  "| CPU time of | Ours | Baseline | Ratio min / median / max | At most | Failed |",
  "|---|---|---|---|---|---|",
].join("\n");

export const reportHead = [
  "| What | Ours | Baseline | Ratio min / median / max | At least | Failed |",
  "|---|---|---|---|---|---|",
].join("\n");
