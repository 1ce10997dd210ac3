import type { Words } from "./words.ts";

/** The periods of this service that its operator can change. */
export type Days = {
  deletedPersonDays: number;
  auditDays: number;
  eventDays: number;
  deliveryDays: number;
  recordDays: number;
};

/** The variables that set them. */
export const variables = {
  deletedPersonDays: "RESTORE_WINDOW_DAYS",
  auditDays: "AUDIT_DAYS",
  eventDays: "CHANGE_FEED_DAYS",
  deliveryDays: "WEBHOOK_LOG_DAYS",
  recordDays: "PRIVACY_RECORD_DAYS",
} as const satisfies Record<keyof Days, string>;

export type Period = {
  /** `{days}` is the number of the setting. */
  text: Words;
  /** Left out if the period is fixed. */
  setting?: keyof Days;
  /** What prisma/GROWTH.md says of each table with this period; left out if no table has it. */
  growth?: string;
};

/** When data is deleted. */
export const periods = {
  LEFT: {
    text: {
      de: "{days} Tage nach dem Ausscheiden aus der letzten Schule (bis dahin ist die Person wiederherstellbar)",
      en: "{days} days after the person left their last school (until then they can be restored)",
    },
    setting: "deletedPersonDays",
    growth: "`RESTORE_WINDOW_DAYS`",
  },
  WITH_PERSON: {
    text: { de: "mit der Person, oder wenn es zurückgenommen wird", en: "with the person, or when it is withdrawn" },
    growth: "person( or the app)? is deleted|person removes it|they are deleted|holder is deleted|person leaves",
  },
  WITH_SIGN_IN: {
    text: { de: "mit dem Ende der Sitzung oder des Tokens", en: "when the session or token ends" },
    growth: "SESSION_SECONDS",
  },
  UNTIL_TOLD: {
    text: { de: "nach der Zustellung, spätestens nach 70 Minuten", en: "when delivered, 70 minutes at most" },
    growth: "70 minutes",
  },
  AT_ONCE: { text: { de: "nach Sekunden", en: "after seconds" }, growth: "ended|a second later" },
  WORK: { text: { de: "mit dem Ende der Arbeit", en: "when the work ends" }, growth: "the work ends" },
  HOUR: {
    text: { de: "nach einer Stunde, spätestens einem Tag", en: "after an hour, a day at most" },
    growth: "an hour",
  },
  HALF_DAY: {
    text: { de: "12 Stunden nach dem letzten Versuch", en: "12 hours after the last try" },
    growth: "12 hours",
  },
  DAY: { text: { de: "nach einem Tag", en: "after a day" }, growth: "a day" },
  PRINTED: {
    text: { de: "nach dem Druck, spätestens nach zehn Minuten", en: "when printed, ten minutes at most" },
    growth: "ten minutes",
  },
  WEEK: {
    text: {
      de: "nach sieben Tagen, früher wenn der Import angewendet oder abgebrochen wird",
      en: "after seven days, earlier if the import is applied or cancelled",
    },
    growth: "seven days",
  },
  REQUEST_LOG: { text: { de: "nach sieben Tagen", en: "after seven days" }, growth: "7 days" },
  CARD: {
    text: {
      de: "90 Tage nach dem Sperren der Karte, oder wenn die Person die Schule verlässt",
      en: "90 days after the card was revoked, or when the person leaves the school",
    },
    growth: "90 days",
  },
  DEVICE: {
    text: { de: "180 Tage nach der letzten Benutzung", en: "180 days after it was last used" },
    growth: "180 days",
  },
  UNDO: {
    text: {
      de: "{days} Tage, in denen der Import rückgängig gemacht werden kann",
      en: "{days} days, in which the import can be undone",
    },
    setting: "deletedPersonDays",
    growth: "`RESTORE_WINDOW_DAYS`",
  },
  EVENTS: {
    text: { de: "{days} Tage", en: "{days} days" },
    setting: "eventDays",
    growth: "`CHANGE_FEED_DAYS`",
  },
  DELIVERIES: {
    text: { de: "{days} Tage nach der Zustellung", en: "{days} days after the delivery" },
    setting: "deliveryDays",
    growth: "`WEBHOOK_LOG_DAYS`|with its delivery",
  },
  RECORDS: {
    text: {
      de: "{days} Tage nach dem Ende, spätestens mit der Person",
      en: "{days} days after the end, with the person at the latest",
    },
    setting: "recordDays",
    growth: "`PRIVACY_RECORD_DAYS`",
  },
  AUDIT: {
    text: {
      de: "{days} Tage, monatsweise (die Kennung einer gelöschten Person sofort)",
      en: "{days} days, by the month (the id of a deleted person at once)",
    },
    setting: "auditDays",
    growth: "`AUDIT_DAYS`",
  },
  HANDOVER: {
    text: { de: "30 Tage nach Ablauf des Angebots", en: "30 days after the offer would expire" },
    growth: "30 days",
  },
  WITH_APP: { text: { de: "mit der App", en: "with the app" }, growth: "the app is deleted" },
  KEPT: {
    text: { de: "bleibt, ohne Namen: nichts wird zweimal vergeben", en: "kept, without names: nothing is given twice" },
    growth: "never deleted",
  },
  IMPORTS: {
    text: { de: "die Liste der Importe bleibt, ohne Personen", en: "the list of imports is kept, without people" },
    growth: "never deleted",
  },
  IN_APP: {
    text: {
      de: "in der App, bis die Schule den Zugriff zurücknimmt und der Anbieter löscht",
      en: "in the app, until the school revokes the access and the provider deletes the data",
    },
  },
  OPERATOR: { text: { de: "nach der Festlegung des Betreibers", en: "as the operator decides" } },
} as const satisfies Record<string, Period>;

export type PeriodCode = keyof typeof periods;

/** A period in words, with the days of this service. */
export function periodText(code: PeriodCode, days: Days): Words {
  const { text, setting }: Period = periods[code];
  const fill = (words: string) => words.replace("{days}", () => String(setting === undefined ? "" : days[setting]));
  return { de: fill(text.de), en: fill(text.en) };
}
