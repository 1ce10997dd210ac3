import { argon2Sync, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { hashAside } from "./hash-aside.ts";

const parameters = { message: "geheim", nonce: randomBytes(16), parallelism: 1, tagLength: 32, memory: 64, passes: 1 };

test("several at once get the hash of their own parameters", async () => {
  const several = [1, 2, 3].map((passes) => ({ ...parameters, passes }));
  const hashes = await Promise.all(several.map(hashAside));
  expect(hashes).toEqual(several.map((each) => argon2Sync("argon2id", each)));
});

test("parameters that are refused harm no hash after them", async () => {
  await expect(hashAside({ ...parameters, parallelism: 0 })).rejects.toThrow();
  expect(await hashAside(parameters)).toEqual(argon2Sync("argon2id", parameters));
});
