import type { Config } from "../config/index.ts";
import type { Origin } from "../events/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { Db } from "../platform/db.ts";
import type { Argument, Option } from "./option.ts";

/**
 * What a command did: as lines for a person, and as data for --json; `isRefused` where that says why it did not do it,
 * `isFile` where the lines are a file of our own to be saved, in which nothing is escaped.
 */
export type Result = { lines: readonly string[]; data: object; isRefused?: boolean; isFile?: boolean };

/** What a command works with. */
export type Tools = {
  config: Config;
  clock: Clock;
  /** Opens the database of the service, also while it runs on the embedded one; fails where it is not migrated. */
  withDatabase<T>(work: (given: { db: Db; url: string }) => Promise<T>): Promise<T>;
  /** Now, by the command line: what a change and its audit line say of where they come from. */
  origin(): Origin & { actorId: string };
  /** Tells progress to whoever waits, where it is not taken for the result. */
  tell(line: string): void;
};

type Arguments = Readonly<Record<string, Argument<unknown>>>;
type Options = Readonly<Record<string, Option<unknown>>>;

/** What was written behind the command's name, read and checked. */
export type Call<Takes extends Arguments, O extends Options> = {
  given: { [Name in keyof Takes]: ReturnType<Takes[Name]> };
  options: { [Name in keyof O]: O[Name] extends Option<infer Value> ? Value : never };
};

export type Command = {
  summary: string;
  takes: Arguments;
  options: Options;
  run(tools: Tools, call: Call<Arguments, Options>): Promise<Result>;
};

/** `npm run schultor -- <noun> <verb>`; a noun without verbs is a command by itself. */
export type Noun = { summary: string; verbs: Readonly<Record<string, Command>> };

type Definition<Takes extends Arguments, O extends Options> = {
  summary: string;
  /** What stands behind the command, in order; all of it is required. */
  takes?: Takes;
  /** Keys in camelCase: `officialId` is written --official-id. */
  options?: O;
  run(tools: Tools, call: Call<Takes, O>): Promise<Result>;
};

/**
 * Makes a command whose `run` gets typed values of what it takes.
 *
 * Errors: `run` throws AppError for what the rules refuse (exit code 3) and UsageError for what only it can judge (2).
 */
export function makeCommand<Takes extends Arguments = Record<string, never>, O extends Options = Record<string, never>>(
  definition: Definition<Takes, O>,
): Command {
  return {
    summary: definition.summary,
    takes: definition.takes ?? {},
    options: definition.options ?? {},
    // The values were read by the very arguments and options of the definition.
    run: (tools, call) => definition.run(tools, call as Call<Takes, O>),
  };
}
