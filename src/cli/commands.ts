import { backupCommands } from "./backup.ts";
import { checkApp } from "./check-app.ts";
import { checkSchulconnex } from "./check-schulconnex.ts";
import type { Commands } from "./command.ts";
import { completion } from "./completion.ts";
import { listen } from "./listen.ts";
import { logout } from "./remote-login.ts";
import { contractNouns, partnerParts, remote, watchCommands } from "./partner-commands.ts";
import { serviceCommands } from "./service.ts";

/** Every command: those of the contract (`x-cli` in openapi/admin), and those by hand. */
export const commands: Commands = {
  ...contractNouns({
    ...partnerParts,
    school: () => import("./school.ts"),
    person: () => import("./person.ts"),
    login: () => import("./login.ts"),
    upstream: () => import("./upstream.ts"),
    card: () => import("./card.ts"),
    handover: () => import("./handover.ts"),
    group: async () => ({ extensions: (await import("./membership.ts")).groupExtensions }),
    membership: () => import("./membership.ts"),
    retention: () => import("./retention.ts"),
    sync: () => import("./sync.ts"),
    import: () => import("./import.ts"),
    staff: () => import("./staff.ts"),
  }),
  database: {
    summary: "The embedded PostgreSQL: where its files are, and how to delete them.",
    load: () => import("./embedded-database.ts"),
  },
  remote,
  "check-app": checkApp,
  "check-schulconnex": checkSchulconnex,
  listen,
  logout,
  ...watchCommands,
  ...serviceCommands,
  ...backupCommands,
  completion: completion(() => commands),
};
