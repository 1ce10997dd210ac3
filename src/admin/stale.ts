import { AppError } from "../platform/errors.ts";
import { etagOf } from "../platform/http/index.ts";

/**
 * Ends a change that was made from an earlier state of its record.
 *
 * Shape: `current` is the record as it is, and `tag` its tag; null where there is none.
 */
export class StaleRecord extends AppError {
  readonly current: object | null;
  readonly tag: string | null;

  constructor(current: object | null, tag: string | null) {
    super("precondition_failed", "precondition_failed", "The record has changed since you read it.");
    this.current = current;
    this.tag = tag;
  }
}

/** The tag of a record without the properties that are not part of its state, such as counts. Ignores their order. */
export function tagOf<T extends object>(record: T, without: readonly (keyof T)[] = []): string {
  const state = Object.entries(record).filter(([name]) => !without.includes(name as keyof T));
  return etagOf(JSON.stringify(Object.fromEntries(state.sort(([a], [b]) => (a < b ? -1 : 1)))));
}

/**
 * Refuses a change of a record that is not the one that the caller read.
 *
 * Source: RFC 9110 section 13.1.1.
 * Errors: StaleRecord.
 */
export function refuseStale<T extends object>(
  headers: { "If-Match"?: string },
  current: T | null,
  without: readonly (keyof T)[] = [],
): void {
  const given = headers["If-Match"]?.trim();
  if (given === undefined) return;
  if (current === null) throw new StaleRecord(null, null);
  const tag = tagOf(current, without);
  if (given === "*" || given.split(",").some((one) => one.trim() === tag)) return;
  throw new StaleRecord(current, tag);
}
