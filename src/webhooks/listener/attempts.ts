import type { PrismaDb } from "../../platform/database/db.ts";
import { record, type Result } from "../delivery/record.ts";
import { endpointNotFound } from "../find-endpoint.ts";
import { deliveryNotFound, readDeliveryId } from "../log.ts";
import { chooseRetry } from "../schedule.ts";

/** What came of a delivery that was fetched. Units: durationMs in milliseconds. */
export type ReportedAttempt = { deliveryId: string; durationMs: number; status: number | null; error: string | null };

type Outcome = "delivered" | "failed";
type Reported = { endpointId: string; attempts: readonly ReportedAttempt[] };
/** Units: retrySeconds in seconds. */
export type AttemptRules = {
  now: Date;
  retrySeconds: readonly number[];
  random: () => number;
  count: (outcome: Outcome, clientId: string) => void;
};

/**
 * Records and counts what came of deliveries that were fetched from a listening endpoint.
 *
 * Shape:  what is told of a delivery that is finished changes nothing, so that none has more attempts than others.
 * Units:  retrySeconds in seconds.
 * Errors: not_found for an endpoint that is unknown, has ended or has an address, and for a delivery of another one.
 */
export async function recordAttempts(
  db: PrismaDb,
  { endpointId, attempts }: Reported,
  { now, retrySeconds, random, count }: AttemptRules,
): Promise<void> {
  const listening = await db.prisma.webhookEndpoint.findUnique({
    where: { id: endpointId },
    select: { clientId: true, listensUntil: true },
  });
  if (listening === null || listening.listensUntil === null) throw endpointNotFound();
  const reported = new Map(attempts.map((one) => [readDeliveryId(one.deliveryId), one]));
  const rows = await db.prisma.webhookDelivery.findMany({
    where: { endpointId, id: { in: [...reported.keys()] } },
    select: { id: true, state: true, attempts: true, attemptsSpent: true },
  });
  if (rows.length < reported.size) throw deliveryNotFound();
  const pending = rows.filter(({ state }) => state === "PENDING");
  const results = pending.map(({ id: rowId, attempts: before, attemptsSpent }): Result => {
    const { deliveryId: id, durationMs, status, error } = reported.get(rowId)!;
    const isTaken = status !== null && status >= 200 && status <= 299;
    const tries = before - attemptsSpent + 1;
    const dueAt = isTaken ? null : chooseRetry({ retrySeconds, tries, retryAfter: null, now, random: random() });
    return {
      id,
      state: isTaken ? "DELIVERED" : dueAt === null ? "FAILED" : "PENDING",
      dueAt,
      at: new Date(now.getTime() - durationMs),
      durationMs,
      status,
      answer: null,
      error: status === null ? readable(error ?? "no answer") : null,
    };
  });
  await record(db, results, now);
  for (const { state } of results) count(state === "DELIVERED" ? "delivered" : "failed", listening.clientId);
}

/** Words as the database can keep them. */
const readable = (text: string): string => text.replaceAll(/\p{Cc}+/gu, " ").toWellFormed();
