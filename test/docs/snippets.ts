import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Marked, type Tokens } from "marked";

export type Language = "bash" | "js" | "ts" | "python" | "php";

/**
 * A program of a page.
 *
 * Shape: `words` follow the language in the info string; `output` is what the page shows below it, null for nothing.
 */
export type Snippet = { language: Language; words: string[]; code: string; output: string | null };

const folder = join(import.meta.dirname, "../../docs");
const runnable: readonly string[] = ["bash", "js", "ts", "python", "php"] satisfies Language[];
/** What is shown and not run here; test/cli/typed-pages.test.ts types the commands in `sh`. */
const shown: readonly string[] = ["", "output", "http", "json", "csv", "text", "sh"];

/** The pages for partners: the guide for schools has a language in its name. */
export const listPages = (): string[] => readdirSync(folder).flatMap((file) => /^([\w-]+)\.md$/.exec(file)?.[1] ?? []);

/** The programs of a page. Errors: a block in a language that is neither run nor only shown throws. */
export function readSnippets(page: string): Snippet[] {
  const snippets: Snippet[] = [];
  let waiting: Snippet[] = [];
  for (const token of new Marked().lexer(readFileSync(join(folder, `${page}.md`), "utf8"))) {
    if (token.type === "space") continue;
    if (token.type !== "code") {
      waiting = [];
      continue;
    }
    const { lang = "", text } = token as Tokens.Code;
    const [language = "", ...words] = lang.split(" ");
    if (language === "output") {
      if (waiting.length === 0) throw new Error(`docs/${page}.md shows an output of no program: ${text}`);
      for (const snippet of waiting) snippet.output = text;
    }
    if (runnable.includes(language)) waiting.push({ language: language as Language, words, code: text, output: null });
    else if (shown.includes(language)) waiting = [];
    else throw new Error(`docs/${page}.md has a block in "${language}", which no test runs`);
    if (waiting.length > 0 && !snippets.includes(waiting.at(-1)!)) snippets.push(waiting.at(-1)!);
  }
  return snippets;
}

/**
 * Whether a program printed what the page shows.
 *
 * Shape: `…` stands for anything within a line or a text of JSON; a line, or the end of a list, that is `…` alone
 *        stands for any number. JSON is compared by its values, whatever its spaces.
 */
export function fits(shownText: string, printed: string): boolean {
  const [expected, actual] = [parse(shownText), parse(printed)];
  if (expected !== undefined && actual !== undefined) return fitsValue(expected.value, actual.value);
  return textPattern(shownText.trim()).test(printed.trim().replaceAll("\r", ""));
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

const textPattern = (text: string): RegExp =>
  new RegExp(
    `^${text
      .split("\n")
      .map((line) =>
        line.trim() === "…"
          ? "[^]*"
          : line
              .split("…")
              .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
              .join("[^\\n]*"),
      )
      .join("\\n")}$`,
  );

function fitsValue(expected: unknown, actual: unknown): boolean {
  if (expected === "…") return true;
  if (typeof expected === "string") return typeof actual === "string" && textPattern(expected).test(actual);
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return false;
    const isOpen = expected.at(-1) === "…";
    const items = isOpen ? expected.slice(0, -1) : expected;
    return (
      (isOpen ? actual.length >= items.length : actual.length === items.length) &&
      items.every((item, at) => fitsValue(item, actual[at]))
    );
  }
  if (typeof expected !== "object" || expected === null) return expected === actual;
  if (typeof actual !== "object" || actual === null || Array.isArray(actual)) return false;
  const values = actual as Record<string, unknown>;
  const keys = Object.keys(expected);
  return (
    keys.length === Object.keys(values).length &&
    keys.every((key) => Object.hasOwn(values, key) && fitsValue((expected as typeof values)[key], values[key]))
  );
}
