import { expect, test } from "vitest";
import type { PersonId } from "../directory/index.ts";
import { makeHeldReads } from "./client.ts";

test("the roles of a caller are read once for all reads of a page, and again at and after each change", async () => {
  const readFor = makeHeldReads();
  let reads = 0;
  const read = async () => ((reads += 1), []);
  const caller = { personId: "any" as PersonId, requestId: "1" };
  const readsAfter = async (method: string, by = caller) => (await readFor(by, method, read), reads);

  expect(await readsAfter("GET")).toBe(1);
  expect(await readsAfter("GET")).toBe(1);
  expect(await readsAfter("PUT")).toBe(2);
  expect(await readsAfter("GET")).toBe(3);
  expect(await readsAfter("GET", { ...caller })).toBe(4);
});

test("records that a page has read are not used by its changes, nor by what it reads after one", async () => {
  const readFor = makeHeldReads();
  const caller = { personId: "any" as PersonId, requestId: "1" };
  const readsOf = async (method: string, by = caller) => (await readFor(by, method, async () => [])).reads;

  const first = await readsOf("GET");
  expect(first).toEqual(new Map());
  expect(await readsOf("GET")).toBe(first);
  expect(await readsOf("GET", { ...caller })).not.toBe(first);
  expect(await readsOf("PUT")).toBeNull();
  expect(await readsOf("GET")).toBeNull();
});
