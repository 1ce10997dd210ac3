import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { resolve } = createRequire(import.meta.url);

const german = ["commonWords", "firstnames", "lastnames", "wikipedia"];
const lists = ["language-common/src/passwords", ...german.map((list) => `language-de/src/${list}`)];

const plain = (word: string): string =>
  word.toLowerCase().replaceAll("ä", "ae").replaceAll("ö", "oe").replaceAll("ü", "ue").replaceAll("ß", "ss");

let words: ReadonlySet<string> | undefined;

/** Whether a word, in small letters without umlauts, is a common password, or a German word or name. */
export function isCommonWord(word: string): boolean {
  words ??= new Set(
    lists.flatMap((list) =>
      (JSON.parse(readFileSync(resolve(`@zxcvbn-ts/${list}.json`), "utf8")) as string[]).map(plain),
    ),
  );
  return words.has(word);
}
