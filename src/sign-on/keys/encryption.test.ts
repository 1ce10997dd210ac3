import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { seal, unseal } from "./encryption.ts";

const [first, second] = [randomBytes(32), randomBytes(32)];
const plain = Buffer.from("a signing key");

test("what one key sealed opens with a list that still holds it", () => {
  const sealed = seal([first], "signing key", plain);
  expect(unseal([second, first], "signing key", sealed)).toEqual(plain);
  expect(unseal([second], "signing key", sealed)).toBeNull();
});

test("a sealed value opens for its own purpose only", () => {
  expect(unseal([first], "cookie keys", seal([first], "signing key", plain))).toBeNull();
});

test("a changed byte is noticed", () => {
  const sealed = seal([first], "signing key", plain);
  sealed[15]! ^= 1;
  expect(unseal([first], "signing key", sealed)).toBeNull();
});

test("anything too short is refused without an error", () => {
  expect(unseal([first], "signing key", Buffer.alloc(5))).toBeNull();
});
