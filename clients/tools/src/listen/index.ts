import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "openapi-fetch";
import type { components, paths } from "../../../../generated/openapi/admin.ts";
import { postTo } from "./post-to.ts";

type Schemas = components["schemas"];
type Attempt = Schemas["ReportedAttempt"];

export type Listening = {
  /** Calls throw an error with the `status` of the response if the service refuses. */
  api: Client<paths>;
  endpointId: string;
  url: URL;
  /** Deliveries that the app got before, to be sent first. */
  replay: Schemas["Replay"] | undefined;
  stop: AbortSignal;
  /** Prints a line for people. */
  tell(line: string): void;
  /** Prints an attempt, as a line or as data. */
  emit(line: string, data: object): void;
};

export type Forwarded = { endpointId: string; delivered: number; failed: number; listensUntil: string | null };

// The service gives an address as long to respond.
const timeoutMs = 10_000;
const request = { waitSeconds: 25, most: 8 };
const maxPauseSeconds = 15;

/** Forwards the deliveries of a listening endpoint and reports the results, until it is stopped. */
export async function forwardDeliveries(listening: Listening): Promise<Forwarded> {
  const { api, endpointId, replay, stop, tell } = listening;
  const path = { params: { path: { endpointId } } };
  if (replay !== undefined) {
    const { data } = await api.POST("/admin/v1/webhook-endpoints/{endpointId}/replays", { ...path, body: replay });
    tell(`${data!.deliveries} of the last deliveries are sent first.`);
  }
  const forwarded: Forwarded = { endpointId, delivered: 0, failed: 0, listensUntil: null };
  while (!stop.aborted) {
    const response = await persist(listening, () =>
      api.POST("/admin/v1/webhook-endpoints/{endpointId}/taken-deliveries", { ...path, body: request, signal: stop }),
    );
    if (response === null) break;
    const { deliveries, listensUntil } = response.data!;
    forwarded.listensUntil = listensUntil;
    if (deliveries.length === 0) continue;
    const attempts = await Promise.all(deliveries.map((delivery) => forward(listening, delivery)));
    for (const { status } of attempts) forwarded[isAccepted(status) ? "delivered" : "failed"]++;
    await persist(listening, () =>
      api.POST("/admin/v1/webhook-endpoints/{endpointId}/attempts", { ...path, body: { attempts } }),
    );
  }
  return forwarded;
}

const isAccepted = (status: number | null): boolean => status !== null && status >= 200 && status <= 299;

async function forward({ emit, url }: Listening, delivery: Schemas["TakenDelivery"]): Promise<Attempt> {
  const { deliveryId, eventType, isTest, attempt, headers, body } = delivery;
  const at = new Date();
  const began = performance.now();
  const [status, error] = await postTo(url, { headers, body, timeoutMs }).then(
    (responseStatus) => [responseStatus, null] as const,
    (thrown: unknown) => [null, reasonOf(thrown)] as const,
  );
  const durationMs = Math.round(performance.now() - began);
  const kind = isTest ? `${eventType} (test)` : eventType;
  const line = [at.toTimeString().slice(0, 8), kind, deliveryId, status ?? error, `${durationMs} ms`].join("  ");
  const result = { at: at.toISOString(), eventType, isTest, deliveryId, attempt, status, error, durationMs };
  emit(line, { ...result, webhookId: headers["webhook-id"] ?? null });
  return { deliveryId, durationMs, status, error };
}

/** Returns why there was no response; of several addresses, the reason of the first. */
function reasonOf(thrown: unknown): string {
  const error = thrown instanceof AggregateError ? (thrown.errors[0] as unknown) : thrown;
  const { code, message } = error as { code?: unknown; message?: unknown };
  return `${typeof code === "string" ? `${code}: ` : ""}${String(message)}`.slice(0, 200);
}

/** Repeats a call while the service fails; null if the command was stopped. Errors: that of a refusal. */
async function persist<T>({ tell, stop }: Listening, call: () => Promise<T>): Promise<T | null> {
  for (let seconds = 1; ; seconds = Math.min(2 * seconds, maxPauseSeconds)) {
    try {
      return await call();
    } catch (error) {
      if (stop.aborted) return null;
      const { status, message } = error as { status?: number; message: string };
      if (status !== undefined && status < 500) throw error;
      if (seconds === 1) tell(`${message} Trying again until it answers.`);
      await sleep(seconds * 1000, undefined, { signal: stop }).catch(() => undefined);
      if (stop.aborted) return null;
    }
  }
}
