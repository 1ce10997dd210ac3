import { forgetEvents, recordAudit, type Origin } from "../events/index.ts";
import { withPrismaTransaction, type PrismaDb, type Transaction } from "../platform/database/db.ts";
import { deleteFiguresOf } from "../traffic/index.ts";
import { appNotFound } from "./app.ts";
import { againAfterDeadlock, inSlot } from "./change.ts";
import { recordRegistration } from "./disclosure/registration.ts";
import { recordWithheld } from "./disclosure/withheld.ts";
import { recordFormerAlgorithm } from "./id-token-algorithm.ts";
import { forgetIdsOfSectors } from "./pairwise.ts";
import type { ClientId } from "./token.ts";

export type ForgetApp = (tx: Transaction, clientId: ClientId) => Promise<void>;

type Deletion = { clientId: ClientId; origin: Origin; forget: ForgetApp };

/**
 * Deletes an app in one transaction that `work` may wrap; its events are removed later in batches.
 *
 * Errors: not_found app_not_found; unavailable during too many large changes.
 */
export async function deleteApp(
  db: PrismaDb,
  clientId: ClientId,
  { work = (_tx, deleteRecords) => deleteRecords(), ...rest }: Omit<Deletion, "clientId"> & { work?: Around },
): Promise<void> {
  const deleteOnce = () => withPrismaTransaction(db, (tx) => work(tx, () => deleteRecords(tx, { clientId, ...rest })));
  await inSlot(db, () => againAfterDeadlock(deleteOnce));
  await forgetEvents(db, { clientId, onlyNewIds: false });
}

type Around = (tx: Transaction, deleteRecords: () => Promise<void>) => Promise<void>;

async function deleteRecords(tx: Transaction, { clientId, origin, forget }: Deletion): Promise<void> {
  // A large app has millions of sign-ins and tokens.
  await tx.query("SET LOCAL statement_timeout = 0");
  await forget(tx, clientId);
  const select = { idTokenAlgorithm: true, sector: true } as const;
  const move = await tx.prisma.idMove.findUnique({ where: { clientId } });
  const app = await tx.prisma.app.findUnique({ where: { clientId }, select });
  const { count } = await tx.prisma.app.deleteMany({ where: { clientId } });
  if (app === null || count === 0) throw appNotFound();
  await recordRegistration(tx, clientId, origin.at);
  await recordWithheld(tx, { clientId, schoolId: null, at: origin.at });
  const sectors = [app.sector, move?.oldSector, move?.newSector].filter((sector) => typeof sector === "string");
  await forgetIdsOfSectors(tx, [...new Set(sectors)]);
  await deleteFiguresOf(tx, `app:${clientId}`);
  await tx.prisma.announcedSignIn.deleteMany({ where: { clientId } });
  // Schools keep the receipts of what they agreed to.
  await tx.prisma.agreement.deleteMany({ where: { clientId, acceptances: { none: {} } } });
  await forget(tx, clientId);
  await tx.prisma.retiredClientId.create({ data: { clientId, retiredAt: origin.at } });
  await recordFormerAlgorithm(tx, app.idTokenAlgorithm, origin);
  await recordAudit(tx, { ...origin, action: "app_deleted", clientId });
}
