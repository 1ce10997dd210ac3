import type { Clock } from "../../platform/clock.ts";
import type { Answer, GuardedSender } from "../../platform/outbound/guarded-request.ts";
import { startSpan, type Span } from "../../platform/telemetry/tracing/index.ts";
import { chooseRetry } from "../schedule.ts";
import { makeHeaders, type SigningSecret } from "../signature.ts";
import type { Due } from "./due.ts";
import type { Result } from "./record.ts";

export type Target = { url: URL; secrets: readonly SigningSecret[] };

export type AttemptDeps = {
  sender: GuardedSender;
  clock: Clock;
  random: () => number;
  retrySeconds: readonly number[];
};

/** Sends one delivery once. Errors: none; whatever goes wrong is the result. */
export async function attempt(delivery: Due, { url, secrets }: Target, deps: AttemptDeps): Promise<Result> {
  const at = deps.clock();
  const began = performance.now();
  let answer: Answer | null = null;
  let error: string | null = null;
  const span = startDeliverySpan(delivery);
  try {
    const headers = makeHeaders(delivery, secrets, at, span?.traceparent);
    answer = await deps.sender.post(url, { headers, body: delivery.body });
  } catch (thrown) {
    error = describeError(thrown);
  }
  const isTaken = answer !== null && answer.status >= 200 && answer.status <= 299;
  span?.end(answer === null ? {} : { "http.response.status_code": answer.status }, !isTaken);
  const tries = delivery.attempts - delivery.attemptsSpent + 1;
  const dueAt = isTaken
    ? null
    : chooseRetry({
        retrySeconds: deps.retrySeconds,
        tries,
        retryAfter: answer?.retryAfter ?? null,
        now: deps.clock(),
        random: deps.random(),
      });
  return {
    id: delivery.id,
    state: isTaken ? "DELIVERED" : dueAt === null ? "FAILED" : "PENDING",
    dueAt,
    at,
    durationMs: Math.round(performance.now() - began),
    status: answer?.status ?? null,
    error,
    answer: answer === null || answer.start.length === 0 ? null : answer.start.toString("base64"),
  };
}

/** A child of the request that caused the event, in whichever process that was answered. */
function startDeliverySpan({ traceparent, messageId, eventType, attempts }: Due): Span | null {
  if (traceparent === null) return null;
  const attributes = {
    "messaging.message.id": messageId,
    "schultor.event_type": eventType,
    "schultor.attempt": attempts + 1,
  };
  return startSpan("webhook", { kind: "client", parent: traceparent, attributes });
}

/**
 * The code and the words of a failed connection, as the database can keep them; the first of several tried addresses
 * stands for all.
 */
function describeError(thrown: unknown): string {
  const error = thrown instanceof AggregateError && thrown.errors.length > 0 ? (thrown.errors[0] as unknown) : thrown;
  if (!(error instanceof Error)) return "unknown error";
  const code = "code" in error && typeof error.code === "string" ? `${error.code}: ` : "";
  return `${code}${error.message}`
    .replaceAll(/\p{Cc}+/gu, " ")
    .slice(0, 200)
    .toWellFormed();
}
