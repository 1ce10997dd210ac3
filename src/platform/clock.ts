export type Clock = () => Date;

/** This machine's clock, for local things such as the age of its files. */
export const systemClock: Clock = () => new Date();

export const addDays = (time: Date, days: number): Date => new Date(time.getTime() + days * 86_400_000);

// Days as text, such as 2026-02-03, in Germany, whose law and schools they are for.
const format = new Intl.DateTimeFormat("sv", { timeZone: "Europe/Berlin", dateStyle: "short" });

export const dayOf = (at: Date): string => format.format(at);

// PostgreSQL has no year 0, and later years have no four digits.
const [first, last] = [Date.parse("0001-01-01T00:00:00Z"), Date.parse("9999-12-31T23:59:59.999Z")];

/** Whether it is a day of the calendar, such as 2026-02-03. */
export function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`);
  return text.length === 10 && at.getTime() >= first && at.toISOString().startsWith(text);
}

const instant = /^(\d{4}-\d\d-\d\d)[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** Whether it is a time that there is, with its offset (RFC 3339); no leap second, which JavaScript does not know. */
export function isInstant(text: string): boolean {
  const day = instant.exec(text)?.[1];
  const at = Date.parse(text);
  return day !== undefined && isDay(day) && at >= first && at <= last;
}

const dayMs = 86_400_000;

/** Negative if `to` is before `from`. */
export const daysBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / dayMs;

/** The same day of a later month, or its last day if it has none (Regulation (EEC) 1182/71, Art. 3 (2)). */
export function addMonths(day: string, months: number): string {
  const [year, month, date] = day.split("-").map(Number) as [number, number, number];
  const lastDay = new Date(Date.UTC(year, month - 1 + months + 1, 0)).getUTCDate();
  return new Date(Date.UTC(year, month - 1 + months, Math.min(date, lastDay))).toISOString().slice(0, 10);
}
