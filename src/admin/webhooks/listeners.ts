import type { ClientId } from "../../access/index.ts";
import { present } from "../present.ts";
import { storeOf } from "../../platform/database/db.ts";
import * as webhooks from "../../webhooks/index.ts";
import type { SignedDelivery } from "../../webhooks/index.ts";
import type { Reach } from "../../staff/index.ts";
import { commit, commitCreated } from "../change.ts";
import { presentMade } from "./endpoints.ts";
import type { AdminHandler, Schemas } from "../handler.ts";
import { refuseOtherEndpoint, refuseUnknownApp } from "../reached.ts";

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
    const taken = await webhooks.takeDeliveries(deps.db, {
      endpointId,
      most,
      now: deps.clock(),
      keys: deps.webhookKeys,
    });
    const body = present("TakenDeliveries", {
      deliveries: taken.deliveries.map(describeTaken),
      listensUntil: taken.listensUntil,
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
