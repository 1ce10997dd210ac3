import { makeSweep } from "../../platform/jobs/batches.ts";
import type { RecordStore, Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { makeUuid } from "../../platform/crypto/ids.ts";
import { seal, unseal, type EncryptionKeys } from "../../platform/crypto/seal.ts";

const keptSeconds = 600;
const revokedDays = 90;

const purposeOf = (id: string, caller: string): string => `card print ${id} ${caller}`;

/** Stores the data of a print for ten minutes, encrypted. Only `caller` can fetch it. */
export async function keepPrint(
  { prisma }: Transaction,
  keys: EncryptionKeys,
  { caller, content, now }: { caller: string; content: object; now: Date },
): Promise<string> {
  const id = makeUuid(now);
  const encrypted = seal(keys, purposeOf(id, caller), Buffer.from(JSON.stringify(content)));
  await prisma.cardPrint.create({ data: { id, caller, encrypted: new Uint8Array(encrypted), createdAt: now } });
  return id;
}

export const printUnknown = () =>
  new AppError("not_found", "card_print_not_found", "These cards cannot be printed again; make them anew.");

/** Deletes the print after `use`, so that a failed try can be repeated. Errors: not_found card_print_not_found. */
export async function takePrint<T>(
  { prisma }: RecordStore,
  keys: EncryptionKeys,
  { id, caller, now }: { id: string; caller: string; now: Date },
  use: (content: unknown) => Promise<T>,
): Promise<T> {
  const where = { id, caller, createdAt: { gt: new Date(now.getTime() - keptSeconds * 1000) } };
  const print = await prisma.cardPrint.findFirst({ where });
  const plain = print && unseal(keys, purposeOf(id, caller), Buffer.from(print.encrypted));
  if (!plain) throw printUnknown();
  const made = await use(JSON.parse(plain.toString()));
  const { count } = await prisma.cardPrint.deleteMany({ where });
  if (count === 0) throw printUnknown();
  return made;
}

/** Deletes expired prints, cards that were revoked long ago, and the class lists of lessons that are over. */
export function makeCardSweep({ db, clock }: { db: RecordStore; clock: () => Date }) {
  const before = (now: Date, seconds: number) => ({ lt: new Date(now.getTime() - seconds * 1000) });
  return makeSweep(
    { name: "sign-on.sweepCards", clock, everySeconds: 60 },
    async (now, limit) =>
      (await db.prisma.cardPrint.deleteMany({ where: { createdAt: before(now, keptSeconds) }, limit })).count,
    async (now, limit) =>
      (await db.prisma.loginCard.deleteMany({ where: { revokedAt: before(now, revokedDays * 86_400) }, limit })).count,
    async (now, limit) => (await db.prisma.classList.deleteMany({ where: { endsAt: before(now, 0) }, limit })).count,
  );
}
