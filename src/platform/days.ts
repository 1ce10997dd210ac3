// Days as text, such as 2026-02-03, in Germany, whose law and schools they are for.
const format = new Intl.DateTimeFormat("sv", { timeZone: "Europe/Berlin", dateStyle: "short" });

export const dayOf = (at: Date): string => format.format(at);

/** Whether it is a day of the calendar, such as 2026-02-03. */
export function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`);
  return text.length === 10 && !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
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
