/*
 * cli: the service in an operator's hands and scripts, `npm run schultor -- <noun> <verb>`.
 *
 * Nouns:      command (what one call does), noun (what a family of commands is about), option, result (lines and data).
 * Invariants: every command has help, --json and a documented exit code; what the rules refuse ends with its reason and
 *             never with a stack trace; a secret is shown once; a change goes through the use cases and leaves an audit line.
 * Never knows: HTTP, pages, how the service is put together.
 */
export { commands } from "./commands.ts";
export { runCommandLine } from "./run.ts";
export type { Terminal } from "./run.ts";
