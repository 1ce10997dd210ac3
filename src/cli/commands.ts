import { backupCommands } from "./backup.ts";
import { completion } from "./completion.ts";
import type { Commands } from "./command.ts";
import { noun, partnerCommands } from "./partner-commands.ts";
import { serviceCommands } from "./service.ts";
import { watchCommands } from "./watch.ts";

/** Every command; a new noun is a file of its own with one entry here. */
export const commands: Commands = {
  school: noun("Schools: their name, address, official id and schooling level.", () => import("./school.ts")),
  person: noun("People: their names, schools and status, and whether they may sign in.", () => import("./person.ts")),
  login: noun(
    "Logins: with which user name a person signs in. login https://… is remote login.",
    () => import("./login.ts"),
  ),
  session: noun("Sessions: where a person is signed in.", () => import("./session.ts")),
  consent: noun(
    "Consents: which data of a person each app may read with the person's consent.",
    () => import("./consent.ts"),
  ),
  upstream: noun(
    "Schools' own logins: connections to IServ, Entra, Google and others, and how people reach them.",
    () => import("./upstream.ts"),
  ),
  card: noun("Login cards: printed, listed and revoked.", () => import("./card.ts")),
  affiliation: noun("Affiliations: a person at more than one school.", () => import("./affiliation.ts")),
  "data-request": noun(
    "Requests for the data stored about a person, and their answers.",
    () => import("./data-request.ts"),
  ),
  handover: noun("Hand-overs: pupils who move from one school to another.", () => import("./handover.ts")),
  merger: noun("Mergers: a school that becomes a part of another one.", () => import("./merger.ts")),
  group: noun("Groups: classes, courses and others, each of one school.", () => import("./group.ts")),
  membership: noun("Memberships: who is in which group, and in which role.", () => import("./membership.ts")),
  retention: noun(
    "Retention: for how long a school keeps people and the audit log, and why.",
    () => import("./retention.ts"),
  ),
  app: partnerCommands.app,
  "id-move": partnerCommands["id-move"],
  sandbox: partnerCommands.sandbox,
  "scope-request": partnerCommands["scope-request"],
  agreement: partnerCommands.agreement,
  catalogue: partnerCommands.catalogue,
  grant: partnerCommands.grant,
  sync: noun("Sync: what an app may read of a school.", () => import("./sync.ts")),
  import: noun(
    "Imports of rosters: OneRoster 1.1 and 1.2 (zip of CSV), Schulconnex personen-info (JSON), plain CSV.",
    () => import("./import.ts"),
  ),
  webhook: partnerCommands.webhook,
  staff: noun(
    "Staff: who may do what in the admin API, as operators, schools, partners or support.",
    () => import("./staff.ts"),
  ),
  audit: partnerCommands.audit,
  database: noun(
    "The embedded PostgreSQL: where its files are, and how to delete them.",
    () => import("./embedded-database.ts"),
  ),
  remote: partnerCommands.remote,
  "check-app": partnerCommands["check-app"],
  listen: partnerCommands.listen,
  logout: partnerCommands.logout,
  ...watchCommands,
  ...serviceCommands,
  ...backupCommands,
  completion: completion(() => commands),
};
