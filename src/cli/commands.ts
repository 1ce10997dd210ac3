import type { Command, Noun } from "./command.ts";
import { serviceCommands } from "./service.ts";

/** Every command; a new noun is a file of its own with one line here. */
export const commands: Readonly<Record<string, Noun | Command>> = {
  ...serviceCommands,
};
