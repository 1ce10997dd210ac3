import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../platform/errors.ts";
import { bodyOf, withIdempotencyKey, type Schemas } from "./admin-api.ts";
import type { Result, Service } from "./command.ts";
import { postTo } from "./post-to.ts";

type Attempt = Schemas["ReportedAttempt"];

type Listening = {
  clientId: string;
  url: URL;
  eventTypes: Schemas["ListenerInput"]["eventTypes"];
  endpointId: string | undefined;
  replay: Schemas["Replay"] | undefined;
};

const oneEndpoint = "/admin/v1/webhook-endpoints/{endpointId}";
const pathOf = (endpointId: string) => ({ params: { path: { endpointId } } });

// The service gives an address as long to respond.
const timeoutMs = 10_000;
const request = { waitSeconds: 25, most: 8 };
const maxPauseSeconds = 15;

/** Forwards the deliveries of a listening endpoint and reports the results. Errors: AppError if the service refuses. */
export async function listenTo(service: Service, listening: Listening): Promise<Result> {
  const { api } = service;
  const stop = service.untilStopped();
  const endpointId = await start(service, listening);
  if (listening.replay !== undefined) {
    const { deliveries } = await bodyOf(
      api.POST(`${oneEndpoint}/replays`, { ...pathOf(endpointId), body: listening.replay }),
    );
    service.tell(`${deliveries} of the last deliveries are sent first.`);
  }
  const counts = { delivered: 0, failed: 0 };
  let listensUntil: string | null = null;
  while (!stop.aborted) {
    const taken = await persist(service, stop, () =>
      bodyOf(api.POST(`${oneEndpoint}/taken-deliveries`, { ...pathOf(endpointId), body: request, signal: stop })),
    );
    if (taken === null) break;
    ({ listensUntil } = taken);
    if (taken.deliveries.length === 0) continue;
    const attempts = await Promise.all(taken.deliveries.map((delivery) => forward(service, delivery, listening.url)));
    for (const { status } of attempts) counts[isAccepted(status) ? "delivered" : "failed"]++;
    await persist(service, stop, () =>
      api.POST(`${oneEndpoint}/attempts`, { ...pathOf(endpointId), body: { attempts } }),
    );
  }
  return ended({ endpointId, listensUntil, ...counts }, listening);
}

const isAccepted = (status: number | null): boolean => status !== null && status >= 200 && status <= 299;

async function start(service: Service, { clientId, url, eventTypes, endpointId }: Listening): Promise<string> {
  const { api } = service;
  const forwardTo = `${url.origin}${url.pathname}`;
  if (endpointId !== undefined) {
    const found = await bodyOf(api.GET(oneEndpoint, pathOf(endpointId)));
    if (found.listensUntil === null || found.clientId !== clientId)
      throw new AppError("not_found", "webhook_endpoint_not_found", "The app has no listening endpoint with this id.");
    service.emit(`Endpoint ${endpointId} of ${clientId} goes on to ${forwardTo}.`, { endpointId, clientId, forwardTo });
    return endpointId;
  }
  const body = { clientId, eventTypes };
  const { id, secret } = await bodyOf(api.POST("/admin/v1/webhook-listeners", { params: withIdempotencyKey(), body }));
  const lines = `Endpoint ${id} of ${clientId}, sent on to ${forwardTo}.\nSecret: ${secret}\nIt is not shown again.`;
  service.emit(lines, { endpointId: id, clientId, forwardTo, secret });
  return id;
}

async function forward({ emit }: Service, delivery: Schemas["TakenDelivery"], url: URL): Promise<Attempt> {
  const { deliveryId, eventType, isTest, attempt, headers, body } = delivery;
  const at = new Date();
  const began = performance.now();
  const [status, error] = await postTo(url, { headers, body, timeoutMs }).then(
    (answered) => [answered, null] as const,
    (thrown: unknown) => [null, reasonOf(thrown)] as const,
  );
  const durationMs = Math.round(performance.now() - began);
  const shown = { at: at.toISOString(), eventType, isTest, deliveryId, attempt, status, error, durationMs };
  const kind = isTest ? `${eventType} (test)` : eventType;
  emit([at.toTimeString().slice(0, 8), kind, deliveryId, status ?? error, `${durationMs} ms`].join("  "), {
    ...shown,
    webhookId: headers["webhook-id"] ?? null,
  });
  return { deliveryId, durationMs, status, error };
}

/** The reason why there was no response; of several addresses, that of the first. */
function reasonOf(thrown: unknown): string {
  const error = thrown instanceof AggregateError ? (thrown.errors[0] as unknown) : thrown;
  const { code, message } = error as { code?: unknown; message?: unknown };
  return `${typeof code === "string" ? `${code}: ` : ""}${String(message)}`.slice(0, 200);
}

/** Repeats a call while the service fails; null if the command was stopped. Errors: AppError if the service refuses. */
async function persist<T>({ tell }: Service, stop: AbortSignal, call: () => Promise<T>): Promise<T | null> {
  for (let seconds = 1; ; seconds = Math.min(2 * seconds, maxPauseSeconds)) {
    try {
      return await call();
    } catch (error) {
      if (stop.aborted) return null;
      if (error instanceof AppError && error.status < 500) throw error;
      if (seconds === 1) tell(`${(error as Error).message} Trying again until it answers.`);
      await sleep(seconds * 1000, undefined, { signal: stop }).catch(() => undefined);
      if (stop.aborted) return null;
    }
  }
}

type Ended = { endpointId: string; listensUntil: string | null; delivered: number; failed: number };

function ended({ endpointId, listensUntil, delivered, failed }: Ended, { clientId, url }: Listening): Result {
  const again = `schultor listen --app ${clientId} --forward-to ${url.origin}${url.pathname} --continue ${endpointId}`;
  return {
    lines: [`${delivered} taken, ${failed} failed. What comes in the next minutes waits for: ${again}`],
    quiet: [endpointId],
    data: { endpointId, delivered, failed, listensUntil },
  };
}
