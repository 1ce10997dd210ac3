import type {
  CardHours,
  CardSecondStep,
  CodePicture,
  PasskeyQuestion,
  PasswordFault,
  SecondFactor,
} from "../../../accounts/index.ts";
import type { AppAttribute, ScopeName } from "../../../access/index.ts";
import type { SchoolId } from "../../../directory/index.ts";
import type { FailureCode } from "../../../upstream/index.ts";
import type { ClaimsForApp } from "../../protocol/provider/account.ts";

// In each model the addresses are of forms (POST, with the field `csrf`); `app` is null without an app.

/** `action` continues; `cancel` returns to the app with access_denied. */
export type Steps = { action: string; cancel: string | null; csrf: string };

/**
 * Posts `username`, `password`, `shared` or `stay`, and `passkeys` (the device can have one); or `forget`; or
 * `passkey`, `state`, `shared` and `stay`. `known` signed in with this browser before and is asked for the password
 * alone; `known.other` is the page that asks for a user name too.
 */
export type LoginModel = {
  app: { name: string; logoPath: string | null } | null;
  steps: Steps;
  username: string;
  known: { firstName: string; username: string; other: string } | null;
  isShared: boolean;
  stays: boolean;
  /** `days` is null if the school is unknown. */
  stayOffer: { days: number | null; fromGrade: number | null } | null;
  help: { school: string; text: string } | null;
  /** Where a class signs in, if the school of this device has class lists. */
  classList: string | null;
  ways: LoginWays | null;
  passwordForm: "open" | "folded" | "none";
  /** Null where no passkey can sign in. */
  passkey: PasskeyQuestion | null;
  schoolSearch: string;
  problem:
    | null
    | { kind: "missing"; fields: readonly ("username" | "password")[] }
    | { kind: "not_used"; homeSchoolId: SchoolId | null }
    | { kind: "refused" | "blocked" | "expired_form" | "no_cookies" | "passkey_refused" | "no_passkeys" }
    | { kind: "slowed"; retryAfterSeconds: number };
};

/** `action` posts `connection`, a login of the school, and `shared`. `other` is the page with the password form. */
export type LoginWays = {
  school: string;
  buttons: readonly { connectionId: string; name: string }[];
  allowsPasswords: boolean;
  action: string;
  other: string;
};

/** A form (GET) with `q`, and the schools found: each posts its `schoolId` to `action`. `isUnknown`: the link is. */
export type SchoolSearchModel = {
  words: string;
  schools: readonly { schoolId: string; name: string; city: string | null }[] | null;
  isUnknown: boolean;
  path: string;
  returnPath: string;
  action: string;
  csrf: string;
  back: string;
  problem: null | { kind: "slowed"; retryAfterSeconds: number };
};

/** `again` is the page where the person chose this login; `other` shows the ways besides it. */
export type UpstreamFailureModel = {
  code: FailureCode;
  login: { name: string; school: string; allowsPasswords: boolean } | null;
  again: string;
  other: string;
  requestId: string | null;
};

/** Posts `waiting`, the sealed fields of the login form. */
export type WaitingModel = {
  app: { name: string } | null;
  steps: Steps;
  waiting: string;
  retryAfterSeconds: number;
};

/** Shows of `claims` only what the scopes ask for, without `withheld`. Posts `shown`, the scopes that it asks for. */
export type ConsentModel = {
  app: { name: string };
  personName: string | null;
  scopes: readonly ScopeName[];
  claims: ClaimsForApp;
  withheld?: readonly AppAttribute[];
  steps: Steps;
  otherSchool: string | null;
  switchUser: string | null;
};

/** Posts `schoolId`. */
export type ChooseSchoolModel = {
  app: { name: string };
  schools: readonly { id: string; name: string }[];
  steps: Steps;
};

/** `action` signs out the person; the other person is never named. `stay` continues as the present person. */
export type SwitchUserModel = {
  app: { name: string };
  personName: string | null;
  steps: Steps;
  stay: string | null;
};

/** `action` lets another person sign in. */
export type RefusalModel = {
  app: { name: string };
  personName: string | null;
  reason: "no_grant" | "person_not_active" | "person_blocked" | "app_suspended";
  steps: Steps;
};

/** For a sign-on that cannot return to the app. `again` is this page. */
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

/** For a page of a sign-on that is over. */
export type SignedInModel = { status: number; personName: string | null; app: WayToApp | null };

export type LoggedOutModel = { app: { name: string } | null; backUrl: string | null };

/** Posts `fields` to the app, which is another site; there is no `csrf`. */
export type FormPostModel = { app: { name: string } | null; action: string; fields: Record<string, string> };

/** `form` is the library's own form without buttons, as HTML. */
export type LogoutConfirmModel = { app: { name: string } | null; personName: string | null; form: string };

/** Posts `passkey`, `label`, `state` and `asked` (after the password). `isOffered`: a second form posts `never`. */
export type PasskeyModel = PasskeyQuestion & {
  isRefused: boolean;
  isOffered: boolean;
  label: string;
  csrf: string;
  action: string;
  back: string;
};

/** Posts `code` (of an app if `takesCode`, or a recovery code), or `passkey` and `state`. */
export type SecondFactorModel = {
  app: { name: string } | null;
  steps: Steps;
  takesCode: boolean;
  passkey: PasskeyQuestion | null;
  pending?: string | null;
  problem: null | { kind: "missing" | "refused" | "expired_form" } | { kind: "slowed"; retryAfterSeconds: number };
};

/** Posts `id` to `remove`, and `label` to `rename` too; posts to `codes` for new recovery codes. */
export type SecondFactorsModel = {
  factors: readonly SecondFactor[];
  codesLeft: number;
  isNeeded: boolean;
  next: string;
  csrf: string;
  totp: string;
  passkey: string;
  remove: string;
  rename: string;
  codes: string;
};

/** Posts `code`, `label` and `state`. `qrCode` is SVG. */
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

export type RecoveryCodesModel = { codes: readonly string[]; next: string };

/** Posts `answer` if the card has a second step. */
export type CardModel = {
  firstName: string | null;
  secondStep: CardSecondStep;
  isWrong: boolean;
  action: string;
  csrf: string;
  signInPath: string;
};

export type CardProblemModel = {
  reason: "again" | "invalid" | "ended" | "locked" | "blocked" | "disabled" | "grade" | "network" | "hours" | "slowed";
  hours: CardHours | null;
  retryAfterSeconds?: number;
  signInPath: string;
};

/** Posts `code`. */
export type ClassCodeModel = {
  action: string;
  csrf: string;
  problem: null | { kind: "wrong" | "expired_form" } | { kind: "slowed"; retryAfterSeconds: number };
  signInPath: string;
};

/** `url` is null for a pupil who cannot sign in with the list. */
export type ClassListModel = {
  className: string;
  pupils: readonly { name: string; url: string | null }[];
  leave: { action: string; csrf: string };
};

/** Posts `tapped` and `first` as they are, with `picture` or `back`. The pictures are shown only while one chooses. */
export type PicturesModel = {
  step: "enter" | "choose" | "repeat";
  name: string | null;
  tapped: readonly CodePicture[];
  first: readonly CodePicture[];
  problem: null | "wrong" | "equal" | "differs" | "again";
  action: string;
  csrf: string;
  back: { url: string; kind: "notMe" | "cancel" };
};

export type ClassProblemModel = {
  reason: "card" | "locked" | "slowed";
  retryAfterSeconds?: number;
  listPath: string;
};

/** `setUp` is the page that sets up a second factor; `action` continues after that. */
export type SetUpNeededModel = { app: { name: string }; steps: Steps; setUp: string };

/** Posts `password` and `repeated`, and `current` or, from a person without a session, `pending`. */
export type NewPasswordModel = {
  action: string;
  csrf: string;
  pending: string | null;
  asksCurrent: boolean;
  back: string | null;
  /** How many characters the password needs. */
  shortest: number;
  problem:
    null | { kind: PasswordFault | "wrong" | "expired_form" } | { kind: "slowed" | "busy"; retryAfterSeconds: number };
};

export type NoOwnPasswordModel = { isUsed: boolean; helpText: string | null; back: string };
