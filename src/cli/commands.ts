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
    load: async () => (await import("./school.ts")).school,
  },
  person: {
    summary: "People: their names, schools and status, and whether they may sign in.",
    load: async () => (await import("./person.ts")).person,
  },
  login: {
    summary: "Logins: with which user name a person signs in. login https://… is remote login.",
    load: async () => (await import("./login.ts")).login,
  },
  session: {
    summary: "Sessions: where a person is signed in.",
    load: async () => (await import("./session.ts")).session,
  },
  consent: {
    summary: "Consents: what apps may get to know of a person, as the person agreed to it.",
    load: async () => (await import("./consent.ts")).consent,
  },
  card: {
    summary: "Login cards: printed, listed and revoked.",
    load: async () => (await import("./card.ts")).card,
  },
  affiliation: {
    summary: "Affiliations: a person at more than one school.",
    load: async () => (await import("./affiliation.ts")).affiliation,
  },
  group: {
    summary: "Groups: classes, courses and others, each of one school.",
    load: async () => (await import("./group.ts")).group,
  },
  membership: {
    summary: "Memberships: who is in which group, and in which role.",
    load: async () => (await import("./membership.ts")).membership,
  },
  app: {
    summary: "Apps: the registrations of partners' applications.",
    load: async () => (await import("./app.ts")).app,
  },
  sandbox: {
    summary: "Sandboxes: throw-away schools with test users, in which the team of an app tries it.",
    load: async () => (await import("./sandbox.ts")).sandbox,
  },
  "scope-request": {
    summary: "Requests of scopes: what partners ask for, and the answer.",
    load: async () => (await import("./scope-request.ts")).scopeRequest,
  },
  catalogue: {
    summary: "The catalogue: the apps that a school can choose.",
    load: async () => (await import("./catalogue.ts")).catalogue,
  },
  grant: {
    summary: "School grants: which people of a school may sign in to an app.",
    load: async () => (await import("./grant.ts")).grant,
  },
  sync: {
    summary: "Sync: what an app may read of a school.",
    load: async () => (await import("./sync.ts")).sync,
  },
  import: {
    summary: "Imports of rosters: OneRoster 1.1 and 1.2 (zip of CSV), Schulconnex personen-info (JSON), plain CSV.",
    load: async () => (await import("./import.ts")).rosterImport,
  },
  webhook: {
    summary: "Webhooks: where apps are notified of changes, and the log of deliveries.",
    load: async () => (await import("./webhook.ts")).webhook,
  },
  staff: {
    summary: "Staff: who may do what in the admin API, as operators, schools, partners or support.",
    load: async () => (await import("./staff.ts")).staff,
  },
  audit: {
    summary: "The audit log: who changed what, and when.",
    load: async () => (await import("./audit.ts")).audit,
  },
  database: {
    summary: "The embedded PostgreSQL: where its files are, and how to delete them.",
    load: async () => (await import("./embedded-database.ts")).database,
  },
  remote: {
    summary: "Remote services: log in to one, so that commands act on it with --remote.",
    load: async () => (await import("./remotes.ts")).remotes,
  },
  "check-app": checkApp,
  listen,
  logout,
  ...watchCommands,
  ...serviceCommands,
  ...backupCommands,
  completion: completion(() => commands),
};
