import { affiliation } from "./affiliation.ts";
import { app } from "./app.ts";
import type { Command, Noun } from "./command.ts";
import { database } from "./embedded-database.ts";
import { grant, sync } from "./grant.ts";
import { group } from "./group.ts";
import { rosterImport } from "./import.ts";
import { membership } from "./membership.ts";
import { person } from "./person.ts";
import { school } from "./school.ts";
import { serviceCommands } from "./service.ts";
import { webhook } from "./webhook.ts";

/** Every command; a new noun is a file of its own with one line here. */
export const commands: Readonly<Record<string, Noun | Command>> = {
  school,
  person,
  affiliation,
  group,
  membership,
  app,
  grant,
  sync,
  import: rosterImport,
  webhook,
  database,
  ...serviceCommands,
};
