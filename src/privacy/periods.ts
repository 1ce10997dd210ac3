import type { Words } from "./words.ts";

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

/** What a school or its state decides; `{count}` is the number. */
export const retentionWords = {
  leftMonths: { de: "Nach dem Ausscheiden aufbewahrt: {count} Monate", en: "Kept after leaving: {count} months" },
  inactiveMonths: {
    de: "Gelöscht nach so langer Zeit ohne Anmeldung: {count} Monate",
    en: "Deleted after this time without a sign-in: {count} months",
  },
  restoreDays: {
    de: "Nach der Löschung wiederherstellbar: {count} Tage",
    en: "Can be restored after the deletion: {count} days",
  },
  auditDays: { de: "Protokoll aufbewahrt: {count} Tage", en: "Audit log kept: {count} days" },
} as const satisfies Record<string, Words>;

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

/** `{days}` in the text is the number of the setting. */
export type Period = Words & {
  /** Left out if the period is fixed. */
  setting?: Setting;
  /** Where leavers are kept for `{months}` first. */
  delayed?: Words;
  /** Added where people are deleted after `{inactive}` months without a sign-in. */
  unused?: Words;
};

/** When data is deleted. */
export const periods = {
  LEFT: {
    de: "{days} Tage nach dem Ausscheiden aus der letzten Schule (bis dahin ist die Person wiederherstellbar)",
    en: "{days} days after the person left their last school (until then they can be restored)",
    delayed: {
      de:
        "{months} Monate nach dem Ausscheiden aus der letzten Schule und danach noch {days} Tage (bis dahin ist die Person " +
        "wiederherstellbar)",
      en:
        "{months} months after the person left their last school and then {days} days (until then they can be " +
        "restored)",
    },
    unused: {
      de: "ebenso nach {inactive} Monaten ohne Anmeldung",
      en: "the same after {inactive} months without a sign-in",
    },
    setting: "deletedPersonDays",
  },
  WITH_PERSON: {
    de: "mit der Person, oder wenn es zurückgenommen wird",
    en: "with the person, or when it is withdrawn",
  },
  WITH_SIGN_IN: { de: "mit dem Ende der Sitzung oder des Tokens", en: "when the session or token ends" },
  UNTIL_TOLD: { de: "nach der Zustellung, spätestens nach 70 Minuten", en: "when delivered, 70 minutes at most" },
  AT_ONCE: { de: "nach Sekunden", en: "after seconds" },
  WORK: { de: "mit dem Ende der Arbeit", en: "when the work ends" },
  HOUR: { de: "nach einer Stunde, spätestens einem Tag", en: "after an hour, a day at most" },
  HALF_DAY: { de: "12 Stunden nach dem letzten Versuch", en: "12 hours after the last try" },
  DAY: { de: "nach einem Tag", en: "after a day" },
  PRINTED: { de: "nach dem Druck, spätestens nach zehn Minuten", en: "when printed, ten minutes at most" },
  WEEK: {
    de: "nach sieben Tagen, früher wenn der Import angewendet oder abgebrochen wird",
    en: "after seven days, earlier if the import is applied or cancelled",
  },
  REQUEST_LOG: { de: "nach sieben Tagen", en: "after seven days" },
  CARD: {
    de: "90 Tage nach dem Sperren der Karte, oder wenn die Person die Schule verlässt",
    en: "90 days after the card was revoked, or when the person leaves the school",
  },
  DEVICE: { de: "180 Tage nach der letzten Benutzung", en: "180 days after it was last used" },
  UNDO: {
    de: "{days} Tage (so lange kann der Import rückgängig gemacht werden)",
    en: "{days} days, in which the import can be undone",
    setting: "deletedPersonDays",
  },
  EVENTS: {
    de: "{days} Tage",
    en: "{days} days",
    setting: "eventDays",
  },
  DELIVERIES: {
    de: "{days} Tage nach der Zustellung",
    en: "{days} days after the delivery",
    setting: "deliveryDays",
  },
  RECORDS: {
    de: "{days} Tage nach dem Ende, spätestens mit der Person",
    en: "{days} days after the end, with the person at the latest",
    setting: "recordDays",
  },
  ERASURES: {
    de: "30 Tage nachdem die App gelöscht hat, sonst nach {days} Tagen",
    en: "30 days after the app erased the data, otherwise after {days} days",
    setting: "erasureDays",
  },
  RECORDS_WITHOUT_PERSON: {
    de: "{days} Tage nach dem Abschluss; nach der Löschung der Person ohne deren Kennung",
    en: "{days} days after it was closed; without the id of a person who was deleted",
    setting: "recordDays",
  },
  AUDIT: {
    de: "{days} Tage, monatsweise (die Kennung einer gelöschten Person sofort)",
    en: "{days} days, by the month (the id of a deleted person at once)",
    setting: "auditDays",
  },
  MONTH: { de: "nach 30 Tagen, spätestens mit der Person", en: "after 30 days, with the person at the latest" },
  YEAR: {
    de: "der Prüfwert ein Jahr nach der Löschung, damit nicht gleich jemand anderes den Benutzernamen bekommt",
    en: "the hash for a year after the deletion, so that nobody else gets the user name at once",
  },
  MOVE: { de: "mit dem Wechsel der Kennungen einer App", en: "with the move of an app to ids of its own" },
  WITH_APP: { de: "mit der App", en: "with the app" },
  WITH_SCHOOL: {
    de: "mit der Schule (die Kennung einer gelöschten Person sofort)",
    en: "with the school (the id of a deleted person at once)",
  },
  AGREED: { de: "bleibt, wenn eine Schule zugestimmt hat", en: "kept if a school agreed to it" },
  KEPT: { de: "bleibt, ohne Namen: nichts wird zweimal vergeben", en: "kept, without names: nothing is given twice" },
  IMPORTS: { de: "die Liste der Importe bleibt, ohne Personen", en: "the list of imports is kept, without people" },
  IN_APP: {
    de: "in der App, bis die Schule den Zugriff zurücknimmt und der Anbieter löscht",
    en: "in the app, until the school revokes the access and the provider deletes the data",
  },
  OPERATOR: { de: "nach der Festlegung des Betreibers", en: "as the operator decides" },
} as const satisfies Record<string, Period>;

export type PeriodCode = keyof typeof periods;

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
  const { delayed, unused, setting, ...atOnce }: Period = periods[code];
  const text = days.leftMonths > 0 ? (delayed ?? atOnce) : atOnce;
  const numbers = {
    ...(setting !== undefined && { days: days[setting] }),
    months: days.leftMonths,
    inactive: days.inactiveMonths,
  };
  const write = (language: keyof Words) =>
    [text, ...(unused !== undefined && days.inactiveMonths > 0 ? [unused] : [])]
      .map((words) => fill(words[language], numbers))
      .join("; ");
  return { de: write("de"), en: write("en") };
}

export function retentionText(word: RetentionWord, count: number): Words {
  const { de, en } = retentionWords[word];
  return { de: fill(de, { count }), en: fill(en, { count }) };
}
