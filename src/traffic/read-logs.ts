import type { RecordStore } from "../platform/db.ts";
import { keptLines, type ApiRequest, type SignOnStep } from "./logs.ts";

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

/**
 * The sign-ons to an app that were noted, the one with the latest step first.
 *
 * Shape: a step that waited is left out once it was done or refused.
 */
export async function listSignOnAttempts(
  { prisma }: RecordStore,
  { clientId, limit, after }: { clientId: string; limit: number; after?: string | undefined },
): Promise<SignOnAttempt[]> {
  const query = { where: { clientId }, orderBy: { id: "desc" as const }, take: keptLines.steps };
  const found = (await prisma.signOnStep.findMany(query)).reverse() as SignOnStep[];
  return groupSteps(found)
    .filter(({ id }) => after === undefined || id < after)
    .slice(0, limit);
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
