import { commands, runCommandLine } from "./cli/index.ts";
import { readConfig } from "./config/index.ts";

const terminal = { out: console.log, err: console.error, readConfig };

// The code is set instead of ending at once, so that a pipe gets the whole text.
process.exitCode = await runCommandLine(commands, process.argv.slice(2), terminal);
