import { checkApp } from "./check-app.ts";
import { checkSchulconnex } from "./check-schulconnex.ts";
import type { Commands, NounEntry } from "./command.ts";
import { completion } from "./completion.ts";
import { partnerNouns, type Parts } from "./contract-nouns.ts";
import { listen } from "./listen.ts";
import { login, logout } from "./remote-login.ts";
import { watchCommands } from "./watch.ts";

/** What nouns of the contract have beside it, by the noun. */
export const partnerParts: Parts = {
  app: () => import("./app.ts"),
  "id-move": async () => ({ extensions: (await import("./app.ts")).idMoveExtensions }),
  sandbox: () => import("./sandbox.ts"),
  agreement: () => import("./agreement.ts"),
  webhook: () => import("./webhook.ts"),
  grant: () => import("./grant.ts"),
};

export const remote: NounEntry = {
  summary: "Remote services: log in to one, so that commands act on it with --remote.",
  load: () => import("./remotes.ts"),
};

/** What the package for partners has: commands that need neither a database nor another module of the service. */
export const partnerCommands: Commands = {
  ...partnerNouns(partnerParts),
  remote,
  login,
  "check-app": checkApp,
  "check-schulconnex": checkSchulconnex,
  listen,
  logout,
  ...watchCommands,
  completion: completion(() => partnerCommands),
};
