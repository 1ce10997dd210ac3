import type { Client } from "openapi-fetch";
import type { paths } from "../../generated/openapi/admin.ts";
import type { Config } from "../config/index.ts";
import type { Origin } from "../events/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { OpenDb } from "../platform/database/db.ts";
import type { Argument, Option } from "./option.ts";
import type { ProgressStep } from "./progress-bar.ts";
import type { RemotesFile } from "./remote/remotes-file.ts";

export type Table = { columns: readonly string[]; rows: readonly (readonly string[])[] };

/** What a command did: for people (`table`, then `lines`) and as data for --output json and csv. */
export type Result = {
  lines: readonly string[];
  data: object;
  table?: Table;
  /** What --output csv prints if it is not `table`. */
  csv?: Table;
  /** What --quiet prints: ids and secrets; nothing if left out. */
  quiet?: readonly string[];
  /** The lines say why nothing was done. */
  isRefused?: boolean;
  /** What was examined is not all right: exit code 1. */
  hasFailed?: boolean;
  /** The lines are a file to be saved, in which nothing is escaped. */
  isFile?: boolean;
};

export type Screen = {
  /** Prints a line about progress on stderr; nothing with --quiet. */
  tell(line: string): void;
  /** Shows the progress of a long step on stderr; nothing with --quiet. */
  showProgress(step: ProgressStep): void;
  /** Prints a text at once, before the result; with --output json an object in one line. */
  emit(text: string, data: object): void;
  /** For a command that runs until the person stops it; called once. */
  untilStopped(): AbortSignal;
  /** Asks the person at the terminal; undefined without a terminal. The signal ends the question. */
  ask?: ((question: string, signal?: AbortSignal) => Promise<string>) | undefined;
};

/** The machine of the service, with its configuration and its database. */
export type Machine = Screen & {
  config: Config;
  /** The database's time once that is open. */
  clock: Clock;
  /** Opens the service's database, also while the service runs on the embedded one. Errors: it is not migrated. */
  withDatabase<T>(work: (opened: { db: OpenDb; url: string }) => Promise<T>): Promise<T>;
  /** The present time and the command line as the actor, for a change and its audit line. */
  origin(): Origin & { actorId: string };
};

export type Service = Screen & {
  /** Calls throw AppError if the service refuses. */
  api: Client<paths>;
  /** The machine of the service; null for a remote service. */
  machine: Machine | null;
};

/** What a command works with that needs neither a database nor a service. */
export type OwnTools = Pick<Screen, "tell" | "ask"> & {
  remotes: RemotesFile;
  clientSecret: string | undefined;
  /** Whether the program has no database of its own, so that all commands act on a service. */
  isForPartners: boolean;
  /** Asks the person at the terminal without showing the typed text; undefined without a terminal. */
  askSecret?: ((question: string) => Promise<string>) | undefined;
};

type Arguments = Readonly<Record<string, Argument<unknown>>>;
type Options = Readonly<Record<string, Option<unknown>>>;

/** The words after the command's name, read and checked, with ids in place of names. */
export type Call<A extends Arguments, O extends Options> = {
  args: { [Name in keyof A]: A[Name] extends Argument<infer Value> ? Value : never };
  options: { [Name in keyof O]: O[Name] extends Option<infer Value> ? Value : never };
};

export type OptionsOf<O extends Options> = Call<Record<string, never>, O>["options"];

/** Where a command runs. Errors: `run` throws AppError (exit code 3) and UsageError (2). */
type Runs<A extends Arguments, O extends Options> =
  /** Calls the admin API, in this process or on a remote service; `remoteOnly` says why not in this process. */
  | { on: "service"; remoteOnly?: string; run(service: Service, call: Call<A, O>): Promise<Result> }
  /** Needs the machine of the service; `reason` says why. */
  | { on: "machine"; reason: string; run(machine: Machine, call: Call<A, O>): Promise<Result> }
  /** Needs neither a database nor a service. */
  | { on: "its own"; run(tools: OwnTools, call: Call<A, O>): Promise<Result> };

type Description<A extends Arguments, O extends Options> = {
  summary: string;
  /** All of them are required, in this order. */
  args: A;
  /** Keys in camelCase: `officialId` is written --official-id. */
  options: O;
  /** What is lost for good: a person is asked before, a script gives --yes. */
  irreversible?: string;
};

export type Command = Description<Arguments, Options> & Runs<Arguments, Options>;

export type Verbs = Readonly<Record<string, Command>>;
export type Noun = { verbs: Verbs };

/** `schultor <noun> <verb>`: a file that is loaded when it is used, so that no command waits for those of others. */
export type NounEntry = { summary: string; load(): Promise<Noun> };

export type Commands = Readonly<Record<string, NounEntry | Command>>;

type Definition<A extends Arguments, O extends Options, On extends Command["on"]> = Partial<Description<A, O>> &
  Pick<Description<A, O>, "summary"> &
  Omit<Extract<Runs<A, O>, { on: On }>, "on">;

// `run` gets the values that the arguments and options of the same definition have read.
const makeMaker =
  <On extends Command["on"]>(on: On) =>
  <A extends Arguments = Record<string, never>, O extends Options = Record<string, never>>(
    definition: Definition<A, O, On>,
  ): Command =>
    ({ args: {}, options: {}, on, ...definition }) as unknown as Command;

export const makeApiCommand = makeMaker("service");
export const makeMachineCommand = makeMaker("machine");
export const makeOwnCommand = makeMaker("its own");
