import { forgetEventsOf, recordAudit, type Origin } from "../events/index.ts";
import { withPrismaTransaction, type PrismaDb, type Transaction } from "../platform/database/db.ts";
import { forgetFigures } from "../traffic/index.ts";
import { appNotFound } from "./app.ts";
import { againAfterDeadlock } from "./deadlock.ts";
import { inLongPlace } from "./long-changes.ts";
import type { ClientId } from "./token.ts";

/** Removes what modules that access does not know keep of an app, in the same transaction. */
export type ForgetApp = (tx: Transaction, clientId: ClientId) => Promise<void>;

type Deletion = { clientId: ClientId; origin: Origin; forget: ForgetApp };

/**
 * Deletes an app with everything of its client id, in one transaction: tokens, grants, consents, sign-ins, webhook
 * endpoints and logout notices. The client id is never given again.
 *
 * Shape:  its events are removed after the commit, in batches, as they may be many; without a token nobody reads them,
 *         and those that a change under way still writes are removed by age. `work` runs around the deletion, in its
 *         transaction.
 * Errors: not_found app_not_found; unavailable while too much is under way that takes as long.
 */
export async function deleteApp(
  db: PrismaDb,
  clientId: ClientId,
  { work = (_tx, deleteRecords) => deleteRecords(), ...given }: Omit<Deletion, "clientId"> & { work?: Around },
): Promise<void> {
  const deleteOnce = () => withPrismaTransaction(db, (tx) => work(tx, () => deleteRecords(tx, { clientId, ...given })));
  await inLongPlace(db, () => againAfterDeadlock(deleteOnce));
  await forgetEventsOf(db, clientId);
}

type Around = (tx: Transaction, deleteRecords: () => Promise<void>) => Promise<void>;

async function deleteRecords(tx: Transaction, { clientId, origin, forget }: Deletion): Promise<void> {
  // A large app has millions of sign-ins and tokens.
  await tx.query("SET LOCAL statement_timeout = 0");
  await forget(tx, clientId);
  const { count } = await tx.prisma.app.deleteMany({ where: { clientId } });
  if (count === 0) throw appNotFound();
  await forgetFigures(tx, clientId);
  await tx.prisma.announcedSignIn.deleteMany({ where: { clientId } });
  await forget(tx, clientId);
  await tx.prisma.retiredClientId.create({ data: { clientId, retiredAt: origin.at } });
  await recordAudit(tx, { ...origin, action: "app_deleted", clientId });
}
