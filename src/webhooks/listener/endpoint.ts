import { withPrismaTransaction, type PrismaDb, type Transaction } from "../../platform/database/db.ts";
import type { Origin } from "../../events/index.ts";
import type { EncryptionKeys } from "../../platform/crypto/seal.ts";
import { checkLimit } from "../../platform/database/sql.ts";
import { AppError } from "../../platform/errors.ts";
import { checkTypes, insertEndpoint, lockEndpointsOf, removeDeliveries, removeEndpointIn } from "../endpoint.ts";
import type { EventType } from "../payload.ts";

const listenerUrl = "about:listener";
const mostOfApp = 5;
const idleSeconds = 900;

export const listensUntil = (now: Date): Date => new Date(now.getTime() + idleSeconds * 1000);

/** Only the result has the secret. Errors: not_found app_not_found; conflict webhook_listener_limit. */
export async function makeListenerIn(
  tx: Transaction,
  { clientId, eventTypes: types }: { clientId: string; eventTypes: readonly EventType[] },
  context: { origin: Origin; keys: EncryptionKeys },
): Promise<{ id: string; secret: string }> {
  const now = context.origin.at;
  const eventTypes = checkTypes(types);
  const message = `The app has ${mostOfApp} listening endpoints already; end one, or continue it`;
  await checkLimit({
    lock: () => lockEndpointsOf(tx, clientId),
    count: () => tx.prisma.webhookEndpoint.count({ where: { clientId, listensUntil: { gt: now } } }),
    most: mostOfApp,
    full: () => new AppError("conflict", "webhook_listener_limit", message),
  });
  return insertEndpoint(tx, { clientId, eventTypes, url: listenerUrl, listensUntil: listensUntil(now) }, context);
}

export async function endListeners(db: PrismaDb, { now, signal }: { now: Date; signal: AbortSignal }): Promise<void> {
  const ended = await db.prisma.webhookEndpoint.findMany({
    where: { listensUntil: { lte: now } },
    select: { id: true },
    take: 1000,
  });
  for (const { id } of ended) {
    if (signal.aborted) return;
    await withPrismaTransaction(db, (tx) => removeEndpointIn(tx, id, { at: now })).catch((error: unknown) => {
      // Another process removed it first.
      if (!(error instanceof AppError && error.kind === "not_found")) throw error;
    });
    await removeDeliveries(db, [id]);
  }
}
