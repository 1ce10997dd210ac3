import { againAfterDeadlock, changeDirectory, previewChange } from "../access/index.ts";
import type { Change } from "../directory/index.ts";
import { recordDifference, type Origin } from "../events/index.ts";
import { withPrismaTransaction, type Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { etagOf } from "../platform/http/index.ts";
import type { AdminDeps, Keep, KeptAnswer } from "./handler.ts";
import { presentViewChanges, type ViewChange } from "./view-changes.ts";

type Preconditions = { "If-Match"?: string; "If-None-Match"?: "*"; "Idempotency-Key"?: string };

export type ChangeRequest = { headers: Preconditions; origin: Origin & { requestId: string }; keep: Keep };
export type PreviewedRequest = ChangeRequest & { query: { "dry-run"?: boolean } };

type Done = { status: 204; headers: Record<string, string> };
type Changed<Found, Result> = { after: Found | null; result: Result; headers: Record<string, string> };

/** How a record is changed; `Unit` is the transaction, or a change of the directory. */
type Steps<Unit, Found extends object | null, Result, Answer> = {
  /** Locks, and checks before the record is read for the first time. */
  touch?: (unit: Unit) => Promise<unknown>;
  record: (tx: Transaction) => Promise<Found>;
  work: (unit: Unit, before: Found) => Promise<Result>;
  /** Properties that are not part of the state of the record, such as counts. */
  without?: readonly (keyof NonNullable<Found>)[];
  /** What the audit log shows of the record; by default the whole record. */
  recorded?: (record: NonNullable<Found>, tx: Transaction) => object | Promise<object>;
  /** What the audit log shows while there is no record; by default nothing. */
  absent?: object;
  /** Null keeps the difference out of the audit lines that name a person. */
  personId?: null;
  /** `ends`: the record does not exist after the change. `forgets`: the audit log shows nothing of it. */
  effect?: "ends" | "forgets" | undefined;
  /** By default without a body, with the new tag. */
  answer?: ((changed: Changed<Found, Result>) => Answer) | undefined;
};

/**
 * Locks and reads a record, compares it with the preconditions of the request, changes it, records the difference in
 * the audit lines of the change, and answers with the new tag, or as `answer` says. Errors: StaleRecord.
 */
export async function changeIn<Unit, Found extends object | null, Result, Answer = Done>(
  { unit, tx, request }: { unit: Unit; tx: Transaction; request: Pick<ChangeRequest, "headers" | "origin"> },
  steps: Steps<Unit, Found, Result, Answer>,
): Promise<Answer> {
  const { touch, record: read, work, without = [], recorded = (whole) => whole, effect, answer, ...how } = steps;
  const { absent = null, ...lines } = how;
  const record = async (value: Found | null) => (value === null ? absent : recorded(value, tx));
  await touch?.(unit);
  const before = await read(tx);
  refuseStale(request.headers, before as NonNullable<Found> | null, without);
  const recordedBefore = await record(before);
  const result = await work(unit, before);
  const after = effect === "ends" ? null : await read(tx);
  if (effect !== "forgets")
    await recordDifference(tx, { ...request.origin, ...lines }, differenceOf(recordedBefore, await record(after)));
  const headers = after === null ? {} : { ETag: tagOf<NonNullable<Found>>(after, without) };
  return answer === undefined ? ({ status: 204, headers } as Answer) : answer({ after, result, headers });
}

/** Answers with the record as it is after the change. */
export const answerAfter = <Found extends object>({ after }: { after: Found | null }) => ({
  status: 200 as const,
  body: after!,
});

/** Runs a change in one transaction, again after a deadlock, and keeps its answer for a repeated request. */
export const commit = <Answer extends KeptAnswer>(
  { db }: Pick<AdminDeps, "db">,
  { keep }: Pick<ChangeRequest, "keep">,
  work: (tx: Transaction) => Promise<Answer>,
): Promise<Answer> => againAfterDeadlock(() => withPrismaTransaction(db, async (tx) => keep(tx, await work(tx))));

/** The same for a change of what apps may see. */
export const commitSeen = <Answer extends KeptAnswer>(
  { db }: Pick<AdminDeps, "db">,
  { origin, keep }: Pick<ChangeRequest, "origin" | "keep">,
  work: (change: Change) => Promise<Answer>,
): Promise<Answer> => changeDirectory(db, origin, async (change) => keep(change.tx, await work(change)));

/** The same for a change whose answer has no body. */
export const commitDone = (
  deps: Pick<AdminDeps, "db">,
  request: Pick<ChangeRequest, "keep">,
  work: (tx: Transaction) => Promise<unknown>,
) =>
  commit(deps, request, async (tx) => {
    await work(tx);
    return { status: 204 as const };
  });

/** A change of a record in its own transaction. */
export const changeRecord = <Found extends object | null, Result, Answer extends KeptAnswer = Done>(
  deps: Pick<AdminDeps, "db">,
  request: ChangeRequest,
  steps: Steps<Transaction, Found, Result, Answer>,
): Promise<Answer> => commit(deps, request, (tx) => changeIn({ unit: tx, tx, request }, steps));

/** The same for a change of what apps may see. */
export const changeSeen = <Found extends object | null, Result, Answer extends KeptAnswer = Done>(
  deps: Pick<AdminDeps, "db">,
  request: ChangeRequest,
  steps: Steps<Change, Found, Result, Answer>,
): Promise<Answer> => commitSeen(deps, request, (unit) => changeIn({ unit, tx: unit.tx, request }, steps));

/** The same with a preview: `dry-run=true` rolls the change back and shows its effect. */
export async function changeInDirectory<Found extends object | null>(
  deps: Pick<AdminDeps, "db">,
  request: PreviewedRequest,
  steps: Steps<Change, Found, unknown, Done>,
): Promise<Done | { status: 200; body: ViewChange[] }> {
  if (request.query["dry-run"] !== true) return changeSeen(deps, request, steps);
  const run = (unit: Change) => changeIn({ unit, tx: unit.tx, request }, steps);
  return { status: 200, body: await previewChange(deps.db, request.origin, run, presentViewChanges) };
}

type Made<Body extends object> = {
  body: Body;
  /** Its address, if it has one. */
  location?: string;
  /** What the audit log shows of it; null for nothing. */
  recorded?: object | null;
  /** Left out for a body that is not the record itself. */
  tag?: string;
};

/** Records a new record in the audit lines of its creation. */
export async function answerCreated<Body extends object>(
  tx: Transaction,
  { origin }: Pick<ChangeRequest, "origin">,
  { body, location, recorded = body, tag }: Made<Body>,
): Promise<{ status: 201; body: Body; headers: Record<string, string> }> {
  if (recorded !== null) await recordDifference(tx, origin, { before: null, after: recorded });
  const headers = { ...(location !== undefined && { Location: location }), ...(tag !== undefined && { ETag: tag }) };
  return { status: 201, body, headers };
}

/** Creates a record in one transaction: `make` returns it with what is answered and recorded. */
export const commitCreated = <Body extends object>(
  deps: Pick<AdminDeps, "db">,
  request: Pick<ChangeRequest, "origin" | "keep">,
  make: (tx: Transaction) => Promise<Made<Body>>,
) => commit(deps, request, async (tx) => answerCreated(tx, request, await make(tx)));

/** Creates a record of the directory. `path` is the address of the list. */
export const createRecord = <Body extends object & { id: string }>(
  deps: Pick<AdminDeps, "db">,
  request: Pick<ChangeRequest, "origin" | "keep">,
  { path, make, without }: { path: string; make: (change: Change) => Promise<Body>; without?: readonly (keyof Body)[] },
) =>
  commitSeen(deps, request, async (change) => {
    const body = await make(change);
    return answerCreated(change.tx, request, { body, location: `${path}/${body.id}`, tag: tagOf(body, without) });
  });

export function differenceOf(before: object | null, after: object | null) {
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
  const state = Object.entries(omit(record, without)).sort(([a], [b]) => (a < b ? -1 : 1));
  return etagOf(JSON.stringify(Object.fromEntries(state)));
}

export const omit = <T extends object>(record: T, names: readonly (keyof T)[]): object =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name as keyof T)));

export const answerRecord = <T extends object>(body: T, without: readonly (keyof T)[] = []) => ({
  status: 200 as const,
  body,
  headers: { ETag: tagOf(body, without) },
});

/** Compares the record with `If-Match` and `If-None-Match: *` (RFC 9110 section 13.1). Errors: StaleRecord. */
export function refuseStale<T extends object>(
  headers: Preconditions,
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
