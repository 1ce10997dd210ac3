import { retentionWords, type Words } from "./words.ts";
import words from "./words.json" with { type: "json" };

/** The periods of this service that its operator can change, or at a school those of the school. */
export type Days = Record<
  "deletedPersonDays" | "auditDays" | "eventDays" | "deliveryDays" | "recordDays" | "erasureDays",
  number
> & {
  /** Months after leaving until the soft deletion. */
  leftMonths: number;
  /** Months without a sign-in until the soft deletion; 0 for never. */
  inactiveMonths: number;
};

/** What a school or its state decides; `{count}` in a text is the number. */
type RetentionWord = keyof typeof retentionWords;

/** The variables that set them. */
export const variables = {
  deletedPersonDays: "RESTORE_WINDOW_DAYS",
  auditDays: "AUDIT_DAYS",
  eventDays: "CHANGE_FEED_DAYS",
  deliveryDays: "WEBHOOK_LOG_DAYS",
  recordDays: "PRIVACY_RECORD_DAYS",
  erasureDays: "ERASURE_DAYS",
} as const satisfies Record<Setting, string>;

type Setting = Exclude<keyof Days, "leftMonths" | "inactiveMonths">;

type Period = Words & {
  /** Where leavers are kept for `{months}` first. */
  delayed?: Words;
  /** Added where people are deleted after `{inactive}` months without a sign-in. */
  unused?: Words;
};

export type PeriodCode = keyof typeof words.periods;

/** `{days}` in the text is the number of the setting; other periods are fixed. */
const settings: { readonly [Code in PeriodCode]?: Setting } = {
  LEFT: "deletedPersonDays",
  UNDO: "deletedPersonDays",
  EVENTS: "eventDays",
  DELIVERIES: "deliveryDays",
  RECORDS: "recordDays",
  ERASURES: "erasureDays",
  RECORDS_WITHOUT_PERSON: "recordDays",
  AUDIT: "auditDays",
};

const ofOne: Readonly<Record<string, string>> = {
  Tage: "Tag",
  Tagen: "Tag",
  Monate: "Monat",
  Monaten: "Monat",
  days: "day",
  months: "month",
};

/** Fills in numbers; each is followed by its unit, which is in the singular after 1. */
const fill = (text: string, numbers: Readonly<Record<string, number>>): string =>
  text.replaceAll(/\{(\w+)\} (\w+)/g, (_all, name: string, unit: string) =>
    numbers[name] === 1 ? `1 ${ofOne[unit]!}` : `${numbers[name]!} ${unit}`,
  );

/** A period in words, with the days of this service or of a school. */
export function periodText(code: PeriodCode, days: Days): Words {
  const { delayed, unused, ...atOnce }: Period = words.periods[code];
  const setting = settings[code];
  const text = days.leftMonths > 0 ? (delayed ?? atOnce) : atOnce;
  const numbers = {
    ...(setting !== undefined && { days: days[setting] }),
    months: days.leftMonths,
    inactive: days.inactiveMonths,
  };
  const write = (language: keyof Words) =>
    [text, ...(unused !== undefined && days.inactiveMonths > 0 ? [unused] : [])]
      .map((one) => fill(one[language], numbers))
      .join("; ");
  return { de: write("de"), en: write("en") };
}

export function retentionText(word: RetentionWord, count: number): Words {
  const { de, en } = retentionWords[word];
  return { de: fill(de, { count }), en: fill(en, { count }) };
}
