import { recordDifference } from "../events/index.ts";
import { present } from "../platform/contract-types.ts";
import { withPrismaTransaction, type RecordStore } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import type { Reach } from "../staff/index.ts";
import {
  deliveryNotFound,
  getDelivery as find,
  listDeliveries as list,
  redeliverFailed as repeatFailed,
  redeliverIn,
} from "../webhooks/index.ts";
import type { Attempt, Delivery as Found } from "../webhooks/index.ts";
import type { components } from "../../generated/openapi/admin.ts";
import { differenceOf } from "./change.ts";
import { endpointsPath, refuseOtherEndpoint } from "./endpoints.ts";
import type { AdminHandler } from "./handler.ts";
import { answerPage, readPage } from "./page.ts";
import { tagOf } from "./stale.ts";

type Schemas = components["schemas"];
type Delivery = Schemas["Delivery"];

function presentDelivery({ id: deliveryId, nextAttemptAt, createdAt, finishedAt, ...of }: Found): Delivery {
  const { messageId, endpointId, eventType, isTest, body, state, attempts } = of;
  return present<Delivery>({
    deliveryId,
    messageId,
    endpointId,
    eventType,
    isTest,
    body,
    state,
    attempts,
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  });
}

const presentAttempt = ({ at, ...of }: Attempt) => present<Schemas["DeliveryAttempt"]>({ ...of, at: at.toISOString() });

/** Errors: not_found webhook_delivery_not_found, also if the caller does not reach its endpoint. */
async function readDelivery(db: RecordStore, reach: Reach, id: string): Promise<Schemas["DeliveryWithLog"]> {
  const { log, ...found } = await find(db, id);
  await refuseOtherEndpoint(db, reach, found.endpointId).catch((error: unknown) => {
    throw error instanceof AppError && error.kind === "not_found" ? deliveryNotFound() : error;
  });
  return { delivery: presentDelivery(found), log: log.map(presentAttempt) };
}

const listDeliveries: AdminHandler<"listDeliveries"> = async (deps, { path: { endpointId }, query, reach }) => {
  const page = readPage(deps, "listDeliveries", query);
  await refuseOtherEndpoint(deps.db, reach, endpointId);
  const found = await list(deps.db, { endpointId, state: query.state, limit: page.take, after: page.after });
  const asked = { list: "listDeliveries" as const, path: `${endpointsPath}/${endpointId}/deliveries`, query, page };
  return answerPage(deps, asked, { found, idOf: ({ id }) => id, present: presentDelivery });
};

const getDelivery: AdminHandler<"getDelivery"> = async ({ db }, { path, reach }) => {
  const body = await readDelivery(db, reach, path.deliveryId);
  return { status: 200, body, headers: { ETag: tagOf(body) } };
};

const redeliver: AdminHandler<"redeliver"> = async ({ db }, { path: { deliveryId }, reach, origin }) =>
  withPrismaTransaction(db, async (tx) => {
    const { delivery: before } = await readDelivery(tx, reach, deliveryId);
    await redeliverIn(tx, deliveryId, origin);
    const { delivery: after } = await readDelivery(tx, reach, deliveryId);
    await recordDifference(tx, origin, differenceOf(before, after));
    return { status: 202 };
  });

const redeliverFailed: AdminHandler<"redeliverFailed"> = async ({ db }, { path, body, reach, origin }) => {
  const { endpointId } = path;
  await refuseOtherEndpoint(db, reach, endpointId);
  const deliveries = await repeatFailed(db, { endpointId, since: new Date(body.since) }, origin);
  return { status: 202, body: { deliveries } };
};

export const deliveryHandlers = { listDeliveries, getDelivery, redeliver, redeliverFailed };
