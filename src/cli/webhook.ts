import { bodyOf, isEmpty, type Schemas } from "./admin-api.ts";
import type { Result, Verbs } from "./command.ts";
import { debugSignature } from "./debug-signature.ts";
import type { Extensions } from "./contract-commands.ts";
import { alignColumns, recordLines } from "./lines.ts";

type Attempt = Schemas["DeliveryWithLog"]["log"][number];

const attemptColumns = ({ number, at, durationMs, status, error, answer }: Attempt): string[] => [
  String(number),
  at,
  `${durationMs} ms`,
  status === null ? (error ?? "") : String(status),
  JSON.stringify((answer ?? "").slice(0, 80)),
];

const showDelivery = ({ delivery, log }: Schemas["DeliveryWithLog"]): Result => {
  const { deliveryId: id, messageId, endpointId, state, body } = delivery;
  const lines = recordLines({ id, "webhook-id": messageId, endpoint: endpointId, state, body });
  return { lines: [...lines, ...alignColumns(log.map(attemptColumns))], data: { ...delivery, log } };
};

export const verbs: Verbs = { "debug-signature": debugSignature };

export const extensions: Extensions = {
  delivery: { print: showDelivery },
  update: {
    // The service refuses a change of nothing; the endpoint must exist all the same.
    send: async ({ api }, { path: { endpointId = "" }, body }) =>
      isEmpty(body)
        ? bodyOf(api.GET("/admin/v1/webhook-endpoints/{endpointId}", { params: { path: { endpointId } } }))
        : undefined,
  },
};
