import { ConfigError, type Config } from "../config/index.ts";
import { systemClock } from "../platform/clock.ts";
import { isDatabaseUnavailable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { escapeLines, escapeUnprintable } from "../platform/unprintable.ts";
import { DatabaseStartError } from "../platform/postgres/index.ts";
import type { Command, Noun, Tools } from "./command.ts";
import { withMigratedDatabase } from "./database.ts";
import { exitCodes, makeHelp } from "./help.ts";
import { UsageError } from "./option.ts";
import { findPlace, readCall, type Place } from "./read-call.ts";

/** Where a command line writes, results and help to `out`, everything else to `err`, and where its configuration comes from. */
export type Terminal = { out(text: string): void; err(text: string): void; readConfig(): Config };

type Commands = Readonly<Record<string, Noun | Command>>;

const helpFlags = new Set(["--help", "-h"]);

/** Runs one command line to its end. Shape: answers the exit code. */
export async function runCommandLine(commands: Commands, args: readonly string[], terminal: Terminal): Promise<number> {
  const json = args.includes("--json");
  let place: Place = { path: [] };
  try {
    const wantsHelp = args[0] === "help" || args.some((arg) => helpFlags.has(arg));
    const words = args.filter((arg) => arg !== "--json" && !helpFlags.has(arg));
    const found = findPlace(commands, args[0] === "help" ? words.slice(1) : words);
    place = found.place;
    if (wantsHelp) {
      terminal.out(makeHelp(commands, place));
      return exitCodes.done;
    }
    if (place.command === undefined)
      throw new UsageError(place.path.length === 0 ? "A command is missing." : "A verb is missing.");
    const call = readCall(place.command, found.rest);
    const { lines, data, isRefused, isFile } = await place.command.run(makeTools(terminal), call);
    terminal.out(
      json ? escapeUnprintable(JSON.stringify(data)) : (isFile ? lines : lines.map(escapeUnprintable)).join("\n"),
    );
    return isRefused ? exitCodes.refused : exitCodes.done;
  } catch (error) {
    const { exitCode, message, code } = explain(error);
    const help = exitCode === exitCodes.wrongUsage ? `\n\n${makeHelp(commands, place)}` : "";
    terminal.err(json ? escapeUnprintable(JSON.stringify({ error: message, code })) : escapeLines(`${message}${help}`));
    return exitCode;
  }
}

function makeTools({ err, readConfig }: Terminal): Tools {
  const config = readConfig();
  return {
    config,
    clock: systemClock,
    tell: (line) => err(escapeLines(line)),
    origin: () => ({ at: systemClock(), actorId: "command-line" }),
    withDatabase: (work) => withMigratedDatabase(config, err, work),
  };
}

const undefinedTable = "42P01";

/** What went wrong, in words for whoever typed the command. */
function explain(error: unknown): { exitCode: number; message: string; code: string } {
  const { message, code } = error as { message: string; code?: unknown };
  if (error instanceof UsageError) return { exitCode: exitCodes.wrongUsage, message, code: "wrong_usage" };
  if (error instanceof ConfigError)
    return { exitCode: exitCodes.badConfiguration, message, code: "wrong_configuration" };
  if (error instanceof AppError && error.status < 500)
    return { exitCode: exitCodes.refused, message, code: error.code };
  const failed = { exitCode: exitCodes.failed, message, code: "failed" };
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
