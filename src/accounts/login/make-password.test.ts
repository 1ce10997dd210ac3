import { expect, test } from "vitest";
import { friendlyWords } from "../user-names/make-base.ts";
import { makePassword } from "./make-password.ts";

const many = (kind: "WORDS" | "LETTERS") => Array.from({ length: 500 }, () => makePassword(kind));

test("passwords of words have three words and a digit: at least 30 bits", () => {
  const words = new Set(friendlyWords);
  for (const password of many("WORDS")) {
    const [, text, digit] = /^([a-z-]+)([2-9])$/.exec(password)!;
    expect([text!.split("-").length, digit]).toEqual([3, expect.anything()]);
    expect(text!.split("-").every((word) => words.has(word))).toBe(true);
  }
  expect(Math.log2(words.size ** 3 * 8)).toBeGreaterThan(30);
});

test("passwords of letters have no look-alikes: at least 45 bits", () => {
  const made = many("LETTERS");
  expect(made.filter((password) => !/^[b-hj-km-np-tv-z2-9]{10}$/.test(password))).toEqual([]);
  expect(new Set(made).size).toBe(made.length);
  expect(10 * Math.log2(new Set(made.join("")).size)).toBeGreaterThan(45);
});
