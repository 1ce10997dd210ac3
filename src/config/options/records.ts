import type { Option } from "../option.ts";
import { oneOf, wholeNumber } from "../values.ts";

export const recordOptions = {
  RESTORE_WINDOW_DAYS: {
    value: wholeNumber(1, 3650),
    default: "30",
    meaning: "Time in which a deleted person can be restored; after it they are deleted for good.",
    example: "30",
  },
  SUPPORT_ROLE_DAYS: {
    value: wholeNumber(1, 90),
    default: "14",
    meaning: "Maximum duration of the role SUPPORT. Changing it does not change roles that were already given.",
    example: "14",
  },
  HANDOVER_DAYS: {
    value: wholeNumber(1, 365),
    default: "30",
    meaning: "Time in which a school can accept pupils whom another school hands over.",
    example: "30",
  },
  AGREEMENTS: {
    value: oneOf("off", "required"),
    default: "off",
    meaning:
      "`required`: sync to an app can be switched on at a school only after the school agreed to the app's agreement, and schools do not give what an app gets later until they agree to it.",
    example: "required",
  },
  CHANGE_FEED_DAYS: {
    value: wholeNumber(30, 3650),
    default: "35",
    meaning: "Days for which the change feed keeps events. The contract promises 30.",
    example: "35",
  },
  ERASURE_OVERDUE_DAYS: {
    value: wholeNumber(1, 365),
    default: "30",
    meaning:
      "Days after which schools, partners and operators see that an app has not confirmed an erasure. " +
      "People are deleted here without waiting for it.",
    example: "14",
  },
  ERASURE_DAYS: {
    value: wholeNumber(30, 3650),
    default: "365",
    meaning:
      "Days for which an erasure is kept that an app has not confirmed, or for which it said that it keeps data. " +
      "What was confirmed is deleted after 30 days.",
    example: "365",
  },
  IDENTIFIER_CHANGES_DAYS: {
    value: wholeNumber(90, 3650),
    default: "90",
    meaning:
      "Days after the cut-over for which an app that was moved to ids of its own can read what its old ids have become.",
    example: "90",
  },
  AUDIT_DAYS: {
    value: wholeNumber(30, 3650),
    default: "400",
    meaning:
      "Days for which the audit log is kept. It is deleted by the month: an entry is deleted with the last " +
      "entry of its month. The id of a person who is deleted for good is removed immediately.",
    example: "400",
  },
  PRIVACY_RECORD_DAYS: {
    value: wholeNumber(30, 3650),
    default: "1095",
    meaning:
      "Days for which it is kept what an app could read about a person, after it no longer could; it is deleted " +
      "with a person who is deleted for good. Closed data requests are kept for as long.",
    example: "1095",
  },
  IMPORTS_AT_ONCE: {
    value: wholeNumber(1, 100),
    default: null,
    defaultMeaning: "one for every two processors, 4 at most",
    meaning:
      "Rosters that all processes together read at the same time, and apply at the same time; as many small ones beside " +
      "each. Others wait in a queue in which schools take turns. Each uses one connection and about one processor of " +
      "PostgreSQL. With a number here, a process takes three connections more than that from `DATABASE_POOL_SIZE`.",
    example: "2",
  },
  IMPORT_HOLD_PERCENT: {
    value: wholeNumber(0, 100),
    default: null,
    defaultMeaning: "a third",
    meaning:
      "Share of a school's people or groups that an import may remove. An import that would remove more is held " +
      "until an operator confirms it. With 100 no import is held.",
    example: "10",
  },
} as const satisfies Record<string, Option>;
