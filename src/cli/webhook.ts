import { isEmpty, makeBody, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Verbs } from "./command.ts";
import { debugSignature } from "./debug-signature.ts";
import type { Extensions } from "./contract-commands.ts";
import { alignColumns, done, recordLines } from "./lines.ts";
import { option } from "./option.ts";
import { argsOf } from "./verbs.ts";

type Endpoint = Schemas["WebhookEndpoint"];
type Attempt = Schemas["DeliveryWithLog"]["log"][number];

const eventTypes = ["person", "group", "school"] as const satisfies Endpoint["eventTypes"];

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

const attemptColumns = ({ number, at, durationMs, status, error, answer }: Attempt): string[] => [
  String(number),
  at,
  `${durationMs} ms`,
  status === null ? (error ?? "") : String(status),
  JSON.stringify((answer ?? "").slice(0, 80)),
];

const endpoints = "/admin/v1/webhook-endpoints";
const oneEndpoint = `${endpoints}/{endpointId}` as const;

const args = argsOf(oneEndpoint);

const show = (shown: Endpoint): Result => ({ lines: endpointLines(shown), quiet: [shown.id], data: shown });

const showDelivery = ({ delivery: shown, log }: Schemas["DeliveryWithLog"]): Result => {
  const { deliveryId: id, messageId, endpointId, state, body } = shown;
  const lines = recordLines({ id, "webhook-id": messageId, endpoint: endpointId, state, body });
  return { lines: [...lines, ...alignColumns(log.map(attemptColumns))], data: { ...shown, log } };
};

export const verbs: Verbs = {
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
  "debug-signature": debugSignature,
};

export const extensions: Extensions = { show: { print: show }, delivery: { print: showDelivery } };
