/*
 * cli: the service in an operator's hands and scripts, `schultor <noun> <verb>`.
 *
 * Nouns:      command (what one call does), noun (a family of commands), option, result (table, lines and data),
 *             name (what may be written in place of an id).
 * Invariants: every command has help, all outputs and a documented exit code; a refusal ends with its reason and never
 *             with a stack trace; a secret is shown once; what cannot be undone is asked about; a change goes through
 *             the use cases and leaves an audit line; no command loads the modules of another.
 * Never knows: HTTP, pages, how the service is put together.
 */
export { commands } from "./commands.ts";
export { makeLocal } from "./local/machine.ts";
export { runCommandLine, type Terminal } from "./run.ts";
export { processTerminal } from "./terminal.ts";
