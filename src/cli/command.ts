import type { Config } from "../config/index.ts";
import type { Origin } from "../events/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { OpenDb } from "../platform/database/db.ts";
import type { Argument, Option } from "./option.ts";
import type { ProgressStep } from "./progress-bar.ts";
import type { Remote, Service } from "./admin-api.ts";
import type { RemotesFile } from "./remote/remotes-file.ts";

/** Rows under headings; the headings are also the first line of CSV. */
export type Table = { columns: readonly string[]; rows: readonly (readonly string[])[] };

/** What a command did: for people (`table`, then `lines`) and as data for --output json and csv. */
export type Result = {
  lines: readonly string[];
  data: object;
  table?: Table;
  /** What --quiet prints: ids and secrets; nothing if left out. */
  quiet?: readonly string[];
  /** The lines say why nothing was done. */
  isRefused?: boolean;
  /** What was checked is not as it should be: exit code 1. */
  hasFailed?: boolean;
  /** The lines are a file of ours to be saved, in which nothing is escaped. */
  isFile?: boolean;
};

/** What a command works with. */
export type Tools = {
  config: Config;
  /** The database's time once that is open. */
  clock: Clock;
  /** Opens the service's database, also while the service runs on the embedded one; fails where it is not migrated. */
  withDatabase<T>(work: (given: { db: OpenDb; url: string }) => Promise<T>): Promise<T>;
  /** The present time and the command line as the actor, for a change and its audit line. */
  origin(): Origin & { actorId: string };
  /** Prints a line about progress on stderr; nothing with --quiet. */
  tell(line: string): void;
  /** Shows how far a long step is, on stderr; nothing with --quiet. */
  showProgress(step: ProgressStep): void;
};

/** What a command works with that needs neither a database nor a service. */
export type OwnTools = Pick<Tools, "tell"> & {
  /** The remote services that the user has logged in to. */
  remotes: RemotesFile;
  /** A secret that the environment gives. */
  clientSecret: string | undefined;
  /** Asks the person at the terminal and shows nothing of the answer; left out where there is none. */
  askSecret?: ((question: string) => Promise<string>) | undefined;
};

/** Why a command has no such way. */
export type NoWay = { reason: string };

type Arguments = Readonly<Record<string, Argument<unknown>>>;
type Options = Readonly<Record<string, Option<unknown>>>;

/** What was written behind the command's name, read and checked, with names looked up. */
export type Call<Takes extends Arguments, O extends Options> = {
  given: { [Name in keyof Takes]: Takes[Name] extends Argument<infer Value> ? Value : never };
  options: { [Name in keyof O]: O[Name] extends Option<infer Value> ? Value : never };
};

/** What the options of a command are read to. */
export type OptionsOf<O extends Options> = Call<Record<string, never>, O>["options"];

export type Command = {
  summary: string;
  takes: Arguments;
  options: Options;
  /** What is lost for good; a person is asked before, a script gives --yes. */
  irreversible?: string;
  /** Beside the service, on its database; or why not. */
  run: ((tools: Tools, call: Call<Arguments, Options>) => Promise<Result>) | NoWay;
  /** On a remote service, through the admin API; or why not. */
  remote: ((remote: Remote, call: Call<Arguments, Options>) => Promise<Result>) | NoWay;
  /** Of a command that needs neither, in place of both. */
  own?(tools: OwnTools, call: Call<Arguments, Options>): Promise<Result>;
};

/** `schultor <noun> <verb>`. */
export type Noun = { verbs: Readonly<Record<string, Command>> };

/** A noun whose file is read when it is asked for, so that no command waits for the modules of others. */
export type NounEntry = { summary: string; load(): Promise<Noun> };

export type Commands = Readonly<Record<string, NounEntry | Command>>;

type Definition<Takes extends Arguments, O extends Options> = {
  summary: string;
  /** What stands behind the command, in order; all of it is required. */
  takes?: Takes;
  /** Keys in camelCase: `officialId` is written --official-id. */
  options?: O;
  irreversible?: string;
  run: ((tools: Tools, call: Call<Takes, O>) => Promise<Result>) | NoWay;
  remote: ((remote: Remote, call: Call<Takes, O>) => Promise<Result>) | NoWay;
};

type OwnDefinition<Takes extends Arguments, O extends Options> = Omit<Definition<Takes, O>, "run" | "remote"> & {
  own(tools: OwnTools, call: Call<Takes, O>): Promise<Result>;
};

/**
 * Makes a command whose `run` and `remote` get typed values of what it takes.
 *
 * Errors: both throw AppError for what the rules refuse (exit code 3) and UsageError for what only they can check (2).
 */
export function makeCommand<Takes extends Arguments = Record<string, never>, O extends Options = Record<string, never>>(
  definition: Definition<Takes, O>,
): Command {
  const { run, remote } = definition;
  // The values were read by the arguments and options of this definition.
  return {
    ...shapeOf(definition),
    run: typeof run === "function" ? (tools, call) => run(tools, call as Call<Takes, O>) : run,
    remote: typeof remote === "function" ? (service, call) => remote(service, call as Call<Takes, O>) : remote,
  };
}

type ApiDefinition<Takes extends Arguments, O extends Options> = Omit<Definition<Takes, O>, "run" | "remote"> & {
  call(service: Service, call: Call<Takes, O>): Promise<Result>;
};

/** Makes a command that calls the admin API: in this process on the database, or on a remote service. */
export function makeApiCommand<
  Takes extends Arguments = Record<string, never>,
  O extends Options = Record<string, never>,
>(definition: ApiDefinition<Takes, O>): Command {
  const work = (service: Service, call: Call<Arguments, Options>) => definition.call(service, call as Call<Takes, O>);
  return {
    ...shapeOf(definition),
    run: async (tools, call) => {
      const { connectHere } = await import("./in-process.ts");
      return work(connectHere(tools), call);
    },
    remote: work,
  };
}

/** Makes a command that works the same wherever the service is. */
export function makeOwnCommand<
  Takes extends Arguments = Record<string, never>,
  O extends Options = Record<string, never>,
>(definition: OwnDefinition<Takes, O>): Command {
  const never = () => Promise.reject(new Error("The command has a way of its own."));
  return {
    ...shapeOf(definition),
    run: never,
    remote: never,
    own: (tools, call) => definition.own(tools, call as Call<Takes, O>),
  };
}

const shapeOf = <Takes extends Arguments, O extends Options>({
  summary,
  takes,
  options,
  irreversible,
}: Omit<Definition<Takes, O>, "run" | "remote">) => ({
  summary,
  takes: takes ?? {},
  options: options ?? {},
  ...(irreversible !== undefined && { irreversible }),
});
