import { backupCommands } from "./backup.ts";
import { checkApp } from "./check-app.ts";
import { completion } from "./completion.ts";
import type { Commands } from "./command.ts";
import { listen } from "./listen.ts";
import { logout } from "./logout.ts";
import { serviceCommands } from "./service.ts";
import { watchCommands } from "./watch.ts";

/** Every command; a new noun is a file of its own with one entry here. */
export const commands: Commands = {
  school: {
    summary: "Schools: their name, address, official id and schooling level.",
    load: () => import("./school.ts"),
  },
  person: {
    summary: "People: their names, schools and status, and whether they may sign in.",
    load: () => import("./person.ts"),
  },
  login: {
    summary: "Logins: with which user name a person signs in. login https://… is remote login.",
    load: () => import("./login.ts"),
  },
  session: { summary: "Sessions: where a person is signed in.", load: () => import("./session.ts") },
  consent: {
    summary: "Consents: which data of a person each app may read with the person's consent.",
    load: () => import("./consent.ts"),
  },
  card: { summary: "Login cards: printed, listed and revoked.", load: () => import("./card.ts") },
  affiliation: { summary: "Affiliations: a person at more than one school.", load: () => import("./affiliation.ts") },
  group: { summary: "Groups: classes, courses and others, each of one school.", load: () => import("./group.ts") },
  membership: {
    summary: "Memberships: who is in which group, and in which role.",
    load: () => import("./membership.ts"),
  },
  app: { summary: "Apps: the registrations of partners' applications.", load: () => import("./app.ts") },
  sandbox: {
    summary: "Sandboxes: throw-away schools with test users, in which the team of an app tries it.",
    load: () => import("./sandbox.ts"),
  },
  "scope-request": {
    summary: "Requests of scopes: what partners ask for, and the answer.",
    load: () => import("./scope-request.ts"),
  },
  catalogue: { summary: "The catalogue: the apps that a school can choose.", load: () => import("./catalogue.ts") },
  grant: {
    summary: "School grants: which people of a school may sign in to an app.",
    load: () => import("./grant.ts"),
  },
  sync: { summary: "Sync: what an app may read of a school.", load: () => import("./sync.ts") },
  import: {
    summary: "Imports of rosters: OneRoster 1.1 and 1.2 (zip of CSV), Schulconnex personen-info (JSON), plain CSV.",
    load: () => import("./import.ts"),
  },
  webhook: {
    summary: "Webhooks: where apps are notified of changes, and the log of deliveries.",
    load: () => import("./webhook.ts"),
  },
  staff: {
    summary: "Staff: who may do what in the admin API, as operators, schools, partners or support.",
    load: () => import("./staff.ts"),
  },
  audit: { summary: "The audit log: who changed what, and when.", load: () => import("./audit.ts") },
  database: {
    summary: "The embedded PostgreSQL: where its files are, and how to delete them.",
    load: () => import("./embedded-database.ts"),
  },
  remote: {
    summary: "Remote services: log in to one, so that commands act on it with --remote.",
    load: () => import("./remotes.ts"),
  },
  "check-app": checkApp,
  listen,
  logout,
  ...watchCommands,
  ...serviceCommands,
  ...backupCommands,
  completion: completion(() => commands),
};
