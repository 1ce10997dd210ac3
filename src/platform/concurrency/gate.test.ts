import { expect, test } from "vitest";
import type { Caller } from "./caller.ts";
import { makeGate } from "./gate.ts";

const limits = { places: 2, placesPerClient: 1, open: 6, openPerClient: 4, waitMs: 60_000 };

function makeCaller(): Caller & { leave(): void } {
  const listeners = new Set<() => void>();
  let left = false;
  return {
    hasLeft: () => left,
    onLeave(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    leave() {
      left = true;
      listeners.forEach((listener) => listener());
    },
  };
}

test("a client that waits for its own place leaves the other places to others, who come in turns", async () => {
  const gate = makeGate(limits);
  const order: string[] = [];
  const enter = async (client: string, name: string) => {
    const leave = await gate.enter(client, makeCaller());
    order.push(name);
    return leave;
  };
  const [first, second, last, other] = ["a1", "a2", "a3", "b1"].map((name) => enter(name[0]!, name));
  const third = enter("c", "c1");
  const leaveFirst = await first!;
  expect(order).toEqual(["a1", "b1"]);
  leaveFirst();
  (await other!)();
  (await third)();
  expect(order.slice(2)).toEqual(["a2", "c1"]);
  (await second!)();
  (await last!)();
});

test("a client with too many open requests gets 429, everybody gets 503 when all together have", () => {
  const gate = makeGate(limits);
  const leaves = [1, 2, 3, 4].map(() => gate.admit("a"));
  expect(() => gate.admit("a")).toThrow(expect.objectContaining({ status: 429 }) as Error);
  gate.admit("b");
  gate.admit("b");
  expect(() => gate.admit("b")).toThrow(expect.objectContaining({ status: 503 }) as Error);
  leaves[0]!();
  leaves[0]!();
  gate.admit("b");
  expect(() => gate.admit("b")).toThrow(expect.objectContaining({ status: 503 }) as Error);
});

test("who waits too long is told who is the cause", async () => {
  const gate = makeGate({ ...limits, waitMs: 20 });
  await gate.enter("a", makeCaller());
  await expect(gate.enter("a", makeCaller())).rejects.toMatchObject({ status: 429 });
  await gate.enter("b", makeCaller());
  await expect(gate.enter("c", makeCaller())).rejects.toMatchObject({ status: 503 });
});

test("who leaves while waiting gives the turn to the next one", async () => {
  const gate = makeGate(limits);
  const leave = await gate.enter("a", makeCaller());
  const leaver = makeCaller();
  const [left, next] = [gate.enter("a", leaver), gate.enter("a", makeCaller())];
  leaver.leave();
  await expect(left).rejects.toThrow("left");
  leave();
  await next;
  await expect(gate.enter("a", leaver)).rejects.toThrow("left");
});
