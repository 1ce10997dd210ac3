import { changeDirectory, previewChange } from "../access/index.ts";
import type { Change } from "../directory/index.ts";
import { recordDifference, type Origin } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import type { AdminDeps, Keep } from "./handler.ts";
import { tagOf } from "./stale.ts";
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

/**
 * Makes a change, or looks at it with `dry-run=true`; what differs of the record goes into its audit lines.
 *
 * Shape:  `tag` makes the tag of the record after the change, where it has one.
 * Errors: those of the change.
 */
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

/**
 * Makes a record in a change of the directory, records it in the audit and keeps the answer.
 *
 * Shape: `make` answers the record as its GET does; `path` is the address of its list.
 */
export function createRecord<Made extends { id: string }>(
  { db }: Pick<AdminDeps, "db">,
  { origin, keep }: Pick<Request, "origin"> & { keep: Keep },
  { path, make, tag = tagOf }: { path: string; make: (change: Change) => Promise<Made>; tag?: (made: Made) => string },
): Promise<{ status: 201; body: Made; headers: Record<string, string> }> {
  return changeDirectory(db, origin, async (change) => {
    const body = await make(change);
    await recordDifference(change.tx, origin, { before: null, after: body });
    const answer = { status: 201 as const, body, headers: { Location: `${path}/${body.id}`, ETag: tag(body) } };
    await keep(change.tx, answer);
    return answer;
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
