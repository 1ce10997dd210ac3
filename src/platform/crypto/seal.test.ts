import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { deriveKeys, seal, sealRepeatably, unseal } from "./seal.ts";

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

test("what is sealed repeatably opens, is the same for the same content and another for other content or purpose", () => {
  const sealed = sealRepeatably([first], "cursor", plain);
  expect(unseal([first], "cursor", sealed)).toEqual(plain);
  expect(sealRepeatably([first], "cursor", plain)).toEqual(sealed);
  expect(sealRepeatably([first], "cursor", Buffer.from("another"))).not.toEqual(sealed);
  expect(sealRepeatably([first], "another", plain)).not.toEqual(sealed);
});

test("a key drawn for one purpose opens nothing of another", () => {
  expect(unseal(deriveKeys([first], "one"), "x", seal(deriveKeys([first], "other"), "x", plain))).toBeNull();
});

test("anything too short is refused without an error", () => {
  expect(unseal([first], "signing key", Buffer.alloc(5))).toBeNull();
});
