import type { Queryable, RecordStore } from "../platform/database/db.ts";
import { fields, findRows, sql, statement, table } from "../platform/database/sql.ts";
import type { ApiRequest, SignOnStep } from "./logs.ts";

type RequestsAsked = {
  clientId: string;
  requestId?: string | undefined;
  /** Only calls that were refused or failed. */
  onlyRefused?: boolean | undefined;
  limit: number;
  /** The id of the last one of the page before. */
  after?: string | undefined;
};

/** The calls of an app that were noted, the newest first. */
export function listApiRequests(
  { prisma }: RecordStore,
  { clientId, requestId, onlyRefused = false, limit, after }: RequestsAsked,
): Promise<ApiRequest[]> {
  const where = {
    clientId,
    ...(requestId !== undefined && { requestId }),
    ...(onlyRefused && { status: { gte: 400 } }),
    ...(after !== undefined && { id: { lt: after } }),
  };
  // The ids are UUIDs of version 7, which begin with the time.
  return prisma.apiRequest.findMany({ where, orderBy: { id: "desc" }, take: limit });
}

/** One sign-on with its steps in their order. Shape: `id` is that of its last step. */
export type SignOnAttempt = { id: string; steps: SignOnStep[] };

const s = table("signOnStep", "s");
const step = fields<SignOnStep>({
  id: s.id,
  clientId: s.clientId,
  requestId: s.requestId,
  at: s.at,
  attempt: s.attempt,
  step: s.step,
  outcome: sql`${s.outcome}`,
  code: s.code,
  description: s.description,
  sent: s.sent,
});

type Part = { clientId: string; after: string | null; limit: number };

const selectNewest = statement<Part>(
  ({ clientId, after, limit }) => sql`
  SELECT ${step} FROM ${s} WHERE ${s.clientId} = ${clientId} AND (${after}::uuid IS NULL OR ${s.id} < ${after})
  ORDER BY ${s.id} DESC LIMIT ${limit}`,
);

// Worded as the index is; name by name, so that no estimate of all names together makes PostgreSQL read all of the app.
const selectNamed = statement<{ clientId: string; names: readonly string[] }>(
  ({ clientId, names }) => sql`
  SELECT DISTINCT ON (${s.id}) ${step} FROM unnest(${names}::text[]) AS asked (name)
  CROSS JOIN LATERAL (
    SELECT * FROM ${s}
    WHERE ${s.clientId} = ${clientId} AND string_to_array(${s.attempt}, '>') @> ARRAY[asked.name] OFFSET 0) s
  ORDER BY ${s.id}`,
);

const namesOf = (steps: readonly SignOnStep[]): string[] => [
  ...new Set(steps.flatMap(({ attempt }) => attempt.split(">"))),
];

/** All steps of the sign-ons that some steps are of, the oldest first. */
async function findWhole(db: Queryable, clientId: string, some: readonly SignOnStep[]): Promise<SignOnStep[]> {
  for (let names = namesOf(some); ;) {
    const found = await findRows<SignOnStep, { clientId: string; names: readonly string[] }>(db, selectNamed, {
      clientId,
      names,
    });
    const all = namesOf(found);
    if (all.length === names.length) return found;
    names = all;
  }
}

/** About as many steps as one sign-on has. */
const stepsEach = 8;

/**
 * The sign-ons to an app that were noted, the one with the latest step first.
 *
 * Shape: a step that waited is left out once it was done or refused.
 */
export async function listSignOnAttempts(
  db: Queryable,
  { clientId, limit, after }: { clientId: string; limit: number; after?: string | undefined },
): Promise<SignOnAttempt[]> {
  const part = { clientId, limit: limit * stepsEach };
  const attempts: SignOnAttempt[] = [];
  for (let last = after ?? null, isMore = true; isMore && attempts.length < limit;) {
    const steps: SignOnStep[] = await findRows<SignOnStep, Part>(db, selectNewest, { ...part, after: last });
    const ids = new Set(steps.map(({ id }) => id));
    // Those with later steps came before.
    attempts.push(...groupSteps(await findWhole(db, clientId, steps)).filter(({ id }) => ids.has(id)));
    isMore = steps.length === part.limit;
    last = steps.at(-1)?.id ?? last;
  }
  return attempts.slice(0, limit);
}

/** Puts steps, the oldest first, together to sign-ons, the latest first. */
export function groupSteps(steps: readonly SignOnStep[]): SignOnAttempt[] {
  const requestOf = new Map<string, string>();
  for (const { attempt } of steps) {
    const [request = "", ...others] = attempt.split(">");
    for (const other of others) requestOf.set(other, request);
  }
  const attempts = new Map<string, SignOnStep[]>();
  for (const step of steps) {
    const [name = ""] = step.attempt.split(">");
    const key = requestOf.get(name) ?? name;
    attempts.set(key, [...(attempts.get(key) ?? []), step]);
  }
  return [...attempts.values()]
    .map((all) => ({ id: all.at(-1)!.id, steps: all.filter((step, index) => !isOver(step, all.slice(index + 1))) }))
    .sort((a, b) => (a.id < b.id ? 1 : -1));
}

const isOver = ({ step, outcome }: SignOnStep, later: readonly SignOnStep[]): boolean =>
  outcome === "waiting" && later.some((other) => other.step === step);
