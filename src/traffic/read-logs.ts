import type { RecordStore } from "../platform/database/db.ts";
import { fields, makeFind, pick, type Queryable, table } from "../platform/database/sql.ts";
import type { ApiRequest, SignOnStep } from "./logs.ts";

type RequestQuery = {
  clientId: string;
  /** The id, or what an error page shows of it. */
  requestId?: string | undefined;
  onlyRefused?: boolean | undefined;
  limit: number;
  after?: string | undefined;
};

export function listApiRequests(
  { prisma }: RecordStore,
  { clientId, requestId, onlyRefused = false, limit, after }: RequestQuery,
): Promise<ApiRequest[]> {
  const where = {
    clientId,
    ...(requestId !== undefined && { OR: [{ requestId }, { shortCode: requestId.toUpperCase() }] }),
    ...(onlyRefused && { status: { gte: 400 } }),
    ...(after !== undefined && { id: { lt: after } }),
  };
  return prisma.apiRequest.findMany({ where, orderBy: { id: "desc" }, take: limit });
}

/** `id` is the last step's. */
export type SignOnAttempt = { id: string; steps: SignOnStep[] };

const s = table("signOnStep", "s");
const step = fields<SignOnStep>({
  ...pick(s, "id", "clientId", "requestId", "shortCode", "at", "attempt"),
  ...pick(s, "step", "outcome", "code", "description", "reason", "sent"),
});

type Page = { clientId: string; requestId: string | null; after: string | null; limit: number };

const selectNewest = makeFind<SignOnStep, Page>()`
  SELECT ${step} FROM ${s} WHERE ${s.clientId} = ${"clientId"} AND (${"after"}::uuid IS NULL OR ${s.id} < ${"after"})
    AND (${"requestId"}::text IS NULL OR ${s.requestId} = ${"requestId"} OR ${s.shortCode} = upper(${"requestId"}))
  ORDER BY ${s.id} DESC LIMIT ${"limit"}`;

// The same expression as the index; per name, so that PostgreSQL does not estimate that it must read the whole table.
const selectNamed = makeFind<SignOnStep, { clientId: string; names: readonly string[] }>()`
  SELECT DISTINCT ON (${s.id}) ${step} FROM unnest(${"names"}::text[]) AS asked (name)
  CROSS JOIN LATERAL (
    SELECT * FROM ${s}
    WHERE ${s.clientId} = ${"clientId"} AND string_to_array(${s.attempt}, '>') @> ARRAY[asked.name] OFFSET 0) s
  ORDER BY ${s.id}`;

const namesOf = (steps: readonly SignOnStep[]) => [...new Set(steps.flatMap(({ attempt }) => attempt.split(">")))];

async function findAllSteps(db: Queryable, clientId: string, known: readonly SignOnStep[]): Promise<SignOnStep[]> {
  for (let names = namesOf(known); ;) {
    const steps = await selectNamed(db, { clientId, names });
    const all = namesOf(steps);
    if (all.length === names.length) return steps;
    names = all;
  }
}

const stepsPerAttempt = 8;

type AttemptQuery = Pick<RequestQuery, "clientId" | "requestId" | "limit" | "after"> & {
  outcome?: SignOnStep["outcome"] | undefined;
};

/** Latest first. A waiting step is left out once it is done or refused. */
export async function listSignOnAttempts(db: Queryable, { clientId, requestId, outcome, limit, after }: AttemptQuery) {
  const page = { clientId, requestId: requestId ?? null, limit: limit * stepsPerAttempt };
  const attempts = new Map<string, SignOnAttempt>();
  for (let last = after ?? null, isMore = true; isMore && attempts.size < limit;) {
    const steps: SignOnStep[] = await selectNewest(db, { ...page, after: last });
    const ids = new Set(steps.map(({ id }) => id));
    // A sign-on whose last step is on an earlier page has been listed there.
    const isListed = ({ id }: SignOnAttempt) =>
      requestId === undefined ? ids.has(id) : after === undefined || id < after;
    for (const attempt of groupSteps(await findAllSteps(db, clientId, steps)))
      if (isListed(attempt) && (outcome === undefined || outcomeOf(attempt) === outcome))
        attempts.set(attempt.id, attempt);
    isMore = steps.length === page.limit;
    last = steps.at(-1)?.id ?? last;
  }
  return [...attempts.values()].slice(0, limit);
}

const outcomeOf = ({ steps }: SignOnAttempt): SignOnStep["outcome"] => {
  if (steps.at(-1)!.outcome === "refused") return "refused";
  return steps.some(({ step, outcome }) => step === "token" && outcome === "done") ? "done" : "waiting";
};

function groupSteps(steps: readonly SignOnStep[]): SignOnAttempt[] {
  const requestOf = new Map<string, string>();
  for (const { attempt } of steps) {
    const [request = "", ...others] = attempt.split(">");
    for (const other of others) requestOf.set(other, request);
  }
  const attempts = Map.groupBy(steps, ({ attempt }) => {
    const [name = ""] = attempt.split(">");
    return requestOf.get(name) ?? name;
  });
  return [...attempts.values()]
    .map((all) => ({ id: all.at(-1)!.id, steps: all.filter((step, index) => !isOver(step, all.slice(index + 1))) }))
    .sort((a, b) => (a.id < b.id ? 1 : -1));
}

const isOver = ({ step, outcome }: SignOnStep, later: readonly SignOnStep[]): boolean =>
  outcome === "waiting" && later.some((other) => other.step === step);
