import type { AppAttribute, ScopeName } from "../../../access/index.ts";
import type { ClaimsForApp } from "../../protocol/provider/claims.ts";

/**
 * The two ways on from a page, both POST and both with the field `csrf`.
 *
 * Shape: `action` goes on; `cancel` goes back to the app with access_denied, null where there is no app to go back to.
 */
export type Steps = { action: string; cancel: string | null; csrf: string };

/**
 * Posts `username` and `password` to `action`.
 *
 * Shape: `app` null when the person signs in to the platform itself; `username` fills the field again; `known` is who
 *        signed in with this browser before, whose password alone is asked for, and `known.other` asks for a user name
 *        too; `isShared` sets the tick that the device is shared, posted as `shared`; posting `forget` forgets `known`;
 *        `help` is the school's own text.
 */
export type LoginModel = {
  app: { name: string; logoPath: string | null } | null;
  steps: Steps;
  username: string;
  known: { firstName: string; username: string; other: string } | null;
  isShared: boolean;
  help: { school: string; text: string } | null;
  problem:
    | null
    | { kind: "missing"; fields: readonly ("username" | "password")[] }
    | { kind: "refused" }
    | { kind: "blocked" }
    | { kind: "expired_form" }
    | { kind: "no_cookies" }
    | { kind: "slowed"; retryAfterSeconds: number };
};

/**
 * Posts `waiting`, which holds what was typed, to `action` when the turn of the person has come.
 *
 * Shape: `app` null when the person signs in to the platform itself.
 */
export type WaitingModel = {
  app: { name: string } | null;
  steps: Steps;
  waiting: string;
  retryAfterSeconds: number;
};

/**
 * Posts to `action` to allow; `switchUser` is where another person may sign in instead, POST too.
 *
 * Shape: `claims` are what the app would get; of them only what its scopes ask for is shown. `withheld` is what it was
 *        not granted, nothing if it is left out.
 */
export type ConsentModel = {
  app: { name: string };
  personName: string | null;
  scopes: readonly ScopeName[];
  claims: ClaimsForApp;
  withheld?: readonly AppAttribute[];
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

/**
 * Ends a sign-on that cannot go back to an app with an answer.
 *
 * Shape: `app` is the way to an app that is known, to start once more there; `again` is this page, to try once more.
 */
export type ErrorModel = {
  status: number;
  reason:
    | "unknown_app"
    | "wrong_redirect"
    | "invalid_request"
    | "expired"
    | "forged"
    | "no_cookies"
    | "not_found"
    | "busy"
    | "bug";
  requestId: string | null;
  retryAfterSeconds?: number;
  app?: WayToApp | null;
  again?: string | null;
};

/** Where an app starts a sign-on. */
export type WayToApp = { name: string; url: string };

/** Shown in place of a page of a sign-on that is over. */
export type SignedInModel = { status: number; personName: string | null; app: WayToApp | null };

/** `backUrl` is shown as a link only: nothing moves by itself. */
export type LoggedOutModel = { app: { name: string } | null; backUrl: string | null };

/**
 * Asks before the session ends.
 *
 * Shape: `form` is the library's own form without buttons (`id` "op.logoutForm"), written as it is.
 */
export type LogoutConfirmModel = { app: { name: string } | null; personName: string | null; form: string };

/** For a script: what it asks the browser, and what goes with the answer in the fields `passkey` and `state`. */
export type PasskeyQuestion = { options: string; state: string };

/** Posts `passkey`, `label` and `state` to `action`. */
export type PasskeyModel = PasskeyQuestion & {
  isRefused: boolean;
  label: string;
  csrf: string;
  action: string;
  back: string;
};

/**
 * Posts `code` to `action`: of an app, or a recovery code.
 *
 * Shape: `takesCode` where the person has set up an app that shows codes.
 */
export type SecondFactorModel = {
  app: { name: string } | null;
  steps: Steps;
  takesCode: boolean;
  passkey: PasskeyQuestion | null;
  pending?: string | null;
  problem: null | { kind: "missing" | "refused" | "expired_form" } | { kind: "slowed"; retryAfterSeconds: number };
};

/**
 * The second factors of a person. `remove` takes POST with `id`; `codes` takes POST and shows new recovery codes.
 *
 * Shape: `isNeeded` where the person cannot go on without one; `next` is where they go on.
 */
export type SecondFactorsModel = {
  factors: readonly {
    id: string;
    kind: "TOTP" | "PASSKEY";
    label: string;
    createdAt: Date;
    lastUsedAt: Date | null;
  }[];
  codesLeft: number;
  isNeeded: boolean;
  next: string;
  csrf: string;
  totp: string;
  passkey: string;
  remove: string;
  codes: string;
};

/** Posts `code`, `label` and `state` to `action`. Shape: `qrCode` is SVG, written as it is. */
export type TotpModel = {
  problem: null | "refused" | "expired";
  qrCode: string;
  secret: string;
  address: string;
  label: string;
  state: string;
  csrf: string;
  action: string;
  back: string;
};

/** Shown once. */
export type RecoveryCodesModel = { codes: readonly string[]; next: string };
/** Posts `answer`, where the card asks for one, to `action`. Shape: `firstName` null for a person without a name. */
export type CardModel = {
  firstName: string | null;
  secondStep: "NONE" | "PICTURE" | "PIN";
  isWrong: boolean;
  action: string;
  csrf: string;
  signInPath: string;
};

/** Why a card signs nobody in. Shape: `hours` says when it does. */
export type CardProblemModel = {
  reason: "again" | "invalid" | "ended" | "blocked" | "disabled" | "grade" | "network" | "hours" | "slowed";
  hours: { from: string; to: string; weekdays: readonly number[] } | null;
  retryAfterSeconds?: number;
  signInPath: string;
};

/** Before an app may work as staff. `setUp` is where a second factor is set up; `action` goes on after that. */
export type SetUpNeededModel = { app: { name: string }; steps: Steps; setUp: string };

/**
 * Posts `password` and `repeated` to `action`, with `current` where the person is signed in already.
 *
 * Shape: `pending` goes with the form of who is not signed in yet; `back` leaves without a new password.
 */
export type NewPasswordModel = {
  action: string;
  csrf: string;
  pending: string | null;
  asksCurrent: boolean;
  back: string | null;
  problem:
    | null
    | { kind: "missing" | "short" | "long" | "differs" | "username" | "same" | "wrong" | "expired_form" }
    | { kind: "slowed" | "busy"; retryAfterSeconds: number };
};

/** Says whom to ask for another password. Shape: `helpText` is the school's own text. */
export type NoOwnPasswordModel = { helpText: string | null; back: string };
