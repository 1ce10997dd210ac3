import type { PrismaDb } from "../../platform/database/db.ts";
import { record, type Result } from "../delivery/record.ts";
import { endpointNotFound, getEndpointState } from "../find-endpoint.ts";
import { deliveryNotFound, readDeliveryId } from "../log.ts";
import { chooseOutcome } from "../schedule.ts";

type Report = {
  endpointId: string;
  attempts: readonly { deliveryId: string; durationMs: number; status: number | null; error: string | null }[];
};
export type AttemptRules = {
  now: Date;
  retrySeconds: readonly number[];
  random: () => number;
  count: (outcome: "delivered" | "failed", clientId: string) => void;
};

/** Errors: not_found if the endpoint has ended or has an address, and for deliveries of other endpoints. */
export async function recordAttempts(
  db: PrismaDb,
  { endpointId, attempts }: Report,
  { now, retrySeconds, random, count }: AttemptRules,
): Promise<void> {
  const { clientId, listensUntil } = await getEndpointState(db, endpointId);
  if (listensUntil === null) throw endpointNotFound();
  const reported = new Map(attempts.map((result) => [readDeliveryId(result.deliveryId), result]));
  const rows = await db.prisma.webhookDelivery.findMany({
    where: { endpointId, id: { in: [...reported.keys()] } },
    select: { id: true, state: true, attempts: true, attemptsSpent: true },
  });
  if (rows.length < reported.size) throw deliveryNotFound();
  const pending = rows.filter(({ state }) => state === "PENDING");
  const results = pending.map(({ id: rowId, ...delivery }): Result => {
    const { deliveryId: id, durationMs, status, error } = reported.get(rowId)!;
    return {
      id,
      ...chooseOutcome(delivery, status === null ? null : { status }, { now, retrySeconds, random }),
      at: new Date(now.getTime() - durationMs),
      durationMs,
      status,
      answer: null,
      error: status === null ? readable(error ?? "no answer") : null,
    };
  });
  await record(db, results, now);
  for (const { state } of results) count(state === "DELIVERED" ? "delivered" : "failed", clientId);
}

const readable = (text: string): string => text.replaceAll(/\p{Cc}+/gu, " ").toWellFormed();
