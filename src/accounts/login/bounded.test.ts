import { expect, test } from "vitest";
import { makeBounded, makeBoundedByKey } from "./bounded.ts";

test("work beyond what may run waits its turn, and beyond what may wait is told so at once", async () => {
  const bounded = makeBounded({ atOnce: 2, waiting: 1 });
  const started: number[] = [];
  const gates = [0, 1, 2].map(() => Promise.withResolvers<string>());
  const work = (number: number) =>
    bounded(async () => {
      started.push(number);
      await gates[number]?.promise;
      return number;
    });
  const results = [work(0), work(1), work(2)];
  expect(await work(3)).toBe("full");
  expect(started).toEqual([0, 1]);
  gates[1]?.resolve("done");
  expect(await results[1]).toBe(1);
  expect(started).toEqual([0, 1, 2]);
  gates[0]?.resolve("done");
  gates[2]?.resolve("done");
  expect(await Promise.all(results)).toEqual([0, 1, 2]);
});

test("work that fails makes room too", async () => {
  const bounded = makeBounded({ atOnce: 1, waiting: 0 });
  await expect(bounded(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await bounded(() => Promise.resolve("yes"))).toBe("yes");
});

test("each key has its own room", async () => {
  const bounded = makeBoundedByKey({ atOnce: 1, waiting: 0 });
  const gate = Promise.withResolvers<string>();
  const first = bounded("a", () => gate.promise);
  expect(await bounded("a", () => Promise.resolve("second"))).toBe("full");
  expect(await bounded("b", () => Promise.resolve("other"))).toBe("other");
  gate.resolve("first");
  expect(await first).toBe("first");
  expect(await bounded("a", () => Promise.resolve("third"))).toBe("third");
});
