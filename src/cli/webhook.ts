import {
  bodyOf,
  listFirst,
  listAll,
  omitUndefined,
  isEmpty,
  makeBody,
  withIdempotencyKey,
  type Schemas,
  type Service,
} from "./admin-api.ts";
import { makeApiCommand, type Noun, type Result } from "./command.ts";
import { debugSignature } from "./debug-signature.ts";
import { done, alignColumns, counted, defaultLimit, recordLines, wholeList, type Columns } from "./lines.ts";
import { argument, option, required } from "./option.ts";

type Endpoint = Schemas["WebhookEndpoint"];
type Delivery = Schemas["Delivery"];
type Attempt = Schemas["DeliveryWithLog"]["log"][number];

const eventTypes = ["person", "group", "school"] as const satisfies Endpoint["eventTypes"];
const endpoint = { endpoint: argument.endpoint() };
const delivery = { delivery: argument.text() };
const app = { app: argument.text() };
const defaultOverlapHours = 24;

const secretLines = (secret: string): string[] => [`Secret: ${secret}`, "The secret is not shown again."];

function endpointLines({ id, clientId, url, eventTypes: types, ...of }: Endpoint): string[] {
  const state =
    of.reason === null ? of.state.toLowerCase() : `${of.state.toLowerCase()}: ${of.reason.replace("_", " ")}`;
  return recordLines({
    id,
    app: clientId,
    url,
    types: types.join(", "),
    state,
    "tried again at": of.resumeAt,
    "failing since": of.failingSince,
    "listens until": of.listensUntil,
    waiting: String(of.pending),
  });
}

const endpointColumns: Columns<Endpoint> = {
  id: ({ id }) => id,
  app: ({ clientId }) => clientId,
  state: ({ state }) => state,
  reason: ({ reason }) => reason,
  types: ({ eventTypes: types }) => types.join(","),
  url: ({ url }) => url,
};

const deliveryColumns: Columns<Delivery> = {
  id: ({ deliveryId }) => deliveryId,
  state: ({ state }) => state,
  type: ({ eventType }) => eventType,
  "webhook-id": ({ messageId }) => messageId,
  attempts: ({ attempts }) => String(attempts),
  created: ({ createdAt }) => createdAt,
  "next attempt": ({ nextAttemptAt }) => nextAttemptAt,
};

const attemptColumns = ({ number, at, durationMs, status, error, answer }: Attempt): string[] => [
  String(number),
  at,
  `${durationMs} ms`,
  status === null ? (error ?? "") : String(status),
  JSON.stringify((answer ?? "").slice(0, 80)),
];

const endpoints = "/admin/v1/webhook-endpoints";
const oneEndpoint = `${endpoints}/{endpointId}` as const;
const oneDelivery = "/admin/v1/webhook-deliveries/{deliveryId}";

type OfEndpoint = { params: { path: { endpointId: string } } };

/** A change of one endpoint that prints one line. */
const simple = (
  { line, ...definition }: { summary: string; line: string; irreversible?: string },
  send: (api: Service["api"], of: OfEndpoint) => Promise<unknown>,
) =>
  makeApiCommand({
    ...definition,
    args: endpoint,
    run: async ({ api }, { args: { endpoint: endpointId } }) => {
      await send(api, { params: { path: { endpointId } } });
      return done(line, { id: endpointId });
    },
  });

const setState =
  (state: NonNullable<Schemas["WebhookEndpointUpdate"]["state"]>) => (api: Service["api"], of: OfEndpoint) =>
    api.PATCH(oneEndpoint, { ...of, body: { state } });

const show = (shown: Endpoint): Result => ({ lines: endpointLines(shown), quiet: [shown.id], data: shown });

const showAll = (endpoints: readonly Endpoint[]): Result =>
  wholeList("endpoints", endpoints, { columns: endpointColumns, id: ({ id }) => id });

const registered = (made: { id: string; secret: string }): Result => ({
  lines: [`Endpoint: ${made.id}`, ...secretLines(made.secret)],
  quiet: [made.id, made.secret],
  data: made,
});

const rotatedSecret = (id: string, { secret, oldValidUntil }: Schemas["EndpointSecret"]): Result => ({
  lines: [...secretLines(secret), `The old one is valid until ${oldValidUntil}.`],
  quiet: [secret],
  data: { id, secret, oldValidUntil },
});

const showLog = (deliveries: readonly Delivery[]): Result =>
  wholeList("deliveries", deliveries, { columns: deliveryColumns, id: ({ deliveryId }) => deliveryId });

const showDelivery = ({ delivery: shown, log }: Schemas["DeliveryWithLog"]): Result => {
  const { deliveryId: id, messageId, endpointId, state, body } = shown;
  const lines = recordLines({ id, "webhook-id": messageId, endpoint: endpointId, state, body });
  return { lines: [...lines, ...alignColumns(log.map(attemptColumns))], data: { ...shown, log } };
};

const queuedAgain = (id: string, deliveries: number): Result =>
  done(`${counted(deliveries, "delivery", "deliveries")} queued again.`, { id, deliveries });

const testQueued = (id: string, delivery: string): Result => done(`Delivery ${delivery} queued.`, { id, delivery });

const typeOption = option.someOf(eventTypes, "Event types to send; all three if left out.");

export const webhook: Noun = {
  verbs: {
    list: makeApiCommand({
      summary: "List endpoints with their state.",
      options: { app: option.text("Only those of this app.", "client-id") },
      run: async ({ api }, { options: { app: clientId } }) => {
        const query = omitUndefined({ app: clientId });
        return showAll(await listAll((page) => api.GET(endpoints, { params: { query: { ...query, ...page } } })));
      },
    }),
    show: makeApiCommand({
      summary: "Show an endpoint: its state, the reason, and how many deliveries wait.",
      args: endpoint,
      run: async ({ api }, { args: { endpoint: endpointId } }) =>
        show(await bodyOf(api.GET(oneEndpoint, { params: { path: { endpointId } } }))),
    }),
    add: makeApiCommand({
      summary: "Register an address that is notified of changes. Its secret is shown only once.",
      args: app,
      options: {
        url: required(option.text("Where requests are sent; https, at a public address.", "url")),
        type: typeOption,
      },
      run: async ({ api }, { args: { app: clientId }, options: { url, type = [...eventTypes] } }) => {
        const body = makeBody<Schemas["NewWebhookEndpoint"]>({ clientId, url, eventTypes: type });
        const { id, secret } = await bodyOf(api.POST(endpoints, { params: withIdempotencyKey(), body }));
        return registered({ id, secret });
      },
    }),
    update: makeApiCommand({
      summary: "Change address or event types. Waiting deliveries go to the new address.",
      args: endpoint,
      options: {
        url: option.text("Where requests are sent from now on.", "url"),
        type: option.someOf(eventTypes, "Event types to send; replaces the present ones."),
      },
      run: async ({ api }, { args: { endpoint: endpointId }, options: { url, type } }) => {
        const params = { path: { endpointId } };
        const body = makeBody<Schemas["WebhookEndpointUpdate"]>({ url, eventTypes: type, state: undefined });
        await (isEmpty(body) ? api.GET(oneEndpoint, { params }) : api.PATCH(oneEndpoint, { params, body }));
        return done("Endpoint updated.", { id: endpointId });
      },
    }),
    "rotate-secret": makeApiCommand({
      summary: "Give an endpoint a new secret, which is shown only once. The old one stays valid for the overlap.",
      args: endpoint,
      options: {
        overlapHours: option.count(
          `Hours for which both are valid; ${defaultOverlapHours} if left out, 0 for a secret that leaked.`,
        ),
      },
      run: async ({ api }, { args: { endpoint: endpointId }, options: { overlapHours = defaultOverlapHours } }) => {
        const params = { path: { endpointId }, ...withIdempotencyKey() };
        return rotatedSecret(
          endpointId,
          await bodyOf(api.POST(`${oneEndpoint}/secret`, { params, body: { overlapHours } })),
        );
      },
    }),
    pause: simple(
      { summary: "Let events wait until the endpoint is resumed.", line: "Endpoint paused." },
      setState("PAUSED"),
    ),
    resume: simple(
      { summary: "Make a paused or disabled endpoint active. Waiting events are delivered.", line: "Endpoint active." },
      setState("ACTIVE"),
    ),
    disable: simple(
      {
        summary: "Drop waiting and new events until the endpoint is resumed.",
        line: "Endpoint disabled.",
        irreversible: "This drops the events that wait for the endpoint.",
      },
      setState("DISABLED"),
    ),
    remove: simple(
      {
        summary: "Delete an endpoint.",
        line: "Endpoint deleted.",
        irreversible: "This deletes the endpoint with its secrets and its log.",
      },
      (api, of) => api.DELETE(oneEndpoint, of),
    ),
    log: makeApiCommand({
      summary: "List the deliveries of an endpoint, the newest first. They are kept for WEBHOOK_LOG_DAYS.",
      args: endpoint,
      options: {
        state: option.oneOf(["PENDING", "DELIVERED", "FAILED"] as const, "Only those in this state."),
        limit: option.count(`How many at most; ${defaultLimit} if left out.`),
      },
      run: async ({ api }, { args: { endpoint: endpointId }, options: { state, limit = defaultLimit } }) => {
        const [path, query] = [{ endpointId }, omitUndefined({ state })];
        const read = (page: object) =>
          api.GET(`${oneEndpoint}/deliveries`, { params: { path, query: { ...query, ...page } } });
        return showLog(await listFirst(read, { limit }));
      },
    }),
    delivery: makeApiCommand({
      summary:
        "Show one delivery: its body, and every attempt with status, duration and the first bytes of the answer.",
      args: delivery,
      run: async ({ api }, { args: { delivery: deliveryId } }) =>
        showDelivery(await bodyOf(api.GET(oneDelivery, { params: { path: { deliveryId } } }))),
    }),
    redeliver: makeApiCommand({
      summary: "Send one delivery again, with the same webhook-id and all retries.",
      args: delivery,
      run: async ({ api }, { args: { delivery: deliveryId } }) => {
        await api.POST(`${oneDelivery}/redelivery`, { params: { path: { deliveryId } } });
        return done("Delivery queued again.", { id: deliveryId });
      },
    }),
    "redeliver-failed": makeApiCommand({
      summary: "Send all failed deliveries of an endpoint again, from a time on.",
      args: endpoint,
      options: { since: required(option.time("Deliveries made at this time or later.")) },
      run: async ({ api }, { args: { endpoint: endpointId }, options: { since } }) => {
        const params = { path: { endpointId } };
        const body = { since: since.toISOString() };
        const { deliveries } = await bodyOf(api.POST(`${oneEndpoint}/redelivery`, { params, body }));
        return queuedAgain(endpointId, deliveries);
      },
    }),
    test: makeApiCommand({
      summary: "Send an endpoint a test event, which is marked as one. The log shows the result.",
      args: endpoint,
      options: { type: option.oneOf(eventTypes, "Its event type; person if left out.") },
      run: async ({ api }, { args: { endpoint: endpointId }, options: { type = "person" } }) => {
        const params = { path: { endpointId }, ...withIdempotencyKey() };
        const { deliveryId } = await bodyOf(api.POST(`${oneEndpoint}/test`, { params, body: { eventType: type } }));
        return testQueued(endpointId, deliveryId);
      },
    }),
    "debug-signature": debugSignature,
  },
};
