import type { Option } from "../option.ts";
import { wholeNumber } from "../values.ts";

export const recordOptions = {
  RESTORE_WINDOW_DAYS: {
    value: wholeNumber(1, 3650),
    default: "30",
    meaning: "Time for which a deleted person can still be restored; then they are deleted for good.",
    example: "30",
  },
  SUPPORT_ROLE_DAYS: {
    value: wholeNumber(1, 90),
    default: "14",
    meaning:
      "Longest time for which the role SUPPORT is given. Roles that were given before a change of it keep their end.",
    example: "14",
  },
  CHANGE_FEED_DAYS: {
    value: wholeNumber(30, 3650),
    default: "35",
    meaning: "Days for which the change feed keeps events. The contract promises 30.",
    example: "35",
  },
  AUDIT_DAYS: {
    value: wholeNumber(30, 3650),
    default: "400",
    meaning:
      "Days for which the audit log keeps who did what, as ids and codes. It is removed by the month: a line goes with " +
      "the last one of its month. The id of a person who is deleted for good is removed at once.",
    example: "400",
  },
  IMPORTS_AT_ONCE: {
    value: wholeNumber(1, 100),
    default: null,
    defaultMeaning: "one for every two processors, 4 at most",
    meaning:
      "Rosters that all processes together read, compare and apply at a time; the others wait for their turn. Each takes " +
      "one connection and about one processor of PostgreSQL, and no process works on more than its share of " +
      "`DATABASE_POOL_SIZE` for imports (about one connection in ten), of which one is kept for previews.",
    example: "2",
  },
  IMPORT_HOLD_PERCENT: {
    value: wholeNumber(0, 100),
    default: null,
    defaultMeaning: "a third",
    meaning:
      "Share of a school's people or groups that an import may remove. One that would remove more is held until an " +
      "operator confirms it. With 100 none is held.",
    example: "10",
  },
} as const satisfies Record<string, Option>;
