import type { Option } from "../option.ts";
import { wholeNumber } from "../values.ts";

export const retentionOptions = {
  RETENTION_LEFT_MONTHS: {
    value: wholeNumber(0, 240),
    default: "0",
    meaning:
      "Months for which a person who left their last school is kept before the soft deletion, at schools where neither " +
      "the school nor its state has a retention policy. With 0 the roster that no longer names them deletes them at once.",
    example: "12",
  },
  RETENTION_LEFT_MONTHS_MAX: {
    value: wholeNumber(0, 240),
    default: "24",
    meaning: "The longest such period that a school or a state may choose.",
    example: "24",
  },
  RETENTION_INACTIVE_MONTHS: {
    value: wholeNumber(0, 240),
    default: "0",
    meaning:
      "Months without a sign-in after which a person is soft-deleted, at schools without a policy. It concerns people " +
      "who can sign in and whom no roster names. With 0 nobody is.",
    example: "12",
  },
  RETENTION_INACTIVE_MONTHS_MIN: {
    value: wholeNumber(1, 240),
    default: "6",
    meaning: "The shortest such period that a school or a state may choose, except 0 for never.",
    example: "6",
  },
  RETENTION_RESTORE_DAYS_MIN: {
    value: wholeNumber(1, 3650),
    default: "7",
    meaning: "The shortest time that a school or a state may choose in place of `RESTORE_WINDOW_DAYS`.",
    example: "14",
  },
  RETENTION_RESTORE_DAYS_MAX: {
    value: wholeNumber(1, 3650),
    default: "90",
    meaning: "The longest time that a school or a state may choose in place of `RESTORE_WINDOW_DAYS`.",
    example: "60",
  },
  RETENTION_AUDIT_DAYS_MIN: {
    value: wholeNumber(1, 3650),
    default: "90",
    meaning:
      "The shortest time for which a school or a state may keep its audit log. The longest is `AUDIT_DAYS`, which is " +
      "also the time at schools without a policy.",
    example: "180",
  },
  RETENTION_NOTICE_DAYS: {
    value: wholeNumber(1, 90),
    default: "14",
    meaning:
      'How long before a soft deletion the people concerned are on the page "Today", and how long a changed policy ' +
      "deletes nobody.",
    example: "30",
  },
  RETENTION_HOLD_PEOPLE: {
    value: wholeNumber(0, 100_000),
    default: "20",
    meaning:
      "A run of the retention that would soft-delete more people of a school than this, and more than " +
      "`RETENTION_HOLD_PERCENT` of its people, is held until staff release it.",
    example: "10",
  },
  RETENTION_HOLD_PERCENT: {
    value: wholeNumber(0, 100),
    default: "25",
    meaning: "See `RETENTION_HOLD_PEOPLE`. With 100 no run is held.",
    example: "10",
  },
} as const satisfies Record<string, Option>;
