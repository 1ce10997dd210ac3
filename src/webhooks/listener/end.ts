import { withPrismaTransaction, type PrismaDb } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { removeDeliveries, removeEndpointIn } from "../endpoint.ts";

/** Deletes the listening endpoints from which nothing is fetched any more, with their deliveries. */
export async function endListeners(db: PrismaDb, { now, signal }: { now: Date; signal: AbortSignal }): Promise<void> {
  const over = await db.prisma.webhookEndpoint.findMany({
    where: { listensUntil: { lte: now } },
    select: { id: true },
    take: 1000,
  });
  for (const { id } of over) {
    if (signal.aborted) return;
    await withPrismaTransaction(db, (tx) => removeEndpointIn(tx, id, { at: now })).catch((error: unknown) => {
      // Another process was faster.
      if (!(error instanceof AppError && error.kind === "not_found")) throw error;
    });
    await removeDeliveries(db, [id]);
  }
}
