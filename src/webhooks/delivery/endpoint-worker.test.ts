import { expect, test } from "vitest";
import { classify, type EndpointWorker } from "./endpoint-worker.ts";

const at = new Date("2026-02-03T08:00:00Z");
const paused = () => ({ state: "PAUSED", failures: 20, failingSince: at, isGone: false }) as EndpointWorker;
const result = (state: "DELIVERED" | "PENDING") =>
  ({ id: "1", state, dueAt: null, at, durationMs: 1, status: 500, error: null, answer: null }) as const;

test("during a pause only subjects that had not failed count, and after a success all count again", () => {
  const worker = paused();
  classify(worker, result("PENDING"), true);
  expect(worker.failures).toBe(20);
  classify(worker, result("PENDING"), false);
  expect(worker.failures).toBe(21);
  classify(worker, result("DELIVERED"), false);
  // The state is recorded later: until then further results arrive.
  expect([worker.failures, worker.failingSince]).toEqual([0, null]);
  classify(worker, result("PENDING"), true);
  expect([worker.failures, worker.failingSince]).toEqual([1, at]);
});
