import { expect, test } from "vitest";
import { breakLongWords } from "./break-long-words.ts";

const width = 100;

/** Breaks a text whose letters are all one wide, except combining marks; counts what is measured. */
function breakCounting(text: string) {
  let measured = 0;
  const broken = breakLongWords(text, width, (part) => {
    measured += part.length;
    return part.replace(/[\u0301\u200d]/g, "").length;
  });
  return { measured, lines: broken.split("\n"), broken };
}

test.each(["x", "a\u00a0", "a\u2060", "ش", "漢", "\u0301", "\u200d", "😀", "<b>&"])(
  "a word of 60,000 letters is measured once, and fills lines without losing a letter: %j",
  (letters) => {
    const text = `Vor ${letters.repeat(60_000 / letters.length)} nach`;
    const { measured, lines, broken } = breakCounting(text);
    expect(measured).toBeLessThanOrEqual(text.length);
    expect(broken.replaceAll("\n", "")).toBe(text);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(2 * 210);
    expect(lines.length).toBeLessThan(text.length / 50);
  },
);

test("words, addresses and lines of ordinary texts stay as they are", () => {
  const text = `Sehr geehrte Damen und Herren,\n\thttps://example.org/${"a".repeat(270)} ${"wort ".repeat(1000)}`;
  expect(breakCounting(text)).toMatchObject({ measured: 0, broken: text });
});
