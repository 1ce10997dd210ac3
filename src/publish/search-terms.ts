import synonyms from "./synonyms.json" with { type: "json" };

/** For each word, the concepts that readers mean by it. */
const conceptsOf = new Map<string, string[]>();
for (const [index, words] of synonyms.entries())
  for (const word of words) conceptsOf.set(word, [...(conceptsOf.get(word) ?? []), `concept${index}`]);

/** Words that are written apart, joined or with a hyphen. */
const joined: readonly [RegExp, string][] = [
  [/\b(?:sign|log)(?:ging)?[ -]?(?:on|in)s?\b/g, "signon"],
  [/\b(?:sign|log)(?:ging)?[ -]?(?:out|off)s?\b/g, "logout"],
  [/\btime[ -]?outs?\b/g, "timeout"],
  [/\brate[ -]?limit(?:s|ed|ing)?\b/g, "ratelimit"],
  [/\bdata[ -]protection\b/g, "dataprotection"],
  [/\bweb[ -]hooks?\b/g, "webhook"],
  [/\bnode\.js\b/g, "node"],
];

const idle = new Set(
  "a an and are as at be by can do does for from get has have how i if in into is it its me my no not of on or our so that the their them then there they this to use used was we what when where which who why will with you your".split(
    " ",
  ),
);

export const splitWords = (text: string): string[] =>
  joined
    .reduce((words, [pattern, word]) => words.replace(pattern, word), text.toLowerCase())
    .match(/[\p{L}\p{N}_]+/gu) ?? [];

const stemOf = (word: string): string =>
  word.length > 4 && word.endsWith("ies")
    ? `${word.slice(0, -3)}y`
    : word.length > 3
      ? word.replace(/(?<!s)s$/, "")
      : word;

/** What a word is found by: itself without the plural, the parts of a code, and what it has synonyms for. */
export function termsOf(word: string): string[] {
  if (idle.has(word)) return [];
  const stem = stemOf(word);
  const parts = word.includes("_") ? word.split("_").filter((part) => part !== "" && !idle.has(part)) : [];
  const all = [...new Set([word, stem])];
  return [...new Set([stem, ...parts.map(stemOf), ...all.flatMap((one) => conceptsOf.get(one) ?? [])])];
}
