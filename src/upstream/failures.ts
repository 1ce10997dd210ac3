import type { SchoolId } from "../directory/index.ts";
import type { ConnectionId } from "./ids.ts";

/** Failures of the connection itself, for the school's IT. */
export const connectionFailures = [
  "UPSTREAM_DOWN",
  "SECRET_REFUSED",
  "SCOPE_REFUSED",
  "CLOCK",
  "INVALID_RESPONSE",
  "TENANT",
] as const;

/** Refusals of one account, for the list of refusals of the school. */
export const accountRefusals = [
  "OTHER_SCHOOL",
  "CLAIM_MISSING",
  "NOBODY_MATCHES",
  "SEVERAL_MATCH",
  "LINKED_TO_ANOTHER",
  "LINK_CONTRADICTED",
  "BLOCKED",
  "NOT_IN_CLASSES",
  "NOT_CONFIRMED",
  "WAITS_FOR_STAFF",
] as const;

/** What ended one round trip, of which nobody needs to be told later. */
export const passingFailures = [
  "CONNECTION_OFF",
  "CANCELLED",
  "EXPIRED",
  "OTHER_BROWSER",
  "TOO_MANY",
  "TEST_LIMIT",
  "LOGIN_REQUIRED",
] as const;

export type ConnectionFailure = (typeof connectionFailures)[number];
export type AccountRefusal = (typeof accountRefusals)[number];
export type FailureCode = ConnectionFailure | AccountRefusal | (typeof passingFailures)[number];

export type UpstreamFailure = {
  code: FailureCode;
  connectionId: ConnectionId;
  /** Null if the connection does not exist. */
  schoolId: SchoolId | null;
};

/** Ends a round trip. `detail` is for the staff and the log: no names, no tokens. */
export class UpstreamError extends Error {
  readonly code: FailureCode;
  readonly detail: string;
  constructor(code: FailureCode, detail = "", options?: ErrorOptions) {
    super(detail === "" ? code : `${code}: ${detail}`, options);
    this.name = "UpstreamError";
    this.code = code;
    this.detail = detail;
  }
}

export const isConnectionFailure = (code: FailureCode): code is ConnectionFailure =>
  (connectionFailures as readonly string[]).includes(code);
export const isAccountRefusal = (code: FailureCode): code is AccountRefusal =>
  (accountRefusals as readonly string[]).includes(code);
