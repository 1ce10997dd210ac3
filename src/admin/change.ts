import { changeDirectory, previewChange } from "../access/index.ts";
import type { Change } from "../directory/index.ts";
import { recordDifference, type Origin } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { etagOf } from "../platform/http/index.ts";
import type { AdminDeps, Keep } from "./handler.ts";
import { presentViewChanges, type ViewChange } from "./view-changes.ts";

type Work = {
  /** Reads the record in the transaction; null if it does not exist. */
  record: (tx: Transaction) => Promise<object | null>;
  /** Locks and checks before `record` is read for the first time. */
  touch?: (change: Change) => Promise<void>;
  work: (change: Change, before: object | null) => Promise<unknown>;
  /** Keeps the record out of the audit log. */
  forgets?: boolean;
};

type Request = {
  query: { "dry-run"?: boolean };
  origin: Origin & { requestId: string };
};

type Done = { status: 204; headers: Record<string, string> } | { status: 200; body: ViewChange[] };

/** Makes a change and records the difference in its audit lines; `dry-run=true` rolls it back and shows its effect. */
export async function changeRecord(
  { db }: Pick<AdminDeps, "db">,
  { query, origin }: Request,
  { record, touch, work, tag, forgets = false }: Work & { tag?: (record: object) => string },
): Promise<Done> {
  const run = async (change: Change): Promise<object | null> => {
    await touch?.(change);
    const before = await record(change.tx);
    await work(change, before);
    const after = await record(change.tx);
    if (!forgets) await recordDifference(change.tx, origin, differenceOf(before, after));
    return after;
  };
  if (query["dry-run"] === true) {
    const body = await previewChange(db, origin, run, presentViewChanges);
    return { status: 200, body };
  }
  const after = await changeDirectory(db, origin, run);
  return { status: 204, headers: after === null || tag === undefined ? {} : { ETag: tag(after) } };
}

/** Creates a record, records it in the audit log and keeps the answer. `path` is the address of the list. */
export function createRecord<Made extends { id: string }>(
  { db }: Pick<AdminDeps, "db">,
  { origin, keep }: Pick<Request, "origin"> & { keep: Keep },
  { path, make, tag = tagOf }: { path: string; make: (change: Change) => Promise<Made>; tag?: (made: Made) => string },
): Promise<{ status: 201; body: Made; headers: Record<string, string> }> {
  return changeDirectory(db, origin, async (change) => {
    const body = await make(change);
    await recordDifference(change.tx, origin, { before: null, after: body });
    return keep(change.tx, {
      status: 201 as const,
      body,
      headers: { Location: `${path}/${body.id}`, ETag: tag(body) },
    });
  });
}

export function differenceOf(
  before: object | null,
  after: object | null,
): { before: object | null; after: object | null } {
  if (before === null || after === null) return { before, after };
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const names = [...new Set([...old.keys(), ...now.keys()])].filter(
    (name) => JSON.stringify(old.get(name)) !== JSON.stringify(now.get(name)),
  );
  const pick = (of: ReadonlyMap<string, unknown>) =>
    names.length === 0 ? null : Object.fromEntries(names.map((name) => [name, of.get(name) ?? null]));
  return { before: pick(old), after: pick(now) };
}

/** Refuses a change that was made from an earlier state of its record. `current` is null if there is no record now. */
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

/** Answers with a record and its tag. */
export const answerRecord = <T extends object>(body: T, without: readonly (keyof T)[] = []) => ({
  status: 200 as const,
  body,
  headers: { ETag: tagOf(body, without) },
});

/** Compares the record with `If-Match` and `If-None-Match: *` (RFC 9110 section 13.1). Errors: StaleRecord. */
export function refuseStale<T extends object>(
  headers: { "If-Match"?: string; "If-None-Match"?: "*" },
  current: T | null,
  without: readonly (keyof T)[] = [],
): void {
  if (headers["If-None-Match"] !== undefined && current !== null)
    throw new StaleRecord(current, tagOf(current, without));
  const expected = headers["If-Match"]?.trim();
  if (expected === undefined) return;
  if (current === null) throw new StaleRecord(null, null);
  const tag = tagOf(current, without);
  if (expected === "*" || expected.split(",").some((one) => one.trim() === tag)) return;
  throw new StaleRecord(current, tag);
}
