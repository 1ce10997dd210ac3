import { readFile } from "node:fs/promises";
import { UsageError } from "../option.ts";

/** What was known of the person, as the operator typed it. */
export type Values = {
  ids: readonly string[];
  firstNames: readonly string[];
  lastNames: readonly string[];
  userNames: readonly string[];
  others: readonly string[];
};

type Typed = Omit<Values, "ids">;
type Ask = (question: string) => Promise<string>;

const questions: Readonly<Record<keyof Typed, string>> = {
  firstNames: "All first names, also the one they went by (Enter: not searched): ",
  lastNames: "Last name; several with commas between them (Enter: not searched): ",
  userNames: "User name; several with commas (Enter: not searched): ",
  others: "Other identifiers, such as that of the source system; several with commas (Enter: none): ",
};

const keys: Readonly<Record<string, keyof Typed>> = {
  first: "firstNames",
  last: "lastNames",
  username: "userNames",
  other: "others",
};

const distinct = (texts: readonly string[]): string[] => [
  ...new Set(texts.map((text) => text.trim().normalize("NFC")).filter((text) => text !== "")),
];

/** Each first name is searched for separately, because leftover data may hold only one of them. */
const arrange = (typed: Readonly<Record<keyof Typed, readonly string[]>>): Typed => ({
  firstNames: distinct(typed.firstNames.flatMap((names) => names.split(/[\s,]+/))),
  lastNames: distinct(typed.lastNames),
  userNames: distinct(typed.userNames),
  others: distinct(typed.others),
});

/** Values that stand in no command line, so that neither a shell's history nor a process list keeps them. */
export async function readTyped(file: string | undefined, ask: Ask | undefined): Promise<Typed> {
  if (file !== undefined) return parseTyped(await readFile(file, "utf8"));
  if (ask === undefined)
    throw new UsageError(
      "Nobody can be asked for the names here. Write them to a file for --values, or pipe them: --values /dev/stdin.",
    );
  const split = async (key: keyof Typed) => (await ask(questions[key])).split(",");
  const firstNames = await split("firstNames");
  const lastNames = await split("lastNames");
  return arrange({ firstNames, lastNames, userNames: await split("userNames"), others: await split("others") });
}

/** Errors: UsageError, which names the line and never what it says. */
function parseTyped(text: string): Typed {
  const typed: Record<keyof Typed, string[]> = { firstNames: [], lastNames: [], userNames: [], others: [] };
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "") continue;
    const [, name = "", value = ""] = /^\s*(\w+)\s*:(.*)$/.exec(line) ?? [];
    const key = Object.hasOwn(keys, name) ? keys[name] : undefined;
    if (key === undefined)
      throw new UsageError(`Line ${at + 1} of --values begins with none of ${Object.keys(keys).join(":, ")}:`);
    typed[key].push(value);
  }
  return arrange(typed);
}
