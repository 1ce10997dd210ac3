import type { Option } from "../option.ts";
import { wholeNumber } from "../values.ts";

/** How long records are kept, and how much an import may remove. */
export const recordOptions = {
  RESTORE_WINDOW_DAYS: {
    value: wholeNumber(1, 3650),
    default: "30",
    meaning: "Time for which a deleted person can still be restored; then they are gone for good.",
    example: "30",
  },
  CHANGE_FEED_DAYS: {
    value: wholeNumber(30, 3650),
    default: "35",
    meaning: "Days for which the change feed keeps what apps were told. The contract promises them 30.",
    example: "35",
  },
  AUDIT_DAYS: {
    value: wholeNumber(30, 3650),
    default: "400",
    meaning:
      "Days for which the audit log keeps who did what, as ids and codes. The id of a person who is deleted for " +
      "good goes at once.",
    example: "400",
  },
  IMPORT_HOLD_PERCENT: {
    value: wholeNumber(0, 100),
    default: null,
    defaultMeaning: "a third",
    meaning:
      "What share of a school's people or groups an import may remove; one that would remove more is held until " +
      "somebody confirms it. 100 holds none.",
    example: "10",
  },
} as const satisfies Record<string, Option>;
