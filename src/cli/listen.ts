import { AppError } from "../platform/errors.ts";
import type { EventType } from "../webhooks/index.ts";
import { bodyOf, withIdempotencyKey } from "./admin-api.ts";
import { makeApiCommand, type Service } from "./command.ts";
import { option, required, UsageError } from "./option.ts";

const eventTypes = ["person", "group", "school"] as const satisfies EventType[];
const longestReplay = 100;

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === "") return url;
  throw new UsageError(`--forward-to: '${text}' is not an address such as http://localhost:4100/hook.`);
}

export const listen = makeApiCommand({
  summary:
    "Forward the webhooks of an app to a machine without a public address, such as your own. Stop it with Ctrl-C.",
  options: {
    app: required(option.text("The client id of the app.", "client-id")),
    forwardTo: required(option.text("Where each is sent, such as http://localhost:4100/hook.", "url")),
    type: option.someOf(eventTypes, "Event types to send; all if left out."),
    continue: option.id("The id of a listening endpoint that was stopped less than 15 minutes ago; its secret stays."),
    replay: option.text("First send a delivery that the app got before, at whichever endpoint.", "delivery"),
    replayLast: option.count(`First send so many of the last deliveries of the app, at most ${longestReplay}.`),
  },
  remoteOnly: "It makes the deliveries.",
  run: async (service, { options }) => {
    const { app, forwardTo, type, replay, replayLast } = options;
    const last = replayLast === 0 ? undefined : replayLast;
    if (last !== undefined && last > longestReplay) throw new UsageError(`--replay-last is at most ${longestReplay}.`);
    if (replay !== undefined && last !== undefined) throw new UsageError("Give --replay or --replay-last, not both.");
    if (replay !== undefined && !/^[1-9]\d{0,17}$/.test(replay))
      throw new UsageError(`--replay: '${replay}' is not a delivery number.`);
    if (options.continue !== undefined && type !== undefined)
      throw new UsageError("--type cannot be combined with --continue. Change the types with webhook update.");
    const listening: Listening = { clientId: app, url: readUrl(forwardTo), types: type ?? [...eventTypes] };
    const stop = service.untilStopped();
    const endpointId =
      options.continue === undefined
        ? await startListening(service, listening)
        : await continueListening(service, options.continue, listening);
    const { forwardDeliveries } = await import("../../clients/tools/src/listen/index.ts");
    const forwarded = await forwardDeliveries({
      api: service.api,
      tell: service.tell,
      emit: service.emit,
      endpointId,
      url: listening.url,
      replay: replay === undefined ? (last === undefined ? undefined : { last }) : { deliveryId: replay },
      stop,
    });
    const { delivered, failed } = forwarded;
    const again = `schultor listen --app ${app} --forward-to ${addressOf(listening)} --continue ${endpointId}`;
    return {
      lines: [`${delivered} taken, ${failed} failed. What comes in the next minutes waits for: ${again}`],
      quiet: [endpointId],
      data: forwarded,
    };
  },
});

type Listening = { clientId: string; url: URL; types: EventType[] };

const addressOf = ({ url }: Listening): string => `${url.origin}${url.pathname}`;

async function startListening({ api, emit }: Service, listening: Listening): Promise<string> {
  const { clientId, types } = listening;
  const body = { clientId, eventTypes: types };
  const { id, secret } = await bodyOf(api.POST("/admin/v1/webhook-listeners", { params: withIdempotencyKey(), body }));
  const forwardTo = addressOf(listening);
  const lines = `Endpoint ${id} of ${clientId}, sent on to ${forwardTo}.\nSecret: ${secret}\nIt is not shown again.`;
  emit(lines, { endpointId: id, clientId, forwardTo, secret });
  return id;
}

async function continueListening({ api, emit }: Service, endpointId: string, listening: Listening): Promise<string> {
  const { clientId } = listening;
  const params = { path: { endpointId } };
  const endpoint = await bodyOf(api.GET("/admin/v1/webhook-endpoints/{endpointId}", { params }));
  if (endpoint.listensUntil === null || endpoint.clientId !== clientId)
    throw new AppError("not_found", "webhook_endpoint_not_found", "The app has no listening endpoint with this id.");
  const forwardTo = addressOf(listening);
  emit(`Endpoint ${endpointId} of ${clientId} goes on to ${forwardTo}.`, { endpointId, clientId, forwardTo });
  return endpointId;
}
