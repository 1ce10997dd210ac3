import type { ScopeName } from "../../access/index.ts";

/**
 * The two ways on from a page, both POST and both with the field `csrf`.
 *
 * Shape: `action` goes on; `cancel` goes back to the app with access_denied, null where there is no app to go back to.
 */
export type Steps = { action: string; cancel: string | null; csrf: string };

/**
 * Posts `username` and `password` to `action`.
 *
 * Shape: `app` null when the person signs in to the platform itself; `username` fills the field again.
 */
export type LoginModel = {
  app: { name: string } | null;
  steps: Steps;
  username: string;
  problem:
    | null
    | { kind: "missing"; fields: readonly ("username" | "password")[] }
    | { kind: "refused" }
    | { kind: "blocked" }
    | { kind: "expired_form" }
    | { kind: "slowed" | "busy"; retryAfterSeconds: number };
};

/** Posts to `action` to allow; `switchUser` is where another person may sign in instead, POST too. */
export type ConsentModel = {
  app: { name: string };
  personName: string | null;
  scopes: readonly ScopeName[];
  steps: Steps;
  switchUser: string | null;
};

/** Posts `schoolId` to `action`. */
export type ChooseSchoolModel = {
  app: { name: string };
  schools: readonly { id: string; name: string }[];
  steps: Steps;
};

/**
 * Posts to `action` to sign the present person out and ask for the other; the other is never named.
 *
 * Shape: `stay` is where the present person goes on instead, POST too; null where only the other will do.
 */
export type SwitchUserModel = {
  app: { name: string };
  personName: string | null;
  steps: Steps;
  stay: string | null;
};

/** The way back to the app is `cancel`; `action` lets another person sign in. */
export type RefusalModel = {
  app: { name: string };
  personName: string | null;
  reason: "no_grant" | "person_not_active" | "person_blocked";
  steps: Steps;
};

/** Ends a sign-on that cannot go back to an app. */
export type ErrorModel = {
  status: number;
  reason: "unknown_app" | "wrong_redirect" | "invalid_request" | "expired" | "forged" | "not_found" | "busy" | "bug";
  requestId: string | null;
  retryAfterSeconds?: number;
};

/** `backUrl` is shown as a link only: nothing moves by itself. */
export type LoggedOutModel = { app: { name: string } | null; backUrl: string | null };

/**
 * Asks before the session ends.
 *
 * Shape: `form` is the library's own form without buttons (`id` "op.logoutForm"), written as it is.
 */
export type LogoutConfirmModel = { app: { name: string } | null; personName: string | null; form: string };
