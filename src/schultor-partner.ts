// The command line in the package for partners: without the machine of a service.
import { partnerCommands } from "./cli/partner-commands.ts";
import { runCommandLine } from "./cli/run.ts";
import { processTerminal } from "./cli/terminal.ts";

process.exitCode = await runCommandLine(partnerCommands, process.argv.slice(2), processTerminal);
