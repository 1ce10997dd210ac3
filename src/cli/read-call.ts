import { parseArgs } from "node:util";
import type { Command, Commands, Noun, NounEntry } from "./command.ts";
import { didYouMean } from "../platform/text/did-you-mean.ts";
import type { ReadCall } from "./names.ts";
import { UsageError } from "./option.ts";

/** Where in the tree of commands the caller is, for help and for running. */
export type CommandPlace = { path: string[]; noun?: NounEntry & Noun; command?: Command };

type PlaceSearch = {
  place: CommandPlace;
  rest: readonly string[];
  /** What is wrong with the words before them; the place is then as far as they were right. */
  problem?: UsageError;
};

/** Walks from the root as far as the words name a noun and its verb. */
export async function findPlace(commands: Commands, words: readonly string[]): Promise<PlaceSearch> {
  const [name, ...afterName] = words;
  if (name === undefined) return { place: { path: [] }, rest: [] };
  const entry = own(commands, name);
  if (entry === undefined)
    return wrong({ path: [] }, `There is no command '${name}'.${didYouMean(name, Object.keys(commands))}`);
  if ("run" in entry) return { place: { path: [name], command: entry }, rest: afterName };
  const noun = { ...entry, ...(await entry.load()) };
  const [verb, ...rest] = afterName;
  if (verb === undefined) return { place: { path: [name], noun }, rest: [] };
  const command = own(noun.verbs, verb);
  if (command === undefined)
    return wrong(
      { path: [name], noun },
      `'${name}' has no verb '${verb}'.${didYouMean(verb, Object.keys(noun.verbs))}`,
    );
  return { place: { path: [name, verb], noun, command }, rest };
}

const wrong = (place: CommandPlace, message: string): PlaceSearch => ({
  place,
  rest: [],
  problem: new UsageError(message),
});

const own = <Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

export const dashed = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export const labelsOf = ({ args }: Pick<Command, "args">): string[] =>
  Object.entries(args).map(([name, { label }]) => label ?? dashed(name));

export function readCall(command: Command, words: readonly string[]): ReadCall {
  const { values, positionals } = parse(command, words);
  const names = labelsOf(command);
  if (positionals.length > names.length) throw new UsageError(tooMany(names));
  const args: Record<string, unknown> = {};
  for (const [index, [name, argument]] of Object.entries(command.args).entries()) {
    const text = positionals[index];
    const written = `<${names[index]}>`;
    if (text === undefined) throw new UsageError(`${written} is missing.`);
    args[name] = named(written, () => argument.read(text));
  }
  const options: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(command.options)) {
    const texts = (values[dashed(name)] ?? []).map(String);
    if (option.isRequired && texts.length === 0) throw new UsageError(`--${dashed(name)} is missing.`);
    if (!option.isList && texts.length > 1) throw new UsageError(`--${dashed(name)} is given more than once.`);
    options[name] = named(`--${dashed(name)}`, () => option.read(texts));
  }
  return { args, options };
}

function tooMany(names: readonly string[]): string {
  if (names.length === 0) return "It takes no arguments.";
  return `It takes ${names.length} argument${names.length === 1 ? "" : "s"}: ${names.join(", ")}.`;
}

function named(name: string, work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`${name}: ${error.message}`) : error;
  }
}

/** `login https://…` is short for `remote login https://…`. */
export function expandLogin(words: readonly string[]): string[] {
  const [first, ...rest] = words;
  const isLogin = first === "login" && rest.some((word) => /^https?:\/\//i.test(word));
  return isLogin ? ["remote", ...words] : [...words];
}

type Parsed = { values: Record<string, (string | boolean)[] | undefined>; positionals: string[] };

function parse(command: Command, words: readonly string[]): Parsed {
  const options = Object.entries(command.options).map(([name, { placeholder }]) => {
    const type = placeholder === null ? ("boolean" as const) : ("string" as const);
    return [dashed(name), { type, multiple: true as const }] as const;
  });
  try {
    return parseArgs({ args: [...words], allowPositionals: true, options: Object.fromEntries(options) });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const [, written] = /'(-[^' ]*)/.exec(message) ?? [];
    if (code !== "ERR_PARSE_ARGS_UNKNOWN_OPTION" || written === undefined) throw new UsageError(message);
    const known = options.map(([name]) => `--${name}`);
    throw new UsageError(`There is no option ${written} here.${didYouMean(written, known)}`);
  }
}

const formats = ["table", "json", "csv"] as const;

export type Globals = {
  output: (typeof formats)[number];
  quiet: boolean;
  yes: boolean;
  /** Name or address of the remote service to act on; undefined where it is left out. */
  remote: string | undefined;
  help: boolean;
  version: boolean;
};

export const globalOptions: readonly [written: string, meaning: string][] = [
  ["--output <table|json|csv>", "What is printed: columns with headings, one JSON object, or CSV. Short: -o."],
  ["--json", 'The same as --output json. An error is then {"error", "code"} on stderr.'],
  ["--quiet", "Print ids and secrets only, and no progress. Short: -q."],
  ["--yes", "Do not ask before what cannot be undone. Short: -y."],
  ["--remote <name|address>", "Act on this remote service (remote login); local: on the database beside the program."],
  ["--help", "Print this text. Short: -h."],
];

const flags: Readonly<Record<string, Partial<Globals>>> = {
  "--json": { output: "json" },
  "--quiet": { quiet: true },
  "-q": { quiet: true },
  "--yes": { yes: true },
  "-y": { yes: true },
  "--help": { help: true },
  "-h": { help: true },
  "--version": { version: true },
};

/** Separates the options of every command. `problem` is thrown once it is known which help belongs to it. */
export function readGlobals(args: readonly string[]): { globals: Globals; words: string[]; problem?: UsageError } {
  const globals: Globals = {
    output: "table",
    quiet: false,
    yes: false,
    help: false,
    version: false,
    remote: undefined,
  };
  const words: string[] = [];
  let problem: UsageError | undefined;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    const [, , attached] = /^(--output|-o)=(.*)$/.exec(arg) ?? [];
    const [, attachedRemote] = /^--remote=(.*)$/.exec(arg) ?? [];
    if (Object.hasOwn(flags, arg)) Object.assign(globals, flags[arg]);
    else if (attached !== undefined || arg === "--output" || arg === "-o") {
      const written = attached ?? args[++at];
      const output = formats.find((format) => format === written);
      if (output === undefined) problem = new UsageError(`--output is one of ${formats.join(", ")}.`);
      else globals.output = output;
    } else if (attachedRemote !== undefined || arg === "--remote") {
      globals.remote = attachedRemote ?? args[++at];
      if (!globals.remote) problem = new UsageError("--remote is missing its value: a name or an address.");
    } else words.push(arg);
  }
  return { globals, words, ...(problem !== undefined && { problem }) };
}
