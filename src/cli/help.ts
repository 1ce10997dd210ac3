import type { Command, Commands, Noun, NounEntry } from "./command.ts";
import { dashed, globalOptions, labelsOf, type CommandPlace } from "./read-call.ts";

const program = "schultor";

export const exitCodes = { done: 0, failed: 1, wrongUsage: 2, refused: 3, badConfiguration: 78 };

const footer = `Options of every command:

${table(globalOptions)}

Exit codes: 0 done, 1 failed or found something wrong, 2 wrong usage, 3 refused by the rules (the message says why), 78 wrong configuration.`;

const besideService = `Commands read the same environment as the service (see docs/configuration.md)
  and work while it runs, also on its embedded database. `;

export function makeHelp(commands: Commands, { path, noun, command }: CommandPlace): string {
  if (command !== undefined) return helpOfCommand(path, command);
  if (noun !== undefined) return helpOfNoun(path, noun);
  return `Usage: ${program} <command> [options]

${table(Object.entries(commands).map(([name, { summary }]) => [name, summary]))}

  Run <command> --help for details. ${"migrate" in commands ? besideService : ""}--version prints the version.

  Instead of an id you can write the official id of a school, the user name of a person or the name of a
  group; DE-NI-12345/5a is the group 5a of the school DE-NI-12345.

${footer}`;
}

function helpOfNoun(path: readonly string[], { summary, verbs }: NounEntry & Noun): string {
  const rows = Object.entries(verbs).map(([name, command]): [string, string] => [
    [name, ...argumentsOf(command)].join(" "),
    command.summary,
  ]);
  return `${summary}

Usage: ${program} ${path.join(" ")} <verb> [options]

${table(rows)}

${footer}`;
}

function helpOfCommand(path: readonly string[], command: Command): string {
  const rows = Object.entries(command.options).map(
    ([name, { placeholder, meaning, isRequired, isList }]): [string, string] => [
      `--${dashed(name)}${placeholder === null ? "" : ` <${placeholder}>`}`,
      `${meaning}${isRequired ? " Required." : ""}${isList ? " May be repeated." : ""}`,
    ],
  );
  const lost = command.irreversible === undefined ? "" : `\n${command.irreversible} It cannot be undone.\n`;
  return `${command.summary}
${lost}
Usage: ${[program, ...path, ...argumentsOf(command), ...(rows.length > 0 ? ["[options]"] : [])].join(" ")}
${rows.length > 0 ? `\n${table(rows)}\n` : ""}
${footer}`;
}

const argumentsOf = (command: Command): string[] => labelsOf(command).map((label) => `<${label}>`);

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.min(44, Math.max(...rows.map(([left]) => left.length)));
  return rows
    .map(([left, right]) =>
      left.length > width ? `  ${left}\n  ${" ".repeat(width)}  ${right}` : `  ${left.padEnd(width)}  ${right}`,
    )
    .join("\n");
}
