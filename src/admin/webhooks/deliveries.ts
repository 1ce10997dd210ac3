import { addDays } from "../../platform/clock.ts";
import type { Same } from "../../platform/contract-types.ts";
import { present } from "../present.ts";
import { storeOf, type RecordStore } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import type { Reach } from "../../staff/index.ts";
import * as webhooks from "../../webhooks/index.ts";
import type { Delivery as Found } from "../../webhooks/index.ts";
import { answerRecord, changeRecord } from "../change.ts";
import type { AdminHandler, Schemas } from "../handler.ts";
import { refuseOtherEndpoint } from "../reached.ts";

type Delivery = Schemas["Delivery"];

/** Does not compile if a delivery has a property that the contract lacks. */
export const deliveryProperties: Same<Exclude<keyof Delivery, "deliveryId"> | "id", keyof Found> = true;
const presentDelivery = (delivery: Found) => present("Delivery", { deliveryId: delivery.id, ...delivery });

/** Errors: not_found webhook_delivery_not_found, also if the caller does not reach its endpoint. */
async function readDelivery(db: RecordStore, reach: Reach, id: string): Promise<Schemas["DeliveryWithLog"]> {
  const { log, ...found } = await webhooks.getDelivery(db, id);
  await refuseOtherEndpoint(db, reach, found.endpointId).catch((error: unknown) => {
    throw error instanceof AppError && error.kind === "not_found" ? webhooks.deliveryNotFound() : error;
  });
  return present("DeliveryWithLog", { delivery: { ...found, deliveryId: id }, log });
}

export const listDeliveries: AdminHandler<"listDeliveries"> = async ({ db }, { endpointId, query, page }) =>
  page.answer(await webhooks.listDeliveries(db, { endpointId, state: query.state, ...page.range }), presentDelivery);

export const getDelivery: AdminHandler<"getDelivery"> = async ({ db }, { deliveryId, reach }) =>
  answerRecord(await readDelivery(db, reach, deliveryId));

export const redeliver: AdminHandler<"redeliver"> = (deps, request) => {
  const { deliveryId, reach, origin } = request;
  return changeRecord(deps, request, {
    record: async (tx) => (await readDelivery(tx, reach, deliveryId)).delivery,
    work: (tx) => webhooks.redeliverIn(tx, deliveryId, origin),
    answer: () => ({ status: 202 as const }),
  });
};

export const redeliverFailed: AdminHandler<"redeliverFailed"> = async ({ db }, { endpointId, body, origin }) => {
  const deliveries = await webhooks.redeliverFailed(db, { endpointId, since: new Date(body.since) }, origin);
  return { status: 202, body: { deliveries } };
};

const figureDays = 1;

export const getEndpointFigures: AdminHandler<"getEndpointFigures"> = async ({ db }, { endpointId, origin }) => {
  const { pending } = await webhooks.readEndpoint(storeOf(db), endpointId);
  const found = await webhooks.findEndpointFigures(db.pool, { endpointId, since: addDays(origin.at, -figureDays) });
  const { attempts, succeeded } = found;
  const body = present("EndpointFigures", {
    ...found,
    pending,
    successRate: attempts === 0 ? null : succeeded / attempts,
  });
  return answerRecord(body);
};
