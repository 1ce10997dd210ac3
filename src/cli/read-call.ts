import { parseArgs } from "node:util";
import type { Command, Noun } from "./command.ts";
import { UsageError } from "./option.ts";

/** Where in the tree of commands the caller is, for help and for running. */
export type Place = { path: string[]; noun?: Noun; command?: Command };

/** Walks from the root as far as the words name a noun and its verb; what is left is the command's. */
export function findPlace(
  nouns: Readonly<Record<string, Noun | Command>>,
  args: readonly string[],
): { place: Place; rest: readonly string[] } {
  const [name, ...afterName] = args;
  if (name === undefined) return { place: { path: [] }, rest: [] };
  const found = own(nouns, name);
  if (found === undefined) throw new UsageError(`There is no command '${name}'.`);
  if ("run" in found) return { place: { path: [name], command: found }, rest: afterName };
  const [verb, ...rest] = afterName;
  if (verb === undefined) return { place: { path: [name], noun: found }, rest: [] };
  const command = own(found.verbs, verb);
  if (command === undefined)
    throw new UsageError(`'${name}' has no verb '${verb}'; it has ${Object.keys(found.verbs).join(", ")}.`);
  return { place: { path: [name, verb], noun: found, command }, rest };
}

const own = <Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

export const dashed = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

type Read = { given: Record<string, unknown>; options: Record<string, unknown> };

/** Reads the arguments and options of a command, all or none. */
export function readCall(command: Command, args: readonly string[]): Read {
  const { values, positionals } = parse(command, args);
  const names = Object.keys(command.takes);
  if (positionals.length > names.length)
    throw new UsageError(
      names.length === 0 ? "It takes no arguments." : `It takes ${names.length} argument(s): ${names.join(", ")}.`,
    );
  const given: Record<string, unknown> = {};
  for (const [index, [name, read]] of Object.entries(command.takes).entries()) {
    const text = positionals[index];
    if (text === undefined) throw new UsageError(`<${dashed(name)}> is missing.`);
    given[name] = named(`<${dashed(name)}>`, () => read(text));
  }
  const options: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(command.options)) {
    const texts = (values[dashed(name)] ?? []).map(String);
    if (option.isRequired && texts.length === 0) throw new UsageError(`--${dashed(name)} is missing.`);
    if (!option.isList && texts.length > 1) throw new UsageError(`--${dashed(name)} is given more than once.`);
    options[name] = named(`--${dashed(name)}`, () => option.read(texts));
  }
  return { given, options };
}

function named(name: string, work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`${name}: ${error.message}`) : error;
  }
}

type Parsed = { values: Record<string, (string | boolean)[] | undefined>; positionals: string[] };

function parse(command: Command, args: readonly string[]): Parsed {
  const options = Object.entries(command.options).map(([name, { placeholder }]) => {
    const type = placeholder === null ? ("boolean" as const) : ("string" as const);
    return [dashed(name), { type, multiple: true as const }] as const;
  });
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: Object.fromEntries(options) });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
