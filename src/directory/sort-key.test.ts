import { expect, test } from "vitest";
import { makePersonSortKey, makeSortKey } from "./sort-key.ts";

const dictionary = new Intl.Collator("de");
const byBytes = (a: string, b: string): number =>
  Buffer.compare(Buffer.from(makeSortKey(a)), Buffer.from(makeSortKey(b)));
const sorted = (words: string[]): string[] => [...words].sort(byBytes);

function makeRandom(seed: number): (below: number) => number {
  return (below) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
}

const pieces = [
  ..."aabcdeeefghijklmnoopqrssstuuvwxyz",
  ..."ABEGMOSUZ",
  ..."äöüßÄÖÜẞéèêëáàâçñóòôõøåæœıłđðšžčćřśżźńęąőűğşïíîúùûýÿØÅÆŁĐŠŽČŞİ",
  ..."0123456789",
  ..."  --''’–.,/()&",
  ..."sch|ei|er|mann|Müller|Muller|Mueller|Groß|Gross|von |de |O'|Al-|5a|10b".split("|"),
];

test("keys compared as bytes order words as a German dictionary does", () => {
  const random = makeRandom(7);
  const makeWord = (): string => Array.from({ length: 1 + random(7) }, () => pieces[random(pieces.length)]!).join("");
  for (let round = 0; round < 40_000; round++) {
    const left = makeWord();
    // Half of the pairs differ in little, where accents and case decide.
    const right =
      round % 2 === 0 ? makeWord() : left.replace(/./u, (c) => (random(2) ? c.toUpperCase() : pieces[random(80)]!));
    const expected = Math.sign(dictionary.compare(left, right));
    if (Math.sign(byBytes(left, right)) !== expected) expect.fail(`${left} and ${right} should compare as ${expected}`);
  }
});

test("umlauts and ß stand with their base letters, behind them where nothing else differs", () => {
  const order = ["Goebel", "Gobel", "Göbel", "Gross", "Groß", "Größe", "Ähre", "Ahre", "Zander", "Özil"];
  expect(sorted(order).join(" ")).toBe("Ahre Ähre Gobel Göbel Goebel Gross Groß Größe Özil Zander");
});

test("a short word stands before its continuations, whatever accents or capitals these have", () => {
  expect(sorted(["Mays", "Mäy", "MAY", "May", "may", "Maya"])).toEqual(["may", "May", "MAY", "Mäy", "Maya", "Mays"]);
});

test("people go by last, then first name, and those without a name come last", () => {
  const person = (last: string, firstFull: string): string => makePersonSortKey({ last, firstFull });
  const keys = [
    person("May", "Zoë"),
    person("May", "Zoe"),
    person("Mayer", "Ada"),
    person("文", "王"),
    makePersonSortKey(null),
  ];
  expect([...keys].sort()).toEqual([keys[1], keys[0], keys[2], keys[3], keys[4]]);
});

test("a key is printable ASCII, whatever the name holds", () => {
  expect(makeSortKey("Nguyễn 王 Ҷамшед\u0000\u202e😀")).toMatch(/^[\x20-\x7e]*$/);
});
