import { findApp } from "../../access/index.ts";
import { recordAudit, type Origin } from "../../events/index.ts";
import type { Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { makeUuid } from "../../platform/crypto/ids.ts";
import type { EncryptionKeys } from "../../platform/crypto/seal.ts";
import { findRows, sql, statement, table } from "../../platform/database/sql.ts";
import { checkTypes, lockEndpointsOf } from "../endpoint.ts";
import type { EventType } from "../payload.ts";
import { addSecret } from "../secret.ts";
import { listenerUrl, listensUntil } from "./listening.ts";

const mostOfApp = 5;

const w = table("webhookEndpoint", "w");

const countListeners = statement<{ clientId: string; now: Date }>(
  ({ clientId, now }) => sql`
  SELECT count(*)::int AS count FROM ${w} WHERE ${w.clientId} = ${clientId} AND ${w.listensUntil} > ${now}`,
  "webhooks.countListeners",
);

export type NewListener = { clientId: string; eventTypes: readonly EventType[] };

/**
 * Makes an endpoint whose deliveries are fetched. The secret is answered here and never again.
 *
 * Errors: not_found for an unknown app; conflict webhook_listener_limit; invalid for no event type.
 */
export async function makeListenerIn(
  tx: Transaction,
  { clientId, eventTypes: types }: NewListener,
  { origin, keys }: { origin: Origin; keys: EncryptionKeys },
): Promise<{ id: string; secret: string }> {
  if ((await findApp(tx, clientId)) === null)
    throw new AppError("not_found", "app_not_found", "There is no app with this client id");
  const { at } = origin;
  const eventTypes = checkTypes(types);
  await lockEndpointsOf(tx, clientId);
  type Given = { clientId: string; now: Date };
  const [found] = await findRows<{ count: number }, Given>(tx, countListeners, { clientId, now: at });
  if (found!.count >= mostOfApp) throw tooMany();
  const id = makeUuid(at);
  await tx.prisma.webhookEndpoint.create({
    data: {
      id,
      clientId,
      url: listenerUrl,
      eventTypes,
      listensUntil: listensUntil(at),
      stateChangedAt: at,
      createdAt: at,
      updatedAt: at,
    },
  });
  const secret = await addSecret(tx, { endpointId: id, keys, now: at });
  const detail = { endpointId: id, eventTypes };
  await recordAudit(tx, { ...origin, action: "webhook_endpoint_registered", clientId, detail });
  return { id, secret };
}

const tooMany = (): AppError =>
  new AppError(
    "conflict",
    "webhook_listener_limit",
    `The app has ${mostOfApp} listening endpoints already; end one, or continue it`,
  );
