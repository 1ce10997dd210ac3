import { bodyOf, isEmpty, listFirst, makeBody, omitUndefined, withIdempotencyKey, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Verbs } from "./command.ts";
import { debugSignature } from "./debug-signature.ts";
import { alignColumns, counted, defaultLimit, done, recordLines, wholeList, type Columns } from "./lines.ts";
import { option, required } from "./option.ts";
import { argsNamed, argsOf, changes, listsAll, shows } from "./verbs.ts";

type Endpoint = Schemas["WebhookEndpoint"];
type Attempt = Schemas["DeliveryWithLog"]["log"][number];

const eventTypes = ["person", "group", "school"] as const satisfies Endpoint["eventTypes"];
const defaultOverlapHours = 24;

const secretLines = (secret: string): string[] => [`Secret: ${secret}`, "The secret is not shown again."];

function endpointLines({ id, clientId, url, eventTypes: types, ...of }: Endpoint): string[] {
  const state =
    of.reason === "none" ? of.state.toLowerCase() : `${of.state.toLowerCase()}: ${of.reason.replace("_", " ")}`;
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

const deliveryColumns: Columns<Schemas["Delivery"]> = {
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

const args = argsOf(oneEndpoint);

const setsState = (
  state: NonNullable<Schemas["WebhookEndpointUpdate"]["state"]>,
  { line, ...definition }: { summary: string; line: string; irreversible?: string },
) =>
  makeApiCommand({
    ...definition,
    args,
    run: async ({ api }, { args: path }) => {
      await api.PATCH(oneEndpoint, { params: { path }, body: { state } });
      return done(line, { id: path.endpointId });
    },
  });

const show = (shown: Endpoint): Result => ({ lines: endpointLines(shown), quiet: [shown.id], data: shown });

const rotatedSecret = (id: string, { secret, oldValidUntil }: Schemas["EndpointSecret"]): Result => ({
  lines: [...secretLines(secret), `The old one is valid until ${oldValidUntil}.`],
  quiet: [secret],
  data: { id, secret, oldValidUntil },
});

const showDelivery = ({ delivery: shown, log }: Schemas["DeliveryWithLog"]): Result => {
  const { deliveryId: id, messageId, endpointId, state, body } = shown;
  const lines = recordLines({ id, "webhook-id": messageId, endpoint: endpointId, state, body });
  return { lines: [...lines, ...alignColumns(log.map(attemptColumns))], data: { ...shown, log } };
};

const typeOption = option.someOf(eventTypes, "Event types to send; all three if left out.");

export const verbs: Verbs = {
  list: listsAll(endpoints, {
    summary: "List endpoints with their state.",
    name: "endpoints",
    options: { app: option.text("Only those of this app.", "client-id") },
    columns: {
      id: ({ id }) => id,
      app: ({ clientId }) => clientId,
      state: ({ state }) => state,
      reason: ({ reason }) => reason,
      types: ({ eventTypes: types }) => types.join(","),
      url: ({ url }) => url,
    },
    id: ({ id }) => id,
  }),
  show: shows(oneEndpoint, { summary: "Show an endpoint: its state, the reason, and how many deliveries wait.", show }),
  add: makeApiCommand({
    summary: "Register an address that is notified of changes. Its secret is shown only once.",
    args: argsNamed("clientId"),
    options: {
      url: required(option.text("Where requests are sent; https, at a public address.", "url")),
      type: typeOption,
    },
    run: async ({ api }, { args: { clientId }, options: { url, type = [...eventTypes] } }) => {
      const body = makeBody<Schemas["WebhookEndpointInput"]>({ clientId, url, eventTypes: type });
      const { id, secret } = await bodyOf(api.POST(endpoints, { params: withIdempotencyKey(), body }));
      return { lines: [`Endpoint: ${id}`, ...secretLines(secret)], quiet: [id, secret], data: { id, secret } };
    },
  }),
  update: makeApiCommand({
    summary: "Change address or event types. Waiting deliveries go to the new address.",
    args,
    options: {
      url: option.text("Where requests are sent from now on.", "url"),
      type: option.someOf(eventTypes, "Event types to send; replaces the present ones."),
    },
    run: async ({ api }, { args: path, options: { url, type } }) => {
      const params = { path };
      const body = makeBody<Schemas["WebhookEndpointUpdate"]>({ url, eventTypes: type, state: undefined });
      await (isEmpty(body) ? api.GET(oneEndpoint, { params }) : api.PATCH(oneEndpoint, { params, body }));
      return done("Endpoint updated.", { id: path.endpointId });
    },
  }),
  "rotate-secret": makeApiCommand({
    summary: "Give an endpoint a new secret, which is shown only once. The old one stays valid for the overlap.",
    args,
    options: {
      overlapHours: option.count(
        `Hours for which both are valid; ${defaultOverlapHours} if left out, 0 for a secret that leaked.`,
      ),
    },
    run: async ({ api }, { args: path, options: { overlapHours = defaultOverlapHours } }) => {
      const params = { path, ...withIdempotencyKey() };
      const rotated = await bodyOf(api.POST(`${oneEndpoint}/secret`, { params, body: { overlapHours } }));
      return rotatedSecret(path.endpointId, rotated);
    },
  }),
  pause: setsState("PAUSED", {
    summary: "Queue events until the endpoint is resumed.",
    line: "Endpoint paused.",
  }),
  resume: setsState("ACTIVE", {
    summary: "Make a paused or disabled endpoint active. Waiting events are delivered.",
    line: "Endpoint active.",
  }),
  disable: setsState("DISABLED", {
    summary: "Drop waiting and new events until the endpoint is resumed.",
    line: "Endpoint disabled.",
    irreversible: "This drops the events that wait for the endpoint.",
  }),
  remove: changes("delete", oneEndpoint, {
    summary: "Delete an endpoint.",
    line: "Endpoint deleted.",
    irreversible: "This deletes the endpoint with its secrets and its log.",
  }),
  log: makeApiCommand({
    summary: "List the deliveries of an endpoint, the newest first. They are kept for WEBHOOK_LOG_DAYS.",
    args,
    options: {
      state: option.oneOf(["PENDING", "DELIVERED", "FAILED"] as const, "Only those in this state."),
      limit: option.count(`How many at most; ${defaultLimit} if left out.`),
    },
    run: async ({ api }, { args: path, options: { state, limit = defaultLimit } }) => {
      const query = omitUndefined({ state });
      const read = (page: object) =>
        api.GET(`${oneEndpoint}/deliveries`, { params: { path, query: { ...query, ...page } } });
      return wholeList("deliveries", await listFirst(read, { limit }), {
        columns: deliveryColumns,
        id: ({ deliveryId }) => deliveryId,
      });
    },
  }),
  delivery: shows(oneDelivery, {
    summary: "Show one delivery: its body, and every attempt with status, duration and the first bytes of the answer.",
    show: showDelivery,
  }),
  redeliver: changes("post", `${oneDelivery}/redelivery`, {
    summary: "Send one delivery again, with the same webhook-id and all retries.",
    line: "Delivery queued again.",
  }),
  "redeliver-failed": makeApiCommand({
    summary: "Send all failed deliveries of an endpoint again, from a time on.",
    args,
    options: { since: required(option.time("Deliveries made at this time or later.")) },
    run: async ({ api }, { args: path, options: { since } }) => {
      const params = { path };
      const body = { since: since.toISOString() };
      const { deliveries } = await bodyOf(api.POST(`${oneEndpoint}/redelivery`, { params, body }));
      const line = `${counted(deliveries, "delivery", "deliveries")} queued again.`;
      return done(line, { id: path.endpointId, deliveries });
    },
  }),
  test: makeApiCommand({
    summary: "Send an endpoint a test event, which is marked as one. The log shows the result.",
    args,
    options: { type: option.oneOf(eventTypes, "Its event type; person if left out.") },
    run: async ({ api }, { args: path, options: { type = "person" } }) => {
      const params = { path, ...withIdempotencyKey() };
      const { deliveryId } = await bodyOf(api.POST(`${oneEndpoint}/test`, { params, body: { eventType: type } }));
      return done(`Delivery ${deliveryId} queued.`, { id: path.endpointId, delivery: deliveryId });
    },
  }),
  "debug-signature": debugSignature,
};
