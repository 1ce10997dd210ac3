import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../platform/errors.ts";
import { makeGuardedSender, type GuardedSender } from "../../platform/outbound/guarded-request.ts";
import type { Result } from "../command.ts";
import { bodyOf, once, type Remote, type Schemas } from "../admin-api.ts";

type Taken = Schemas["TakenDelivery"];
type Attempt = Schemas["ReportedAttempt"];

type Asked = {
  clientId: string;
  /** Where each delivery is sent. */
  url: URL;
  eventTypes: Schemas["NewListener"]["eventTypes"];
  /** A listening endpoint to go on with. */
  endpointId: string | undefined;
  replay: Schemas["Replay"] | undefined;
};

const oneEndpoint = "/admin/v1/webhook-endpoints/{endpointId}";
const of = (endpointId: string) => ({ params: { path: { endpointId } } });

/** As long as the service gives an address to answer. */
const timeoutMs = 10_000;
const wanted = { waitSeconds: 25, most: 8 };
const longestPauseSeconds = 15;

/**
 * Fetches what is due at a listening endpoint, sends it on and tells the service what came of it, until it is stopped.
 *
 * Errors: AppError where the service refuses; a service that cannot be reached is asked again.
 */
export async function listenTo(remote: Remote, asked: Asked): Promise<Result> {
  const { api, stop } = remote;
  const endpointId = await start(remote, asked);
  if (asked.replay !== undefined) {
    const { deliveries } = await bodyOf(api.POST(`${oneEndpoint}/replays`, { ...of(endpointId), body: asked.replay }));
    remote.tell(`${deliveries} of the last deliveries are sent first.`);
  }
  const sender = makeGuardedSender({ allowPrivateAddresses: true, timeoutMs });
  const counts = { delivered: 0, failed: 0 };
  let listensUntil: string | null = null;
  try {
    while (!stop.aborted) {
      const taken = await persist(remote, () =>
        bodyOf(api.POST(`${oneEndpoint}/taken-deliveries`, { ...of(endpointId), body: wanted, signal: stop })),
      );
      if (taken === null) break;
      ({ listensUntil } = taken);
      if (taken.deliveries.length === 0) continue;
      const attempts = await Promise.all(taken.deliveries.map((one) => forward(remote, sender, { one, ...asked })));
      for (const { status } of attempts) counts[isTaken(status) ? "delivered" : "failed"]++;
      await persist(remote, () => api.POST(`${oneEndpoint}/attempts`, { ...of(endpointId), body: { attempts } }));
    }
  } finally {
    await sender.close();
  }
  return ended({ endpointId, listensUntil, ...counts }, asked);
}

const isTaken = (status: number | null): boolean => status !== null && status >= 200 && status <= 299;

/** Makes a listening endpoint, or goes on with one. */
async function start(remote: Remote, { clientId, url, eventTypes, endpointId }: Asked): Promise<string> {
  const { api } = remote;
  const forwardTo = `${url.origin}${url.pathname}`;
  if (endpointId !== undefined) {
    const found = await bodyOf(api.GET(oneEndpoint, of(endpointId)));
    if (found.listensUntil === null || found.clientId !== clientId)
      throw new AppError("not_found", "webhook_endpoint_not_found", "The app has no listening endpoint with this id.");
    remote.emit(`Endpoint ${endpointId} of ${clientId} goes on to ${forwardTo}.`, { endpointId, clientId, forwardTo });
    return endpointId;
  }
  const body = { clientId, eventTypes };
  const { id, secret } = await bodyOf(api.POST("/admin/v1/webhook-listeners", { params: once(), body }));
  const lines = `Endpoint ${id} of ${clientId}, sent on to ${forwardTo}.\nSecret: ${secret}\nIt is not shown again.`;
  remote.emit(lines, { endpointId: id, clientId, forwardTo, secret });
  return id;
}

type Forwarding = { one: Taken; url: URL };

/** Sends one delivery on, as it is, and prints what came of it. */
async function forward({ emit }: Remote, sender: GuardedSender, { one, url }: Forwarding): Promise<Attempt> {
  const { deliveryId, eventType, isTest, attempt, headers, body } = one;
  const at = new Date();
  const began = performance.now();
  const [status, error] = await sender.post(url, { headers, body }).then(
    (answer) => [answer.status, null] as const,
    (thrown: unknown) => [null, wordsOf(thrown)] as const,
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

/** Says why no answer came; the first of several addresses that were tried stands for all. */
function wordsOf(thrown: unknown): string {
  const error = thrown instanceof AggregateError ? (thrown.errors[0] as unknown) : thrown;
  const { code, message } = error as { code?: unknown; message?: unknown };
  return `${typeof code === "string" ? `${code}: ` : ""}${String(message)}`.slice(0, 200);
}

/**
 * Asks the service again while it cannot be reached or fails; null where it was stopped meanwhile.
 *
 * Errors: AppError where the service refuses.
 */
async function persist<T>({ tell, stop }: Remote, ask: () => Promise<T>): Promise<T | null> {
  for (let seconds = 1; ; seconds = Math.min(2 * seconds, longestPauseSeconds)) {
    try {
      return await ask();
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

function ended({ endpointId, listensUntil, delivered, failed }: Ended, { clientId, url }: Asked): Result {
  const again = `schultor listen --app ${clientId} --forward-to ${url.origin}${url.pathname} --continue ${endpointId}`;
  return {
    lines: [`${delivered} taken, ${failed} failed. What comes in the next minutes waits for: ${again}`],
    quiet: [endpointId],
    data: { endpointId, delivered, failed, listensUntil },
  };
}
