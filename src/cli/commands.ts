import { backupCommands } from "./backup.ts";
import { checkApp } from "./check-app.ts";
import { completion } from "./completion.ts";
import type { Commands, NounEntry } from "./command.ts";
import { listen } from "./listen.ts";
import { logout } from "./logout.ts";
import { serviceCommands } from "./service.ts";
import { watchCommands } from "./watch.ts";

const noun = (summary: string, load: NounEntry["load"]): NounEntry => ({ summary, load });

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
  card: noun("Login cards: printed, listed and revoked.", () => import("./card.ts")),
  affiliation: noun("Affiliations: a person at more than one school.", () => import("./affiliation.ts")),
  group: noun("Groups: classes, courses and others, each of one school.", () => import("./group.ts")),
  membership: noun("Memberships: who is in which group, and in which role.", () => import("./membership.ts")),
  app: noun("Apps: the registrations of partners' applications.", () => import("./app.ts")),
  sandbox: noun(
    "Sandboxes: throw-away schools with test users, in which the team of an app tries it.",
    () => import("./sandbox.ts"),
  ),
  "scope-request": noun(
    "Requests of scopes: what partners ask for, and the answer.",
    () => import("./scope-request.ts"),
  ),
  catalogue: noun("The catalogue: the apps that a school can choose.", () => import("./catalogue.ts")),
  grant: noun("School grants: which people of a school may sign in to an app.", () => import("./grant.ts")),
  sync: noun("Sync: what an app may read of a school.", () => import("./sync.ts")),
  import: noun(
    "Imports of rosters: OneRoster 1.1 and 1.2 (zip of CSV), Schulconnex personen-info (JSON), plain CSV.",
    () => import("./import.ts"),
  ),
  webhook: noun(
    "Webhooks: where apps are notified of changes, and the log of deliveries.",
    () => import("./webhook.ts"),
  ),
  staff: noun(
    "Staff: who may do what in the admin API, as operators, schools, partners or support.",
    () => import("./staff.ts"),
  ),
  audit: noun("The audit log: who changed what, and when.", () => import("./audit.ts")),
  database: noun(
    "The embedded PostgreSQL: where its files are, and how to delete them.",
    () => import("./embedded-database.ts"),
  ),
  remote: noun(
    "Remote services: log in to one, so that commands act on it with --remote.",
    () => import("./remotes.ts"),
  ),
  "check-app": checkApp,
  listen,
  logout,
  ...watchCommands,
  ...serviceCommands,
  ...backupCommands,
  completion: completion(() => commands),
};
