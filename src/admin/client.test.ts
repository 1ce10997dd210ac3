import { expect, test } from "vitest";
import type { PersonId } from "../directory/index.ts";
import { makeHeldRoles } from "./client.ts";

test("the roles of a caller are read once for all reads of a page, and again at and after each change", async () => {
  const rolesOf = makeHeldRoles();
  let reads = 0;
  const read = async () => ((reads += 1), []);
  const caller = { personId: "any" as PersonId, requestId: "1" };
  const readsAfter = async (method: string, by = caller) => (await rolesOf(by, method, read), reads);

  expect(await readsAfter("GET")).toBe(1);
  expect(await readsAfter("GET")).toBe(1);
  expect(await readsAfter("PUT")).toBe(2);
  expect(await readsAfter("GET")).toBe(3);
  expect(await readsAfter("GET", { ...caller })).toBe(4);
});
