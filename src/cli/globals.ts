import { UsageError } from "./option.ts";

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
