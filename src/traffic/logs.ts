import { removeInBatches } from "../platform/jobs/batches.ts";
import { addDays, type Clock } from "../platform/clock.ts";
import type { Queryable } from "../platform/database/db.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import type { SentParameter } from "../platform/advice/sign-on/index.ts";
import { insert, run, sql, statement, table, type Sql } from "../platform/database/sql.ts";

/** A call of an API. Units: durationMs in milliseconds. Shape: `code` is that of a refusal. */
export type ApiRequest = {
  id: string;
  clientId: string;
  requestId: string;
  at: Date;
  operationId: string;
  status: number;
  code: string | null;
  durationMs: number;
};

/**
 * A step of a sign-on.
 *
 * Shape: the steps of one sign-on have the same `attempt`; the step `code` has several with `>` between: of the
 *        authorization request first, then of what the code is exchanged for, and of the code.
 */
export type SignOnStep = {
  id: string;
  clientId: string;
  requestId: string;
  at: Date;
  attempt: string;
  step: string;
  outcome: "done" | "waiting" | "refused";
  code: string | null;
  description: string | null;
  /** What the app sent, of the steps that are requests of the app. */
  sent: SentParameter[] | null;
};

/** Shape: `readSent` is called only for a step that is kept. */
export type NotedStep = Omit<SignOnStep, "id" | "at" | "sent"> & { readSent?: () => SentParameter[] };
type StepRow = Omit<SignOnStep, "sent"> & { sent: string | null };

type Columns<Row> = { [Name in keyof Row]: readonly unknown[] };

const columnsOf = <Row extends object>(rows: readonly Row[], names: readonly (keyof Row)[]): Columns<Row> =>
  Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])])) as unknown as Columns<Row>;

const app = table("app", "app");
const stillThere: Sql = sql`JOIN ${app} ON ${app.clientId} = noted.client_id`;

const requestNames = ["id", "clientId", "requestId", "at", "operationId", "status", "code", "durationMs"] as const;
const insertRequests = statement<Columns<ApiRequest>>((given) =>
  insert(
    "apiRequest",
    {
      id: sql`noted.id`,
      clientId: sql`noted.client_id`,
      requestId: sql`noted.request_id`,
      at: sql`noted.at`,
      operationId: sql`noted.operation_id`,
      status: sql`noted.status`,
      code: sql`noted.code`,
      durationMs: sql`noted.duration_ms`,
    },
    sql`FROM unnest(${given.id}::uuid[], ${given.clientId}::text[], ${given.requestId}::text[],
      ${given.at}::timestamptz[], ${given.operationId}::text[], ${given.status}::int[], ${given.code}::text[],
      ${given.durationMs}::int[])
      AS noted (id, client_id, request_id, at, operation_id, status, code, duration_ms) ${stillThere}`,
  ),
);

const stepNames = [
  ...(["id", "clientId", "requestId", "at", "attempt"] as const),
  ...(["step", "outcome", "code", "description", "sent"] as const),
];
const insertSteps = statement<Columns<StepRow>>((given) =>
  insert(
    "signOnStep",
    {
      id: sql`noted.id`,
      clientId: sql`noted.client_id`,
      requestId: sql`noted.request_id`,
      at: sql`noted.at`,
      attempt: sql`noted.attempt`,
      step: sql`noted.step`,
      outcome: sql`noted.outcome`,
      code: sql`noted.code`,
      description: sql`noted.description`,
      sent: sql`noted.sent::jsonb`,
    },
    sql`FROM unnest(${given.id}::uuid[], ${given.clientId}::text[], ${given.requestId}::text[],
      ${given.at}::timestamptz[], ${given.attempt}::text[], ${given.step}::text[], ${given.outcome}::text[],
      ${given.code}::text[], ${given.description}::text[], ${given.sent}::text[])
      AS noted (id, client_id, request_id, at, attempt, step, outcome, code, description, sent) ${stillThere}`,
  ),
);

const minuteMs = 60_000;
const mostKeys = 50_000;
/** How many lines of one app a process keeps in a minute; of calls that succeed, the first of each operation. */
const mostInMinute = { refusedRequest: 60, step: 120, refusedStep: 60 };

export type Logs = {
  noteRequest(request: Omit<ApiRequest, "id" | "at">): void;
  noteStep(step: NotedStep): void;
  flush(): Promise<void>;
};

/** Makes UUIDs of version 7 that order by time and, within a millisecond, by when they were made (up to 4,096). */
function makeIds(): (at: Date) => string {
  let [last, count] = [0, 0];
  return (at) => {
    count = at.getTime() === last ? (count + 1) % 4096 : 0;
    last = at.getTime();
    const id = makeUuid(at);
    return id.slice(0, 15) + count.toString(16).padStart(3, "0") + id.slice(18);
  };
}

/** Makes the logs of one process, which are written together. What exceeds the shares of a minute is left out. */
export function makeLogs({ db, clock }: { db: { pool: Queryable }; clock: Clock }): Logs {
  let requests: ApiRequest[] = [];
  let steps: StepRow[] = [];
  let minute = 0;
  let kept = new Map<string, number>();
  const nextId = makeIds();

  /** Whether one more has a place in this minute. */
  function hasPlace(key: string, most: number, at: Date): boolean {
    const now = Math.floor(at.getTime() / minuteMs);
    if (now !== minute) {
      minute = now;
      kept = new Map();
    }
    const count = kept.get(key) ?? 0;
    if (count >= most || (count === 0 && kept.size >= mostKeys)) return false;
    kept.set(key, count + 1);
    return true;
  }

  return {
    noteRequest(request) {
      const at = clock();
      const { clientId, operationId, status } = request;
      const isKept =
        status >= 400
          ? hasPlace(`refused ${clientId}`, mostInMinute.refusedRequest, at)
          : hasPlace(`${operationId} ${clientId}`, 1, at);
      if (isKept) requests.push({ ...request, at, id: nextId(at) });
    },
    noteStep({ readSent, ...step }) {
      const at = clock();
      const share = step.outcome === "refused" ? "refusedStep" : "step";
      if (!hasPlace(`${share} ${step.clientId}`, mostInMinute[share], at)) return;
      const sent = readSent === undefined ? null : JSON.stringify(readSent());
      steps.push({ ...step, sent, at, id: nextId(at) });
    },
    async flush() {
      const [noted, taken] = [requests, steps];
      requests = [];
      steps = [];
      if (noted.length > 0) await run(db.pool, insertRequests, columnsOf(noted, requestNames));
      if (taken.length > 0) await run(db.pool, insertSteps, columnsOf(taken, stepNames));
    },
  };
}

const logs = ["apiRequest", "signOnStep"] as const;

const deleteOld = (name: (typeof logs)[number]) => {
  const line = table(name, "line");
  return statement<{ before: Date; batch: number }>(
    ({ before, batch }) => sql`DELETE FROM ${line} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${line} WHERE ${line.at} < ${before} ORDER BY ${line.at} LIMIT ${batch}))`,
    `traffic.sweep_${name}`,
  );
};

type Surplus = { since: Date; most: number; batch: number };

// Of the apps with lines since then. The first line beyond the share is found in the index alone.
const deleteSurplus = (name: (typeof logs)[number]) => {
  const line = table(name, "line");
  return statement<Surplus>(
    ({ since, most, batch }) => sql`DELETE FROM ${line} WHERE ctid = ANY (ARRAY(
      SELECT surplus.ctid FROM (SELECT DISTINCT ${line.clientId} FROM ${line} WHERE ${line.at} >= ${since}) active
      CROSS JOIN LATERAL (
        SELECT ${line.id} FROM ${line} WHERE ${line.clientId} = active.client_id
        ORDER BY ${line.id} DESC OFFSET ${most} LIMIT 1) newest
      CROSS JOIN LATERAL (
        SELECT ctid FROM ${line} WHERE ${line.clientId} = active.client_id AND ${line.id} <= newest.id
        ORDER BY ${line.id} LIMIT ${batch}) surplus
      LIMIT ${batch}))`,
    `traffic.limit_${name}`,
  );
};

/** How many lines of an app are kept, and how many days. */
export const keptLines = { requests: 1000, steps: 5000, days: 7 };

const sweeps = logs.map((name) => ({
  most: name === "apiRequest" ? keptLines.requests : keptLines.steps,
  deleteOld: deleteOld(name),
  deleteSurplus: deleteSurplus(name),
}));

/** Lines are written this much later than what they tell at most; those that come later wait for the app's next one. */
const lateMs = 5 * minuteMs;

/**
 * Makes what deletes the lines that are older than they are kept, and of each app what is more than its share.
 *
 * Shape: a run looks at the apps that have lines since the one before, the first run at all.
 */
export function makeLogSweep({ db, clock }: { db: Queryable; clock: Clock }): (signal: AbortSignal) => Promise<void> {
  let since = new Date(0);
  return async (signal) => {
    const now = clock();
    for (const { most, ...sweep } of sweeps) {
      const before = addDays(now, -keptLines.days);
      await removeInBatches(signal, (batch) => run(db, sweep.deleteOld, { before, batch }));
      await removeInBatches(signal, (batch) => run(db, sweep.deleteSurplus, { since, most, batch }));
    }
    if (!signal.aborted) since = new Date(now.getTime() - lateMs);
  };
}
