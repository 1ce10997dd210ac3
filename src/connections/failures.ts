import type { SourceFailure } from "./sources/failure.ts";

/** What prevents a run, beside what is the matter with its source. */
type OwnFailure =
  ("SECRET_MISSING" | "FILE_REFUSED" | "FAULTS" | "COLUMNS_UNKNOWN") | ("QUEUE_FULL" | "INTERRUPTED" | "INTERNAL");
export type RunFailure = SourceFailure | OwnFailure;

/** They may be over in a while, so that the run is tried again soon, and nobody is told at once. */
const passing: ReadonlySet<RunFailure> = new Set<RunFailure>([
  ...(["UNREACHABLE", "TOO_SLOW", "HALF", "ANSWERED_BADLY"] as const),
  ...(["QUEUE_FULL", "INTERRUPTED", "INTERNAL"] as const),
]);

const minuteMs = 60_000;
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
