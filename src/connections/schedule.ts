import { dayOf } from "../platform/clock.ts";

export const days = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"] as const;
export type Day = (typeof days)[number];

/** Days as text, such as 2026-07-02; the pause includes both. */
export type Schedule = {
  times: readonly string[];
  daysOff: readonly Day[];
  pauseFrom: string | null;
  pauseUntil: string | null;
};

const minuteMs = 60_000;
const format = new Intl.DateTimeFormat("sv", { timeZone: "Europe/Berlin", dateStyle: "short", timeStyle: "medium" });
const offsetAt = (at: number): number => Date.parse(`${format.format(at).replace(" ", "T")}Z`) - at;

/** The moment of a time in Germany. A time that the change to summer time leaves out is an hour later. */
function momentOf(day: string, time: string): Date {
  const local = Date.parse(`${day}T${time}:00Z`);
  const before = local - offsetAt(local - 120 * minuteMs);
  return new Date(offsetAt(before) === local - before ? before : local - offsetAt(local - 180 * minuteMs));
}

const dayAfter = (day: string): string => new Date(Date.parse(day) + 1440 * minuteMs).toISOString().slice(0, 10);
const nameOf = (day: string): Day => days[(new Date(day).getUTCDay() + 6) % 7]!;

/** Days after which every day of the week was looked at, and the pause was left. */
const mostDays = 10;

/** The first run after `now`; null for one that runs by hand only. */
export function nextRunAfter({ times, daysOff, pauseFrom, pauseUntil }: Schedule, now: Date): Date | null {
  let day = dayOf(now);
  for (let looked = 0; looked < mostDays && times.length > 0; looked++) {
    if (pauseFrom !== null && pauseUntil !== null && day >= pauseFrom && day <= pauseUntil) day = dayAfter(pauseUntil);
    if (!daysOff.includes(nameOf(day)))
      for (const time of times.toSorted()) {
        const at = momentOf(day, time);
        if (at > now) return at;
      }
    day = dayAfter(day);
  }
  return null;
}
