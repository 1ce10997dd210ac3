// @module-tag slow
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeWithFailures, runGates, sumUp, type Gate } from "../gates/run-gates.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "gates-"))));
afterAll(() => rm(folder, { recursive: true }));

const said: string[] = [];
const node = (code: string): Omit<Gate, "name"> => ({ program: process.execPath, args: ["-e", code], minutes: 1 });
const wrote = (passed: number, failed: number) =>
  `require("fs").writeFileSync(${JSON.stringify(join(folder, "results.json"))}, JSON.stringify({ numPassedTests: ${passed}, numFailedTests: ${failed}, numPendingTests: 0, numTodoTests: 0, testResults: ${JSON.stringify(ran(failed))} }))`;
const ran = (failed: number) => [
  {
    name: "a.test.ts",
    status: "failed",
    message: "",
    assertionResults: Array.from({ length: failed }, (_, n) => ({
      status: "failed",
      fullName: `test ${n}`,
      failureMessages: ["Error: it is red\n    at a line"],
    })),
  },
  ...(failed > 0 ? [{ name: "b.test.ts", status: "failed", message: "It cannot be read", assertionResults: [] }] : []),
];
const results = () => join(folder, "results.json");

async function outcomeOf(gate: Omit<Gate, "name">, deadline?: number) {
  const [outcome] = await runGates([{ name: "gate", ...gate }], {
    say: (line) => said.push(line),
    ...(deadline !== undefined && { deadline }),
  });
  return outcome!;
}

test("a gate is open when its program ends well", async () => {
  expect(await outcomeOf(node(""))).toMatchObject({ ok: true });
});

test.each<[claim: string, gate: () => Omit<Gate, "name">, why: RegExp]>([
  ["its program ends with an error", () => node("process.exit(3)"), /ended with 3/],
  ["its program is not there", () => ({ program: "no-such-program", args: [], minutes: 1 }), /ended with 127/],
  ["it takes too long", () => ({ ...node("setInterval(() => {}, 1000)"), minutes: 0.005 }), /took longer/],
  [
    "its program was content with nothing",
    () => ({ ...node("console.log('0 modules')"), expects: /[1-9] modules/ }),
    /nothing to look at/,
  ],
  ["its tests left no result", () => ({ ...node(""), results: results() }), /no test passed/],
  ["no test ran", () => ({ ...node(wrote(0, 0)), results: results() }), /no test passed/],
  [
    "a test failed, though the program ended well",
    () => ({ ...node(wrote(5, 1)), results: results() }),
    /tests failed/,
  ],
])("a gate is shut when %s", async (_claim, gate, why) => {
  const outcome = await outcomeOf(gate());
  expect(outcome.ok).toBe(false);
  expect(outcome.why).toMatch(why);
});

test("a result of an earlier run does not count", async () => {
  await outcomeOf({ ...node(wrote(5, 0)), results: results() });
  expect(await outcomeOf({ ...node(""), results: results() })).toMatchObject({ ok: false, passed: 0 });
});

test("a gate is shut when no time is left for it", async () => {
  expect(await outcomeOf(node(""), Date.now() - 1)).toMatchObject({ ok: false, why: "no time is left" });
});

test("the time of processors is that of the program and of what it started", async () => {
  const busy = "const used = () => process.cpuUsage().user + process.cpuUsage().system; while (used() < 300_000);";
  const parent = `require("child_process").execFileSync(process.execPath, ["-e", ${JSON.stringify(busy)}]); ${busy}`;
  expect((await outcomeOf(node(parent))).cpuSeconds).toBeGreaterThan(0.5);
});

test("parallel neighbours run three at a time, and all others alone", async () => {
  const order: string[] = [];
  const gate = (name: string, isParallel: boolean): Gate => ({
    name,
    ...node("setTimeout(() => {}, 300)"),
    isParallel,
  });
  const gates = [...["a", "b", "c", "d"].map((name) => gate(name, true)), gate("e", false), gate("f", true)];
  const outcomes = await runGates(gates, { say: (line) => order.push(line.split(" ", 2).join("")) });
  expect(outcomes.map(({ name }) => name)).toEqual(["a", "b", "c", "d", "e", "f"]);
  expect(order.slice(0, 3)).toEqual(["──a", "──b", "──c"]);
  expect(order[3]).toMatch(/^✔[abc]$/);
  expect(order.slice(8)).toEqual(["──e", "✔e", "──f", "✔f"]);
});

test("what a shut gate printed is shown", async () => {
  await outcomeOf(node("console.error('because of this'); process.exit(1)"));
  expect(said.join("\n")).toContain("because of this");
});

test("the last lines name every test that failed", async () => {
  const outcome = await outcomeOf({ ...node(`${wrote(5, 2)}; process.exitCode = 1`), results: results() });
  expect(describeWithFailures(outcome).split("\n").slice(1)).toEqual([
    "    a.test.ts: test 0: Error: it is red",
    "    a.test.ts: test 1: Error: it is red",
    "    b.test.ts: It cannot be read",
  ]);
});

test("gates and tests are summed up together, and nothing at all is a failure", async () => {
  const outcomes = await runGates(
    [
      { name: "tests", ...node(wrote(5, 0)), results: results() },
      { name: "shut", ...node("process.exit(1)") },
    ],
    { say: () => undefined },
  );
  expect(sumUp(outcomes)).toEqual({ passed: 6, failed: 1, ok: false });
  expect(sumUp(outcomes.slice(0, 1))).toEqual({ passed: 6, failed: 0, ok: true });
  expect(sumUp([])).toEqual({ passed: 0, failed: 0, ok: false });
});
