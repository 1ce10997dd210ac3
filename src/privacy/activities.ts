import type { PeriodCode } from "./periods.ts";
import type { DataCategory, PeopleCategory, Words } from "./words.ts";
import words from "./words.json" with { type: "json" };

export type Activity = {
  name: Words;
  purpose: Words;
  people: readonly PeopleCategory[];
  data: readonly DataCategory[];
  /** Beside those of the stored tables. */
  periods?: readonly PeriodCode[];
};

const atSchool = ["STUDENT", "TEACHER", "OTHER"] as const;
const everybody = [...atSchool, "STAFF"] as const;

/** What the service does with data for a school, whichever apps the school uses. Each category of data is in one. */
export const activities = {
  DIRECTORY: {
    ...words.activities.DIRECTORY,
    people: atSchool,
    data: ["name", "role", "groups", "schools", "status", "sourceSystemIdentifier", "remains"],
  },
  SIGN_ON: {
    ...words.activities.SIGN_ON,
    people: everybody,
    data: ["login", "secondFactors", "loginCards", "upstreamAccounts", "sessions", "devices", "signIns"],
  },
  IMPORTS: { ...words.activities.IMPORTS, people: atSchool, data: ["roster", "importHistory"] },
  APP_NOTIFICATION: {
    ...words.activities.APP_NOTIFICATION,
    people: atSchool,
    data: ["id", "notifications", "appRequests"],
  },
  BILLING: { ...words.activities.BILLING, people: atSchool, data: ["accessReports"] },
  ADMINISTRATION: {
    ...words.activities.ADMINISTRATION,
    people: everybody,
    data: ["staffRoles", "tasks", "agreements", "contacts", "mailAddresses"],
  },
  AUDIT: { ...words.activities.AUDIT, people: everybody, data: ["audit", "disclosures", "dataRequests"] },
  OPERATION: {
    ...words.activities.OPERATION,
    people: everybody,
    data: ["serverLog", "backups"],
    periods: ["OPERATOR"],
  },
} as const satisfies Record<string, Activity>;
