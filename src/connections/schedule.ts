import { dayOf } from "../platform/clock.ts";
import type { SourceFailure } from "./sources/failure.ts";

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
const weekdayOf = (day: string): Day => days[(new Date(day).getUTCDay() + 6) % 7]!;

/** Days after which every day of the week was looked at, and the pause was left. */
const mostDays = 10;

/** The first run after `now`; null for one that runs by hand only. */
export function nextRunAfter({ times, daysOff, pauseFrom, pauseUntil }: Schedule, now: Date): Date | null {
  let day = dayOf(now);
  for (let looked = 0; looked < mostDays && times.length > 0; looked++) {
    if (pauseFrom !== null && pauseUntil !== null && day >= pauseFrom && day <= pauseUntil) day = dayAfter(pauseUntil);
    if (!daysOff.includes(weekdayOf(day)))
      for (const time of times.toSorted()) {
        const at = momentOf(day, time);
        if (at > now) return at;
      }
    day = dayAfter(day);
  }
  return null;
}

/** Failures of a run that do not come from its source. */
type OwnFailure =
  ("SECRET_MISSING" | "FILE_REFUSED" | "FAULTS" | "COLUMNS_UNKNOWN") | ("QUEUE_FULL" | "INTERRUPTED" | "INTERNAL");
export type RunFailure = SourceFailure | OwnFailure;

/** Failures that may end by themselves: retried within hours; a notice is sent after as many failures as retries. */
const passing: ReadonlySet<RunFailure> = new Set<RunFailure>([
  ...(["UNREACHABLE", "TOO_SLOW", "HALF", "ANSWERED_BADLY"] as const),
  ...(["QUEUE_FULL", "INTERRUPTED", "INTERNAL"] as const),
]);

const retryMinutes = [5, 30, 120];
/** After so many failures it is tried once a day at most. */
const many = 10;

export const isWorthTelling = (failure: RunFailure, failures: number): boolean =>
  !passing.has(failure) || failures >= retryMinutes.length;

/** When a failed run is tried again; `next` gives the regular run after a time. */
export function retryAt(
  failure: RunFailure,
  { failures, now, next }: { failures: number; now: Date; next: (after: Date) => Date | null },
): Date | null {
  const regular = next(failures >= many ? new Date(now.getTime() + 23 * 60 * minuteMs) : now);
  const minutes = passing.has(failure) ? retryMinutes[failures - 1] : undefined;
  if (minutes === undefined || regular === null) return regular;
  const soon = new Date(now.getTime() + minutes * minuteMs);
  return soon < regular ? soon : regular;
}
