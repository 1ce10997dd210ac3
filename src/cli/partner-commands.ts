import { checkApp } from "./check-app.ts";
import type { Commands, NounEntry } from "./command.ts";
import { completion } from "./completion.ts";
import { listen } from "./listen.ts";
import { logout } from "./logout.ts";
import { login } from "./remote-login.ts";
import { watchCommands } from "./watch.ts";

export const noun = (summary: string, load: NounEntry["load"]): NounEntry => ({ summary, load });

/** What the package for partners has: commands that need neither a database nor another module of the service. */
export const partnerCommands = {
  app: noun("Apps: the registrations of partners' applications.", () => import("./app.ts")),
  "id-move": noun("Moves of apps from shared ids of people to ids of their own.", () => import("./id-move.ts")),
  sandbox: noun(
    "Sandboxes: throw-away schools with test users, in which the team of an app tries it.",
    () => import("./sandbox.ts"),
  ),
  "scope-request": noun(
    "Requests of scopes: what partners ask for, and the answer.",
    () => import("./scope-request.ts"),
  ),
  agreement: noun(
    "Agreements on the processing of data: what providers of apps offer, and what schools agreed to.",
    () => import("./agreement.ts"),
  ),
  catalogue: noun("The catalogue: the apps that a school can choose.", () => import("./catalogue.ts")),
  webhook: noun(
    "Webhooks: where apps are notified of changes, and the log of deliveries.",
    () => import("./webhook.ts"),
  ),
  grant: noun("School grants: which people of a school may sign in to an app.", () => import("./grant.ts")),
  audit: noun("The audit log: who changed what, and when.", () => import("./audit.ts")),
  remote: noun(
    "Remote services: log in to one, so that commands act on it with --remote.",
    () => import("./remotes.ts"),
  ),
  login,
  "check-app": checkApp,
  listen,
  logout,
  ...watchCommands,
  completion: completion((): Commands => partnerCommands),
} satisfies Commands;
