import packageFile from "../../package.json" with { type: "json" };
import type { Config, RemoteSettings } from "../config/index.ts";
import { systemClock } from "../platform/clock.ts";
import { AppError } from "../platform/errors.ts";
import { escapeLines, escapeUnprintable } from "../platform/text/unprintable.ts";
import type { Command, Commands, Result, Tools } from "./command.ts";
import { makeDatabaseOfCall } from "./database.ts";
import { readGlobals, type Globals } from "./globals.ts";
import { exitCodes, makeHelp } from "./help.ts";
import { resolveNames } from "./names.ts";
import { UsageError } from "./option.ts";
import { printResult } from "./print.ts";
import { makeProgressBar, type ProgressScreen } from "./progress-bar.ts";
import { findPlace, readCall, type Place } from "./read-call.ts";
import { findRemote, makeRemotesFile, type KnownRemote } from "./remote/remotes-file.ts";
import { leadOn } from "./remote/words.ts";

/** Where a command line writes (results and help to `out`, all else to `err`), and where its configuration is from. */
export type Terminal = {
  out(text: string): void;
  err(text: string): void;
  readConfig(): Promise<Config>;
  readRemoteSettings(): Promise<RemoteSettings>;
  /** Asks the person at the terminal; left out where there is none. */
  ask?(question: string): Promise<string>;
  /** The same without showing what is typed. */
  askSecret?(question: string): Promise<string>;
  /** Aborts when the person stops the command; called by commands that go on until then. */
  untilStopped?(): AbortSignal;
  /** Where progress is drawn; left out: nowhere. */
  screen?: ProgressScreen;
};

/** Runs one command line to its end. Shape: answers the exit code. */
export async function runCommandLine(commands: Commands, args: readonly string[], terminal: Terminal): Promise<number> {
  const { globals, words: written, problem } = readGlobals(args);
  const words = leadOn(written);
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
  const tell = (line: string) => void (globals.quiet || terminal.err(escapeLines(line)));
  const { configFolder, remote: usual, clientSecret } = await terminal.readRemoteSettings();
  const remotes = makeRemotesFile(configFolder);
  const where = command.own === undefined ? findRemote(await remotes.read(), globals.remote ?? usual) : null;
  if (where !== null) refuseBeside(command, where);
  else refuseRemote(command);
  await confirm(command, rest, globals, terminal, where);
  const bar = makeProgressBar(globals.quiet || terminal.screen === undefined ? nowhere : terminal.screen);
  const emit = (text: string, data: object) =>
    terminal.out(globals.output === "json" ? escapeUnprintable(JSON.stringify(data)) : escapeLines(text));
  const screen = { tell, showProgress: bar.show };
  try {
    const result =
      command.own !== undefined
        ? await command.own({ tell, remotes, clientSecret, askSecret: terminal.askSecret }, call as Read)
        : where !== null
          ? await runRemotely(command, call, { where, emit, untilStopped: () => terminal.untilStopped?.(), ...screen })
          : await runBeside(command, call, { config: await terminal.readConfig(), ...screen });
    bar.end(true);
    const text = printResult(result, globals);
    if (text !== null) terminal.out(text);
    if (result.hasFailed) return exitCodes.failed;
    return result.isRefused ? exitCodes.refused : exitCodes.done;
  } finally {
    bar.end(false);
  }
}

type Read = Parameters<NonNullable<Command["own"]>>[1];
type Screen = Pick<Tools, "tell" | "showProgress">;
type RemoteScreen = Screen & {
  where: KnownRemote;
  emit(text: string, data: object): void;
  untilStopped(): AbortSignal | undefined;
};

/** Runs a command on the database. */
async function runBeside(
  command: Command,
  call: ReturnType<typeof readCall>,
  { config, tell, showProgress }: Screen & { config: Config },
): Promise<Result> {
  const database = makeDatabaseOfCall(config, tell);
  try {
    const resolved = await resolveNames(call, async (name, schoolId) => {
      const [{ makeLookUp }, { db }] = await Promise.all([import("./look-up.ts"), database.get()]);
      return makeLookUp(db)(name, schoolId);
    });
    let clock = systemClock;
    const tools: Tools = {
      config,
      clock: () => clock(),
      tell,
      showProgress,
      origin: () => ({ at: clock(), actorId: "command-line" }),
      withDatabase: async (work) => {
        const given = await database.get();
        ({ clock } = given);
        return work(given);
      },
    };
    const way = command.run;
    if (typeof way !== "function") throw new Error(way.reason);
    return await way(tools, resolved as Read);
  } finally {
    await database.close();
  }
}

/** Runs a command on a remote service. */
async function runRemotely(
  command: Command,
  call: ReturnType<typeof readCall>,
  { where, emit, untilStopped, ...screen }: RemoteScreen,
): Promise<Result> {
  const [{ connect }, { makeRemoteLookUp }] = await Promise.all([
    import("./remote/connect.ts"),
    import("./remote/look-up.ts"),
  ]);
  let stop: AbortSignal | undefined;
  const remote = connect(where, {
    ...screen,
    emit,
    get stop() {
      return (stop ??= untilStopped() ?? new AbortController().signal);
    },
  });
  const resolved = await resolveNames(call, makeRemoteLookUp(remote));
  const way = command.remote;
  if (typeof way !== "function") throw new Error(way.reason);
  return way(remote, resolved as Read);
}

/** Errors: conflict beside_only for a command that has no way to a remote service. */
function refuseBeside({ remote }: Command, { address }: KnownRemote): void {
  if (typeof remote === "function") return;
  const message = `This command runs beside the database only, and not on ${address}: ${remote.reason} Nothing was done. To run it beside the database of this machine: --remote local.`;
  throw new AppError("conflict", "beside_only", message);
}

/** Errors: conflict remote_only for a command that needs a service. */
function refuseRemote({ run }: Command): void {
  if (typeof run === "function") return;
  const message = `This command asks a running service: ${run.reason} Nothing was done. Log in to the service with remote login, and choose it with --remote.`;
  throw new AppError("conflict", "remote_only", message);
}

const nowhere: ProgressScreen = { write: () => undefined };

class Cancelled extends Error {}

/** Asks whether what cannot be undone is meant. Errors: UsageError where nobody can be asked; Cancelled. */
async function confirm(
  { irreversible }: Command,
  rest: readonly string[],
  { yes }: Globals,
  { ask }: Terminal,
  where: KnownRemote | null,
): Promise<void> {
  if (irreversible === undefined || yes) return;
  if (ask === undefined)
    throw new UsageError(`${irreversible} This cannot be undone: add --yes if you mean it. Nothing was changed.`);
  const place = where === null ? "" : `At ${where.address}: `;
  const answer = await ask(
    `${escapeLines(`${place}${rest.join(" ")}: ${irreversible}`.replace(/^: /, ""))} ${question}`,
  );
  if (!/^y(es)?$/i.test(answer.trim())) throw new Cancelled("Nothing was changed.");
}

const question = "This cannot be undone. Continue? [y/N] ";

const undefinedTable = "42P01";

/** What went wrong, in words for the person who typed the command. */
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
