import { addDays } from "../../platform/clock.ts";
import type { Same } from "../../platform/contract-types.ts";
import { storeOf, type RecordStore } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import type { Reach } from "../../staff/index.ts";
import * as webhooks from "../../webhooks/index.ts";
import type { Delivery as Found, SignedDelivery } from "../../webhooks/index.ts";
import { answerRecord, changeRecord, commit, commitCreated } from "../change.ts";
import { present, type AdminHandler, type Schemas } from "../handler.ts";
import { refuseOtherEndpoint, refuseUnknownApp } from "../reached.ts";
import type { ClientId } from "../../access/index.ts";
import { presentMade } from "./endpoints.ts";

/** Does not compile if a delivery has a property that the contract lacks. */
export const deliveryProperties: Same<Exclude<keyof Schemas["Delivery"], "deliveryId"> | "id", keyof Found> = true;
const presentDelivery = (delivery: Found) => present("Delivery", { deliveryId: delivery.id, ...delivery });

/** Errors: not_found webhook_delivery_not_found, also if the caller does not reach its endpoint. */
async function readDelivery(db: RecordStore, reach: Reach, id: string): Promise<Schemas["DeliveryWithLog"]> {
  const { log, ...delivery } = await webhooks.getDelivery(db, id);
  await refuseOtherEndpoint(db, reach, delivery.endpointId).catch((error: unknown) => {
    throw error instanceof AppError && error.kind === "not_found" ? webhooks.deliveryNotFound() : error;
  });
  return present("DeliveryWithLog", { delivery: { ...delivery, deliveryId: id }, log });
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
  const figures = await webhooks.findEndpointFigures(db.pool, { endpointId, since: addDays(origin.at, -figureDays) });
  const { attempts, succeeded } = figures;
  const body = present("EndpointFigures", {
    ...figures,
    pending,
    successRate: attempts === 0 ? null : succeeded / attempts,
  });
  return answerRecord(body);
};

export const createListener: AdminHandler<"createListener"> = async (deps, request) => {
  const { body, reach, origin } = request;
  const { clientId, eventTypes } = body;
  await refuseUnknownApp(deps.db.pool, reach, clientId as ClientId);
  return commitCreated(deps, request, async (tx) =>
    presentMade(tx, await webhooks.makeListenerIn(tx, { clientId, eventTypes }, { origin, keys: deps.webhookKeys })),
  );
};

const describeTaken = ({ eventType, ...delivery }: SignedDelivery) => ({
  ...delivery,
  deliveryId: delivery.id,
  eventType: eventType as Schemas["TakenDelivery"]["eventType"],
  attempt: delivery.attempts + 1,
});

export const takeDeliveries: AdminHandler<"takeDeliveries"> = async (deps, { endpointId, body, reach, reachNow }) => {
  const { waitSeconds = 0, most = 8 } = body;
  const workFor = async (among: Reach) => {
    await refuseOtherEndpoint(storeOf(deps.db), among, endpointId);
    const lease = await webhooks.takeDeliveries(deps.db, {
      endpointId,
      most,
      now: deps.clock(),
      keys: deps.webhookKeys,
    });
    const body = present("TakenDeliveries", {
      deliveries: lease.deliveries.map(describeTaken),
      listensUntil: lease.listensUntil,
    });
    return { status: 200 as const, body };
  };
  const answer = await workFor(reach);
  if (answer.body.deliveries.length > 0 || waitSeconds === 0) return answer;
  const work = async () => workFor(await reachNow());
  return { ...answer, later: { wait: (caller) => deps.listeners.wait(endpointId, waitSeconds, caller), work } };
};

export const recordAttempts: AdminHandler<"recordAttempts"> = async (deps, { endpointId, body }) => {
  await webhooks.recordAttempts(
    deps.db,
    { endpointId, attempts: body.attempts },
    { now: deps.clock(), ...deps.listeners.rules },
  );
  return { status: 204 };
};

export const replayDeliveries: AdminHandler<"replayDeliveries"> = (deps, request) =>
  commit(deps, request, async (tx) => {
    const { endpointId, body, origin } = request;
    return { status: 202 as const, body: { deliveries: await webhooks.replayIn(tx, { endpointId, ...body }, origin) } };
  });
