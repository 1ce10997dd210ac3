import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { transliterate } from "../user-names/make-base.ts";

const { resolve } = createRequire(import.meta.url);

const german = ["commonWords", "firstnames", "lastnames", "wikipedia"];
const lists = ["language-common/src/passwords", ...german.map((list) => `language-de/src/${list}`)];

const plain = (word: string): string =>
  word.toLowerCase().replaceAll("ä", "ae").replaceAll("ö", "oe").replaceAll("ü", "ue").replaceAll("ß", "ss");

let words: ReadonlySet<string> | undefined;

/** Whether a word, in small letters without umlauts, is a common password, or a German word or name. */
function isCommonWord(word: string): boolean {
  words ??= new Set(
    lists.flatMap((list) =>
      (JSON.parse(readFileSync(resolve(`@zxcvbn-ts/${list}.json`), "utf8")) as string[]).map(plain),
    ),
  );
  return words.has(word);
}

const fewestSigns = 5;
const fewestLetters = 3;
/** What is left beside a name or a row of keys must have as many letters. */
const fewestBeside = 4;
const shortestName = 3;
const shortestRow = 3;

const rows = [
  "abcdefghijklmnopqrstuvwxyz",
  "01234567890",
  "qwertzuiopu",
  "qwertyuiop",
  "asdfghjkl",
  "yxcvbnm",
  "zxcvbnm",
];
const bothWays = rows.flatMap((row) => [row, Array.from(row).reverse().join("")]);

/** Signs that people write for letters. */
const letterOf: Readonly<Record<string, string>> = {
  0: "o",
  1: "i",
  3: "e",
  4: "a",
  5: "s",
  7: "t",
  "@": "a",
  $: "s",
  "!": "i",
};

/** A password as words: with digits that stand for letters read as digits, and as letters. */
function listReadings(password: string): string[][] {
  const inner = password.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
  const spelled = Array.from(inner, (sign) => letterOf[sign] ?? sign).join("");
  return [password, spelled].map((one) => transliterate(one).split("-").filter(Boolean));
}

/** The words of names: of people, schools, user names. */
const wordsOf = (names: readonly string[]): string[] =>
  [...new Set(names.flatMap((name) => transliterate(name).split("-")))]
    .filter(({ length }) => length >= shortestName)
    .toSorted((a, b) => b.length - a.length);

const repeatedPart = (word: string): string => /^(.+?)\1+$/.exec(word)?.[1] ?? word;

function isCommon(words: readonly string[]): boolean {
  const parts = [...new Set(words.map(repeatedPart))];
  const letters = words.join("");
  return letters.length < fewestLetters || (parts.length === 1 && isCommonWord(parts[0]!));
}

function isNamed(words: readonly string[], names: readonly string[]): boolean {
  const letters = words.join("");
  const rest = names.reduce((text, name) => text.replaceAll(name, ""), letters);
  return rest !== letters && (rest.length < fewestBeside || isCommonWord(rest));
}

/** Whether little is left without rows of keys, of letters or of digits. */
function isRow(signs: string): boolean {
  let rest = 0;
  for (let at = 0; at < signs.length;) {
    const run = longestRow(signs, at);
    rest += run < shortestRow ? 1 : 0;
    at += run < shortestRow ? 1 : run;
  }
  return rest < fewestBeside;
}

function longestRow(signs: string, from: number): number {
  let length = 1;
  while (from + length < signs.length && bothWays.some((row) => row.includes(signs.slice(from, from + length + 1))))
    length += 1;
  return length;
}

/**
 * Why a password is easy to guess: a common password or word, also with digits around it or as letters, few different
 * signs, a row of keys, or `names` with little beside them. Null if it is none of these.
 */
export function findGuessable(password: string, names: readonly string[]): "common" | "name" | null {
  const readings = listReadings(password);
  const known = wordsOf(names);
  if (readings.some((words) => isNamed(words, known))) return "name";
  const signs = password.toLowerCase();
  const isSimple = new Set(signs).size < fewestSigns || isRow(signs) || isCommonWord(signs);
  return isSimple || readings.some(isCommon) ? "common" : null;
}
