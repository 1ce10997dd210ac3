import { commands, makeLocal, processTerminal, runCommandLine } from "./cli/index.ts";

const local = makeLocal(async () => (await import("./config/index.ts")).readConfig());

// Set instead of exiting at once, so that a pipe gets the whole text.
process.exitCode = await runCommandLine(commands, process.argv.slice(2), { ...processTerminal, local });
