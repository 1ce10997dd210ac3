import { expect, test } from "vitest";
import { makeProgressBar } from "./progress-bar.ts";

function makeScreen(isTTY: boolean) {
  const written: string[] = [];
  let time = 0;
  const bar = makeProgressBar({ isTTY, columns: 80, write: (text) => written.push(text) }, () => time);
  return { written, bar, pass: (ms: number) => (time += ms) };
}

const step = (done: number) => ({ label: "Reading", done, total: 200_000_000, unit: "bytes" as const });

test("a terminal sees a bar with rate and time left, drawn over itself and wiped at the end", () => {
  const { written, bar, pass } = makeScreen(true);
  bar.show(step(0));
  pass(50);
  bar.show(step(1_000_000));
  pass(1950);
  bar.show(step(50_000_000));
  bar.end(true);
  expect(written).toEqual([
    "\r\x1b[KReading ░░░░░░░░░░░░░░░░░░░░░░░░ 0 %",
    "\r\x1b[KReading ██████░░░░░░░░░░░░░░░░░░ 25 % · 25.0 MB/s · 6 s left",
    "\r\x1b[K",
  ]);
});

test("a log sees a line at the beginning of a step, every ten seconds, and at its end", () => {
  const { written, bar, pass } = makeScreen(false);
  for (let second = 0; second < 25; second++) {
    bar.show(step(second * 1_000_000));
    pass(1000);
  }
  bar.show({ label: "Applying", done: 1, total: 2, unit: "schools" });
  bar.end(false);
  expect(written).toEqual([
    "Reading ░░░░░░░░░░░░░░░░░░░░░░░░ 0 %\n",
    "Reading █░░░░░░░░░░░░░░░░░░░░░░░ 5 % · 1.0 MB/s · 4 min left\n",
    "Reading ██░░░░░░░░░░░░░░░░░░░░░░ 10 % · 1.0 MB/s · 3 min left\n",
    "Reading ████████████████████████ 100 % · 8.0 MB/s\n",
    "Applying ████████████░░░░░░░░░░░░ 50 %\n",
  ]);
});

test("a log sees a quick step end at 100 %", () => {
  const { written, bar, pass } = makeScreen(false);
  for (const done of [0, 100_000_000]) {
    bar.show(step(done));
    pass(300);
  }
  bar.end(true);
  expect(written).toEqual([
    "Reading ░░░░░░░░░░░░░░░░░░░░░░░░ 0 %\n",
    "Reading ████████████████████████ 100 % · 333.3 MB/s\n",
  ]);
});
