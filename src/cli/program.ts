import { Argument as ParserArgument, Command as Parser, Option as ParserOption } from "commander";
import type { CommanderError } from "commander";
import type { Command, Commands } from "./command.ts";
import type { ReadCall } from "./names.ts";
import { UsageError, type Option } from "./option.ts";

export const exitCodes = { done: 0, failed: 1, wrongUsage: 2, refused: 3, badConfiguration: 78 };

const besideService = `Commands read the same environment as the service (see docs/configuration.md) and work while it runs, also on its embedded database.

`;

const names = `Instead of an id you can write the official id of a school, the user name of a person or the name of a group; DE-NI-12345/5a is the group 5a of the school DE-NI-12345.`;

const footer = `
Exit codes: 0 done, 1 failed or found something wrong, 2 wrong usage, 3 refused
by the rules (the message says why), 78 wrong configuration.`;

const formats = ["table", "json", "csv"] as const;

export type Globals = {
  output: (typeof formats)[number];
  quiet?: true;
  yes?: true;
  /** Name or address of the remote service to act on. */
  remote?: string;
  help?: true;
  version?: true;
};

/** The values of an option in the order in which they are written; "" for each time that a flag is. */
function collect(text: string | undefined, texts: string[] = []): string[] {
  texts.push(text ?? "");
  return texts;
}

/** The parser of the command line. It knows the verbs of a noun once `findPlace` has loaded them. */
export function makeProgram(commands: Commands): Parser {
  const program = new Parser("schultor")
    .description(`${"migrate" in commands ? besideService : ""}${names}`)
    .helpOption(false)
    .helpCommand(false)
    // Errors are thrown, and printed together with the help.
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .configureHelp({
      showGlobalOptions: true,
      // Without "[options]", which nearly all have.
      subcommandTerm: (parser) =>
        [parser.name(), ...parser.registeredArguments.map((one) => `<${one.name()}>`)].join(" "),
      visibleArguments: (parser) => parser.registeredArguments.filter(({ argChoices }) => argChoices !== undefined),
    })
    .addHelpText("afterAll", footer)
    .addOption(
      new ParserOption("-o, --output <format>", "What is printed: columns with headings, one JSON object, or CSV.")
        .choices(formats)
        // `-o=csv` is read as `--output=csv` is.
        .argParser((text, texts: string[] | undefined) => collect(text.replace(/^=/, ""), texts)),
    )
    .option("--json", 'The same as --output json. An error is then {"error", "code"} on stderr.')
    .option("-q, --quiet", "Print ids and secrets only, and no progress.")
    .option("-y, --yes", "Do not ask before an irreversible change.")
    .option(
      "--remote <name|address>",
      "Act on this remote service (remote login); local: on the database beside the program.",
    )
    .option("-h, --help", "Print the help of a command.")
    .option("--version", "Print the version.");
  program.on("option:json", () => program.setOptionValue("output", [...outputsOf(program), "json"]));
  for (const [name, entry] of Object.entries(commands)) {
    const parser = program.command(name).description(entry.summary);
    if ("run" in entry) defineCommand(parser, entry);
    else parser.usage("<verb> [options]").helpCommand(false);
  }
  return program.usage("<command> [options]");
}

export const dashed = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function defineCommand(parser: Parser, { summary, irreversible, args, options }: Command): void {
  parser.summary(summary);
  parser.description(irreversible === undefined ? summary : `${summary}\n\n${irreversible}\nIt cannot be undone.`);
  for (const [name, { label = dashed(name), words, read }] of Object.entries(args)) {
    const argument = new ParserArgument(label).argParser((text) => named(`<${label}>`, () => read(text)));
    if (words !== undefined) argument.argChoices = [...words];
    parser.addArgument(argument);
  }
  for (const [name, option] of Object.entries(options)) parser.addOption(makeParserOption(name, option));
}

function makeParserOption(
  name: string,
  { meaning, placeholder, words, isRequired, isList }: Option<unknown>,
): ParserOption {
  const value = placeholder === null ? "" : ` <${words === undefined ? placeholder : "value"}>`;
  const made = new ParserOption(
    `--${dashed(name)}${value}`,
    `${meaning}${isRequired ? " Required." : ""}${isList ? " May be repeated." : ""}`,
  );
  // Otherwise --no-x would be the opposite of --x instead of an option of its own.
  made.negate = false;
  if (words !== undefined) made.argChoices = [...words];
  return made.makeOptionMandatory(isRequired).argParser(collect);
}

function named(name: string, work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`${name}: ${error.message}`) : error;
  }
}

/** Whether `--json` or `--output json` is among the options, also if others of them are wrong. */
export const wantsJson = (program: Parser): boolean => outputsOf(program).includes("json");

const outputsOf = (program: Parser): string[] => (program.getOptionValue("output") ?? []) as string[];

/** The options of every command. Errors: UsageError. */
export function readGlobals(program: Parser): Globals {
  const outputs = outputsOf(program).map((text) => formats.find((format) => format === text));
  if (outputs.includes(undefined)) throw new UsageError(`--output is one of ${formats.join(", ")}.`);
  const globals = { ...program.opts<Omit<Globals, "output">>(), output: outputs.at(-1) ?? "table" };
  if (globals.remote === "") throw new UsageError("--remote is missing its value: a name or an address.");
  return globals;
}

/** Where the words of a call lead: to a command, or only to a noun or the program. `rest` are those after its name. */
export type Place = { parser: Parser; command?: Command; rest: readonly string[] };

export async function findPlace(program: Parser, commands: Commands, words: readonly string[]): Promise<Place> {
  const [name, verb, ...afterVerb] = words;
  const noun = program.commands.find((parser) => parser.name() === name);
  if (noun === undefined) return { parser: program, rest: words };
  const entry = commands[noun.name()]!;
  if ("run" in entry) return { parser: noun, command: entry, rest: words.slice(1) };
  const { verbs } = await entry.load();
  for (const [word, command] of Object.entries(verbs)) defineCommand(noun.command(word), command);
  const parser = noun.commands.find((one) => one.name() === verb);
  if (parser === undefined) return { parser: noun, rest: words.slice(1) };
  return { parser, command: verbs[parser.name()]!, rest: afterVerb };
}

/** The command of a call that the parser has accepted, with what it takes. `written` are all words of the call. */
export function readCall({ parser, command }: Place, written: readonly string[]): { command: Command; call: ReadCall } {
  if (command === undefined) throw new Error("The parser has accepted a call without a command.");
  const args = Object.keys(command.args).map((name, index) => [name, parser.processedArgs[index]] as const);
  const options = Object.entries(command.options).map(([name, { isList, read }], index) => {
    const long = `--${dashed(name)}`;
    const texts = (parser.getOptionValue(parser.options[index]!.attributeName()) ?? []) as string[];
    if (!isList && texts.length > 1) throw new UsageError(`${long} is given more than once.`);
    const unclear = texts.find((text) => /^-./.test(text) && written.includes(text));
    // It may as well be the next option, after one whose value was forgotten.
    if (unclear !== undefined)
      throw new UsageError(`${long} is missing its value. One that starts with a dash is written ${long}=${unclear}.`);
    return [name, named(long, () => read(texts))] as const;
  });
  return { command, call: { args: Object.fromEntries(args), options: Object.fromEntries(options) } };
}

export function helpOf(parser: Parser): string {
  let help = "";
  parser.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp();
  return help.trimEnd();
}

/** What the parser found wrong, as a sentence. */
export function explainUsage({ code, message }: CommanderError, { parser }: Place): string {
  if (code === "commander.help") return `A ${parser.parent === null ? "command" : "verb"} is missing.`;
  return message
    .replace(/^error: (.)/, (_, first: string) => first.toUpperCase())
    .replace(/\n\((.*)\)$/, ". $1")
    .replace(/[^.?]$/, "$&.");
}
