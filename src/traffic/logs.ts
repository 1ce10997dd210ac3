import type { Prisma } from "../../generated/prisma/client.ts";
import { workInBatches } from "../platform/jobs/batches.ts";
import { addDays, type Clock } from "../platform/clock.ts";
import { makeUuid, shortCodeOf } from "../platform/crypto/ids.ts";
import type { SentParameter } from "../platform/advice/sign-on/index.ts";
import { insert, run, sql, statement, table, tableRows, toJsonRows } from "../platform/database/sql.ts";
import type { NewRow, Queryable } from "../platform/database/sql.ts";

/** `code` is the error code of a refusal. */
export type ApiRequest = Prisma.ApiRequestModel;

/** Steps of one sign-on have the same `attempt`; the token request joins several with ">". */
export type SignOnStep = Omit<Prisma.SignOnStepModel, "outcome" | "sent"> & {
  outcome: "done" | "waiting" | "refused";
  /** Null for steps that are no requests of the app. */
  sent: SentParameter[] | null;
};

/** `readSent` is called only if the step is kept. */
type NotedStep = Omit<SignOnStep, "id" | "at" | "sent" | "shortCode"> & { readSent?: () => SentParameter[] };

const app = table("app", "app");
const logs = ["apiRequest", "signOnStep"] as const;

/** Lines of apps that were deleted meanwhile are left out. */
const insertLines = (name: (typeof logs)[number]) =>
  statement<{ lines: string }>(({ lines }) => {
    const line = tableRows(lines, "line", name);
    // A line has all columns of its table.
    return insert(
      name,
      line as unknown as NewRow<typeof name>,
      sql`FROM ${line} JOIN ${app} ON ${app.clientId} = ${line.clientId}`,
    );
  });
const insertRequests = insertLines("apiRequest");
const insertSteps = insertLines("signOnStep");

const minuteMs = 60_000;
const mostKeys = 50_000;
/** Lines that a process keeps per app and minute; of successful calls, the first of each operation. */
const keptPerMinute = { refusedRequest: 60, step: 120, refusedStep: 60 };

export type Logs = {
  noteRequest(request: Omit<ApiRequest, "id" | "at" | "shortCode">): void;
  noteStep(step: NotedStep): void;
  flush(): Promise<void>;
};

export function makeLogs({ db, clock }: { db: { pool: Queryable }; clock: Clock }): Logs {
  let requests: ApiRequest[] = [];
  let steps: SignOnStep[] = [];
  let minute = 0;
  let countOf = new Map<string, number>();

  function isWithinLimit(key: string, most: number, at: Date): boolean {
    const now = Math.floor(at.getTime() / minuteMs);
    if (now !== minute) {
      minute = now;
      countOf = new Map();
    }
    const count = countOf.get(key) ?? 0;
    if (count >= most || (count === 0 && countOf.size >= mostKeys)) return false;
    countOf.set(key, count + 1);
    return true;
  }

  return {
    noteRequest(request) {
      const at = clock();
      const { clientId, operationId, status } = request;
      const isKept =
        status >= 400
          ? isWithinLimit(`refused ${clientId}`, keptPerMinute.refusedRequest, at)
          : isWithinLimit(`${operationId} ${clientId}`, 1, at);
      if (isKept) requests.push({ ...request, shortCode: shortCodeOf(request.requestId), at, id: makeUuid(at) });
    },
    noteStep({ readSent, ...step }) {
      const at = clock();
      const share = step.outcome === "refused" ? "refusedStep" : "step";
      if (!isWithinLimit(`${share} ${step.clientId}`, keptPerMinute[share], at)) return;
      const shortCode = shortCodeOf(step.requestId);
      steps.push({ ...step, sent: readSent?.() ?? null, shortCode, at, id: makeUuid(at) });
    },
    async flush() {
      const [newRequests, newSteps] = [requests, steps];
      requests = [];
      steps = [];
      if (newRequests.length > 0) await run(db.pool, insertRequests, { lines: toJsonRows("apiRequest", newRequests) });
      if (newSteps.length > 0) await run(db.pool, insertSteps, { lines: toJsonRows("signOnStep", newSteps) });
    },
  };
}

const deleteOld = (name: (typeof logs)[number]) => {
  const line = table(name, "line");
  return statement<{ before: Date; batch: number }>(`traffic.sweep_${name}`)`
    DELETE FROM ${line} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${line} WHERE ${line.at} < ${"before"} ORDER BY ${line.at} LIMIT ${"batch"}))`;
};

// Only apps with recent lines. The newest surplus line is found in the index.
const deleteSurplus = (name: (typeof logs)[number]) => {
  const line = table(name, "line");
  return statement<{ since: Date; most: number; batch: number }>(`traffic.limit_${name}`)`
    DELETE FROM ${line} WHERE ctid = ANY (ARRAY(
      SELECT surplus.ctid FROM (SELECT DISTINCT ${line.clientId} FROM ${line} WHERE ${line.at} >= ${"since"}) active
      CROSS JOIN LATERAL (
        SELECT ${line.id} FROM ${line} WHERE ${line.clientId} = active.client_id
        ORDER BY ${line.id} DESC OFFSET ${"most"} LIMIT 1) newest
      CROSS JOIN LATERAL (
        SELECT ctid FROM ${line} WHERE ${line.clientId} = active.client_id AND ${line.id} <= newest.id
        ORDER BY ${line.id} LIMIT ${"batch"}) surplus
      LIMIT ${"batch"}))`;
};

const keptLines = { requests: 1000, steps: 5000, days: 7 };

const sweeps = logs.map((name) => ({
  most: name === "apiRequest" ? keptLines.requests : keptLines.steps,
  deleteOld: deleteOld(name),
  deleteSurplus: deleteSurplus(name),
}));

/** Lines are written at most this long after their `at`; later ones are handled with the app's next lines. */
const lateMs = 5 * minuteMs;

/** Each run looks at apps with lines since the previous run. */
export function makeLogSweep({ db, clock }: { db: Queryable; clock: Clock }): (signal: AbortSignal) => Promise<void> {
  let since = new Date(0);
  return async (signal) => {
    const now = clock();
    for (const { most, ...sweep } of sweeps) {
      const before = addDays(now, -keptLines.days);
      await workInBatches(signal, (batch) => run(db, sweep.deleteOld, { before, batch }));
      await workInBatches(signal, (batch) => run(db, sweep.deleteSurplus, { since, most, batch }));
    }
    if (!signal.aborted) since = new Date(now.getTime() - lateMs);
  };
}
