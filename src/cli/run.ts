import { CommanderError } from "commander";
import { stringify } from "csv-stringify/sync";
import packageFile from "../../package.json" with { type: "json" };
import type { RemoteSettings } from "../config/remote.ts";
import { AppError } from "../platform/errors.ts";
import { csvForSpreadsheets } from "../platform/text/csv.ts";
import { escapeLines, escapeUnprintable } from "../platform/text/unprintable.ts";
import type { Command, Commands, Result, Screen, Service, Table } from "./command.ts";
import { alignColumns } from "./lines.ts";
import type { Local } from "./local/machine.ts";
import { type ReadCall, resolveNames } from "./names.ts";
import { UsageError } from "./option.ts";
import { makeProgressBar, type ProgressScreen } from "./progress-bar.ts";
import {
  exitCodes,
  explainUsage,
  findPlace,
  helpOf,
  makeProgram,
  readCall,
  readGlobals,
  wantsJson,
} from "./program.ts";
import type { Globals, Place } from "./program.ts";
import { credentialsOf, findRemote, makeRemotesFile, type KnownRemote } from "./remote/remotes-file.ts";
import type { Credentials } from "./remote/token.ts";

/** Where a command line writes: results and help to `out`, all else to `err`. */
export type Terminal = {
  out(text: string): void;
  err(text: string): void;
  readRemoteSettings(): RemoteSettings;
  local?: Local;
  /** The signal ends the question. */
  ask?(question: string, signal?: AbortSignal): Promise<string>;
  /** The same without showing the typed text. */
  askSecret?(question: string): Promise<string>;
  /** Aborts when the person stops the command; called by commands that go on until then. */
  untilStopped?(): AbortSignal;
  /** Where progress is drawn; left out: nowhere. */
  screen?: ProgressScreen;
};

export async function runCommandLine(commands: Commands, args: readonly string[], terminal: Terminal): Promise<number> {
  const program = makeProgram(commands);
  let place: Place = { parser: program, rest: [] };
  try {
    const { operands, unknown } = program.parseOptions([...args]);
    const { version, help } = program.opts<Globals>();
    if (version) {
      terminal.out(`schultor ${packageFile.version}`);
      return exitCodes.done;
    }
    const [first, ...others] = operands;
    // `login https://…` is short for `remote login https://…`.
    const isRemote = first === "login" && [...others, ...unknown].some((word) => /^https?:\/\//i.test(word));
    const before = isRemote ? ["remote"] : [];
    const words = first === "help" ? others : [...before, ...operands];
    place = await findPlace(program, commands, words);
    const globals = readGlobals(program);
    const wantsHelp = help === true || first === "help";
    if (wantsHelp && (place.command !== undefined || place.rest.length === 0)) {
      terminal.out(helpOf(place.parser));
      return exitCodes.done;
    }
    program.parse(wantsHelp ? words : [...before, ...args], { from: "user" });
    const call = readCall(place, args);
    return await runCommand({ ...call, words: [...place.rest, ...unknown] }, globals, terminal);
  } catch (error) {
    const { exitCode, message, code } = await explain(error, place, terminal.local);
    const help = exitCode === exitCodes.wrongUsage ? `\n\n${helpOf(place.parser)}` : "";
    const asJson = () => escapeUnprintable(JSON.stringify({ error: message, code }));
    terminal.err(wantsJson(program) ? asJson() : escapeLines(`${message}${help}`));
    return exitCode;
  }
}

type Written = { command: Command; call: ReadCall; words: readonly string[] };

async function runCommand({ command, call, words }: Written, globals: Globals, terminal: Terminal) {
  const { configFolder, remote: preferred, clientSecret } = terminal.readRemoteSettings();
  const remotes = makeRemotesFile(configFolder);
  const { local } = terminal;
  const findPlaceOfCall = async () => {
    const { used, known } = await remotes.read();
    // Without a database beside the program, the latest login is the only thing that can be meant.
    const latest = local === undefined ? known.at(-1)?.name : undefined;
    return findRemote({ used: used ?? latest ?? null, known }, globals.remote ?? preferred);
  };
  const remote = command.on === "its own" ? null : await findPlaceOfCall();
  checkPlace(command, remote);
  await confirm(command, words, globals, terminal, remote);
  const { ask, askSecret } = terminal;
  const bar = makeProgressBar(globals.quiet || terminal.screen === undefined ? nowhere : terminal.screen);
  const screen: Screen = {
    tell: (line) => void (globals.quiet || terminal.err(escapeLines(line))),
    showProgress: bar.show,
    emit: (text, data) =>
      terminal.out(globals.output === "json" ? escapeUnprintable(JSON.stringify(data)) : escapeLines(text)),
    untilStopped: () => terminal.untilStopped?.() ?? new AbortController().signal,
    ask,
  };
  const { tell } = screen;
  try {
    const result =
      command.on === "its own"
        ? await command.run(
            { tell, remotes, clientSecret, ask, askSecret, isForPartners: local === undefined },
            call as Resolved,
          )
        : remote !== null
          ? await runRemotely(command, call, credentialsOf(remote, remotes), screen)
          : local !== undefined
            ? await runLocally(command, call, local, screen)
            : refuseWithoutService();
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

async function runLocally(command: Elsewhere, call: ReadCall, local: Local, screen: Screen): Promise<Result> {
  const { machine, connect, close } = await local.open(screen);
  try {
    if (command.on === "machine") return await command.run(machine, call as Resolved);
    return await runOnService(command, call, { ...screen, api: await connect(), machine });
  } finally {
    await close();
  }
}

async function runRemotely(command: Elsewhere, call: ReadCall, remote: Credentials, screen: Screen): Promise<Result> {
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

function printResult(result: Result, { output, quiet }: Pick<Globals, "output" | "quiet">): string | null {
  if (output === "json") return escapeUnprintable(JSON.stringify(result.data));
  if (output === "csv") return csvOf(result.csv ?? result.table ?? tableOf(result.data));
  const lines = quiet && !result.isRefused && !result.isFile ? (result.quiet ?? []) : linesOf(result);
  return lines.length === 0 ? null : lines.join("\n");
}

function linesOf({ table, lines, isFile }: Result): readonly string[] {
  if (isFile) return lines;
  const { columns, rows } = table ?? { columns: [], rows: [] };
  const headed = rows.length === 0 ? [] : alignColumns([columns.map((column) => column.toUpperCase()), ...rows]);
  return [...headed, ...lines.map(escapeUnprintable)];
}

function tableOf(data: object): Table {
  const text = (value: unknown) =>
    value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
  const entries = Object.entries(JSON.parse(JSON.stringify(data)) as Record<string, unknown>);
  return { columns: entries.map(([name]) => name), rows: [entries.map(([, value]) => text(value))] };
}

const csvOf = ({ columns, rows }: Table): string =>
  stringify(
    [columns, ...rows].map((row) => row.map(escapeUnprintable)),
    csvForSpreadsheets,
  ).slice(0, -1);

/** Errors: conflict beside_only or remote_only for a command that does not run there. */
function checkPlace(command: Command, remote: KnownRemote | null): void {
  if (command.on === "machine" && remote !== null) {
    const message = `This command runs only on the local database, not on ${remote.address}: ${command.reason} Nothing was done. To run it on the database of this machine, add --remote local.`;
    throw new AppError("conflict", "beside_only", message);
  }
  if (command.on === "service" && command.remoteOnly !== undefined && remote === null) {
    const message = `This command needs a running service: ${command.remoteOnly} Nothing was done. Log in to it with schultor login <address>, and choose it with --remote.`;
    throw new AppError("conflict", "remote_only", message);
  }
}

function refuseWithoutService(): never {
  throw new AppError("conflict", "no_service", "You are not logged in to a service. Run: schultor login <address>");
}

const nowhere: ProgressScreen = { write: () => undefined };

class Cancelled extends Error {}

/** Asks before what cannot be undone. Errors: UsageError if nobody can be asked; Cancelled. */
async function confirm(
  { irreversible }: Command,
  words: readonly string[],
  { yes }: Globals,
  { ask }: Terminal,
  remote: KnownRemote | null,
): Promise<void> {
  if (irreversible === undefined || yes) return;
  if (ask === undefined)
    throw new UsageError(`${irreversible} This cannot be undone: add --yes if you mean it. Nothing was changed.`);
  const place = remote === null ? "" : `At ${remote.address}: `;
  const answer = await ask(
    `${escapeLines(`${place}${words.join(" ")}: ${irreversible}`.replace(/^: /, ""))} ${question}`,
  );
  if (!/^y(es)?$/i.test(answer.trim())) throw new Cancelled("Nothing was changed.");
}

const question = "This cannot be undone. Continue? [y/N] ";

type Explained = { exitCode: number; message: string; code: string };

async function explain(error: unknown, place: Place, local: Local | undefined): Promise<Explained> {
  const { message, name } = error as { message: string; name?: string };
  const wrongUsage = { exitCode: exitCodes.wrongUsage, code: "wrong_usage" };
  if (error instanceof CommanderError) return { ...wrongUsage, message: explainUsage(error, place) };
  if (error instanceof UsageError) return { ...wrongUsage, message };
  if (error instanceof Cancelled) return { exitCode: exitCodes.failed, message, code: "cancelled" };
  if (name === "ConfigError") return { exitCode: exitCodes.badConfiguration, message, code: "wrong_configuration" };
  if (error instanceof AppError && error.status < 500)
    return { exitCode: exitCodes.refused, message, code: error.code };
  const failed = { exitCode: exitCodes.failed, message, code: "failed" };
  return { ...failed, ...(await local?.explain(error)) };
}
