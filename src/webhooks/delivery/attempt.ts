import type { Clock } from "../../platform/clock.ts";
import type { Answer, GuardedSender } from "../../platform/outbound/guarded-request.ts";
import { startSpan, type Span } from "../../platform/telemetry/tracing/index.ts";
import { chooseOutcome } from "../schedule.ts";
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

/** Never throws: an error is part of the result. */
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
  const outcome = chooseOutcome(delivery, answer, { ...deps, now: deps.clock() });
  span?.end(answer === null ? {} : { "http.response.status_code": answer.status }, outcome.state !== "DELIVERED");
  return {
    id: delivery.id,
    ...outcome,
    at,
    durationMs: Math.round(performance.now() - began),
    status: answer?.status ?? null,
    error,
    answer: answer === null || answer.start.length === 0 ? null : answer.start.toString("base64"),
  };
}

function startDeliverySpan({ traceparent, messageId, eventType, attempts }: Due): Span | null {
  if (traceparent === null) return null;
  const attributes = {
    "messaging.message.id": messageId,
    "schultor.event_type": eventType,
    "schultor.attempt": attempts + 1,
  };
  return startSpan("webhook", { kind: "client", parent: traceparent, attributes });
}

function describeError(thrown: unknown): string {
  const error = thrown instanceof AggregateError && thrown.errors.length > 0 ? (thrown.errors[0] as unknown) : thrown;
  if (!(error instanceof Error)) return "unknown error";
  const code = "code" in error && typeof error.code === "string" ? `${error.code}: ` : "";
  return `${code}${error.message}`
    .replaceAll(/\p{Cc}+/gu, " ")
    .slice(0, 200)
    .toWellFormed();
}
