import packageFile from "../../package.json" with { type: "json" };
import type { Config, RemoteSettings } from "../config/index.ts";
import { systemClock } from "../platform/clock.ts";
import { AppError } from "../platform/errors.ts";
import { escapeLines, escapeUnprintable } from "../platform/text/unprintable.ts";
import type { Command, Commands, Machine, Result, Screen, Service } from "./command.ts";
import { makeDatabaseOfCall } from "./database.ts";
import { readGlobals, type Globals } from "./globals.ts";
import { exitCodes, makeHelp } from "./help.ts";
import { type ReadCall, resolveNames } from "./names.ts";
import { UsageError } from "./option.ts";
import { printResult } from "./print.ts";
import { makeProgressBar, type ProgressScreen } from "./progress-bar.ts";
import { expandLogin, findPlace, readCall, type Place } from "./read-call.ts";
import { findRemote, makeRemotesFile, type KnownRemote } from "./remote/remotes-file.ts";

/** Where a command line writes (results and help to `out`, all else to `err`), and where its configuration is from. */
export type Terminal = {
  out(text: string): void;
  err(text: string): void;
  readConfig(): Promise<Config>;
  readRemoteSettings(): Promise<RemoteSettings>;
  ask?(question: string): Promise<string>;
  /** The same without showing what is typed. */
  askSecret?(question: string): Promise<string>;
  /** Aborts when the person stops the command; called by commands that go on until then. */
  untilStopped?(): AbortSignal;
  /** Where progress is drawn; left out: nowhere. */
  screen?: ProgressScreen;
};

export async function runCommandLine(commands: Commands, args: readonly string[], terminal: Terminal): Promise<number> {
  const { globals, words: written, problem } = readGlobals(args);
  const words = expandLogin(written);
  let place: Place = { path: [] };
  try {
    if (globals.version) {
      terminal.out(`schultor ${packageFile.version}`);
      return exitCodes.done;
    }
    const wantsHelp = globals.help || words[0] === "help";
    const found = await findPlace(commands, words[0] === "help" ? words.slice(1) : words);
    place = found.place;
    const wrong = problem ?? found.problem;
    if (wrong !== undefined) throw wrong;
    if (wantsHelp) {
      terminal.out(makeHelp(commands, place));
      return exitCodes.done;
    }
    const { command, path } = place;
    if (command === undefined) throw new UsageError(path.length === 0 ? "A command is missing." : "A verb is missing.");
    return await runCommand(command, found.rest, globals, terminal);
  } catch (error) {
    const { exitCode, message, code } = await explain(error);
    const help = exitCode === exitCodes.wrongUsage ? `\n\n${makeHelp(commands, place)}` : "";
    const asJson = () => escapeUnprintable(JSON.stringify({ error: message, code }));
    terminal.err(globals.output === "json" ? asJson() : escapeLines(`${message}${help}`));
    return exitCode;
  }
}

async function runCommand(
  command: Command,
  rest: readonly string[],
  globals: Globals,
  terminal: Terminal,
): Promise<number> {
  const call = readCall(command, rest);
  const { configFolder, remote: preferred, clientSecret } = await terminal.readRemoteSettings();
  const remotes = makeRemotesFile(configFolder);
  const remote = command.on === "its own" ? null : findRemote(await remotes.read(), globals.remote ?? preferred);
  checkPlace(command, remote);
  await confirm(command, rest, globals, terminal, remote);
  const bar = makeProgressBar(globals.quiet || terminal.screen === undefined ? nowhere : terminal.screen);
  const screen: Screen = {
    tell: (line) => void (globals.quiet || terminal.err(escapeLines(line))),
    showProgress: bar.show,
    emit: (text, data) =>
      terminal.out(globals.output === "json" ? escapeUnprintable(JSON.stringify(data)) : escapeLines(text)),
    untilStopped: () => terminal.untilStopped?.() ?? new AbortController().signal,
  };
  const { tell } = screen;
  const { askSecret } = terminal;
  try {
    const result =
      command.on === "its own"
        ? await command.run({ tell, remotes, clientSecret, askSecret }, call as Resolved)
        : remote !== null
          ? await runRemotely(command, call, remote, screen)
          : await runLocally(command, call, await terminal.readConfig(), screen);
    bar.end(true);
    const text = printResult(result, globals);
    if (text !== null) terminal.out(text);
    if (result.hasFailed) return exitCodes.failed;
    return result.isRefused ? exitCodes.refused : exitCodes.done;
  } finally {
    bar.end(false);
  }
}

type Resolved = Parameters<Command["run"]>[1];
type Elsewhere = Exclude<Command, { on: "its own" }>;

async function runLocally(command: Elsewhere, call: ReadCall, config: Config, screen: Screen): Promise<Result> {
  const database = makeDatabaseOfCall(config, screen.tell);
  let clock = systemClock;
  const machine: Machine = {
    ...screen,
    config,
    clock: () => clock(),
    origin: () => ({ at: clock(), actorId: "command-line" }),
    withDatabase: async (work) => {
      const opened = await database.get();
      ({ clock } = opened);
      return work(opened);
    },
  };
  try {
    if (command.on === "machine") return await command.run(machine, call as Resolved);
    const { connectLocal } = await import("./connect-local.ts");
    const { api, close } = connectLocal(machine);
    return await runOnService(command, call, { ...screen, api, machine }).finally(close);
  } finally {
    await database.close();
  }
}

async function runRemotely(command: Elsewhere, call: ReadCall, remote: KnownRemote, screen: Screen): Promise<Result> {
  const { connectRemote } = await import("./remote/connect.ts");
  return runOnService(command, call, { ...screen, api: connectRemote(remote, screen.tell), machine: null });
}

async function runOnService(command: Elsewhere, call: ReadCall, service: Service): Promise<Result> {
  if (command.on !== "service") throw new Error("The command does not run on a service.");
  const resolved = await resolveNames(call, async (name, schoolId) => {
    const { lookUp } = await import("./look-up.ts");
    return lookUp(service, name, schoolId);
  });
  return command.run(service, resolved as Resolved);
}

/** Errors: conflict beside_only or remote_only for a command that does not run there. */
function checkPlace(command: Command, remote: KnownRemote | null): void {
  if (command.on === "machine" && remote !== null) {
    const message = `This command runs only on the local database, not on ${remote.address}: ${command.reason} Nothing was done. To run it on the database of this machine, add --remote local.`;
    throw new AppError("conflict", "beside_only", message);
  }
  if (command.on === "service" && command.remoteOnly !== undefined && remote === null) {
    const message = `This command needs a running service: ${command.remoteOnly} Nothing was done. Log in to the service with remote login, and choose it with --remote.`;
    throw new AppError("conflict", "remote_only", message);
  }
}

const nowhere: ProgressScreen = { write: () => undefined };

class Cancelled extends Error {}

/** Asks before what cannot be undone. Errors: UsageError if nobody can be asked; Cancelled. */
async function confirm(
  { irreversible }: Command,
  rest: readonly string[],
  { yes }: Globals,
  { ask }: Terminal,
  remote: KnownRemote | null,
): Promise<void> {
  if (irreversible === undefined || yes) return;
  if (ask === undefined)
    throw new UsageError(`${irreversible} This cannot be undone: add --yes if you mean it. Nothing was changed.`);
  const place = remote === null ? "" : `At ${remote.address}: `;
  const answer = await ask(
    `${escapeLines(`${place}${rest.join(" ")}: ${irreversible}`.replace(/^: /, ""))} ${question}`,
  );
  if (!/^y(es)?$/i.test(answer.trim())) throw new Cancelled("Nothing was changed.");
}

const question = "This cannot be undone. Continue? [y/N] ";

const undefinedTable = "42P01";

async function explain(error: unknown): Promise<{ exitCode: number; message: string; code: string }> {
  const { message, code, name } = error as { message: string; code?: unknown; name?: string };
  if (error instanceof UsageError) return { exitCode: exitCodes.wrongUsage, message, code: "wrong_usage" };
  if (error instanceof Cancelled) return { exitCode: exitCodes.failed, message, code: "cancelled" };
  if (name === "ConfigError") return { exitCode: exitCodes.badConfiguration, message, code: "wrong_configuration" };
  if (error instanceof AppError && error.status < 500)
    return { exitCode: exitCodes.refused, message, code: error.code };
  const failed = { exitCode: exitCodes.failed, message, code: "failed" };
  const { DatabaseStartError } = await import("../platform/postgres/index.ts");
  const { isDatabaseUnavailable } = await import("../platform/database/db.ts");
  if (error instanceof DatabaseStartError || isDatabaseUnavailable(error))
    return { ...failed, code: "database_unavailable" };
  if (code === undefinedTable)
    return {
      ...failed,
      message: "The database is empty. Start the service once, or run the command migrate.",
      code: "database_empty",
    };
  return failed;
}
