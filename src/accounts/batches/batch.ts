import { addDays } from "../../platform/clock.ts";
import type { Prisma } from "../../../generated/prisma/client.ts";
import type { PersonId, PersonRole, SchoolId } from "../../directory/index.ts";
import { makeUuid } from "../../platform/crypto/ids.ts";
import { seal, unseal, type EncryptionKeys } from "../../platform/crypto/seal.ts";
import type { RecordStore, Transaction } from "../../platform/database/db.ts";
import { checkLimit, insert, lockName, makeRun, sql } from "../../platform/database/sql.ts";
import { AppError } from "../../platform/errors.ts";
import type { Prepared } from "../set-secrets.ts";

declare const batchId: unique symbol;
export type BatchId = string & { readonly [batchId]: true };

/** No `groupIds` for the whole school. */
export type BatchWishes = {
  schoolId: SchoolId;
  groupIds: readonly string[];
  roles: readonly PersonRole[];
  newPasswords: boolean;
  withQr: boolean;
  withLetters: boolean;
  onlyMissing: boolean;
};

export type Batch = Omit<Prisma.CredentialBatchModel, "encrypted">;
export type CountedBatch = Batch & { people: number; prepared: number };

export const mostInBatch = 3_000;
const keptDays = 1;
const againSeconds = 900;

const addPeople = makeRun<{ batchId: string; people: readonly string[] }>(({ batchId, people }) =>
  insert(
    "credentialBatchPerson",
    { batchId, personId: sql`given.id` },
    sql`FROM unnest(${people}::uuid[]) AS given (id) ON CONFLICT DO NOTHING`,
  ),
);

/** Errors: conflict too_many_credential_batches. */
export async function createBatchIn(
  tx: Transaction,
  { people, groupIds, roles, ...wishes }: BatchWishes & { caller: string; people: readonly PersonId[] },
  now: Date,
): Promise<BatchId> {
  const { caller } = wishes;
  await checkLimit({
    lock: () => lockName(tx, { name: `credential batches of ${caller}` }),
    count: () => tx.prisma.credentialBatch.count({ where: { caller, handedOutAt: null, expiresAt: { gt: now } } }),
    most: 3,
    full: () =>
      new AppError(
        "conflict",
        "too_many_credential_batches",
        "You have three documents waiting. Fetch or delete one of them first.",
      ),
  });
  const id = makeUuid(now) as BatchId;
  const times = { createdAt: now, expiresAt: addDays(now, keptDays) };
  await tx.prisma.credentialBatch.create({
    data: { ...wishes, ...times, id, groupIds: [...groupIds], roles: [...new Set(roles)] },
  });
  await addPeople(tx, { batchId: id, people });
  return id;
}

const batchUnknown = () =>
  new AppError(
    "not_found",
    "credential_batch_not_found",
    "This document does not exist any more. What was not fetched is as it was; start again.",
  );

const batchFetched = () =>
  new AppError(
    "conflict",
    "credential_batch_fetched",
    "This document was fetched before. What it contains is valid; start again if it was lost.",
  );

type Own = { schoolId: SchoolId; caller: string; now: Date };

/** Lists what a caller started at a school, latest first. */
export async function listBatches(
  db: RecordStore,
  { schoolId, caller, now, id, after, limit }: Own & { id?: BatchId; after?: string | undefined; limit: number },
): Promise<CountedBatch[]> {
  const batches = await db.prisma.credentialBatch.findMany({
    where: { schoolId, caller, expiresAt: { gt: now }, AND: [id ? { id } : {}, after ? { id: { lt: after } } : {}] },
    omit: { encrypted: true },
    include: { _count: { select: { people: true } } },
    orderBy: { id: "desc" },
    take: limit,
  });
  const isPrepared = { batchId: { in: batches.map((batch) => batch.id) }, encrypted: { not: null } };
  const counts = await db.prisma.credentialBatchPerson.groupBy({ by: "batchId", where: isPrepared, _count: true });
  const prepared = new Map(counts.map((count) => [count.batchId, count._count]));
  return batches.map(({ _count, ...batch }) => {
    const { people } = _count;
    return { ...batch, people, prepared: batch.handedOutAt === null ? (prepared.get(batch.id) ?? 0) : people };
  });
}

/** Errors: not_found credential_batch_not_found, also if somebody else started it. */
export async function getBatch(db: RecordStore, batch: Own & { id: BatchId }): Promise<CountedBatch> {
  const [made] = await listBatches(db, { ...batch, limit: 1 });
  if (made === undefined) throw batchUnknown();
  return made;
}

export async function deleteBatch({ prisma }: RecordStore, id: BatchId): Promise<void> {
  await prisma.credentialBatch.deleteMany({ where: { id } });
}

export const deleteExpiredBatches = async ({ prisma }: RecordStore, now: Date, limit: number): Promise<number> =>
  (await prisma.credentialBatch.deleteMany({ where: { expiresAt: { lte: now } }, limit })).count;

/** Deletes documents that were fetched minutes ago. */
export async function forgetHandedOut({ prisma }: RecordStore, now: Date): Promise<void> {
  await prisma.credentialBatch.updateMany({
    where: { handedOutAt: { lte: new Date(now.getTime() - againSeconds * 1000) }, NOT: { encrypted: null } },
    data: { encrypted: null },
  });
}

type Sealed = { id: string; caller: string; keys: EncryptionKeys };

const purposeOf = ({ id, caller }: Sealed, part: string): string => `credential batch ${id} ${caller} ${part}`;

const sealJson = (batch: Sealed, part: string, content: unknown): Uint8Array<ArrayBuffer> =>
  new Uint8Array(seal(batch.keys, purposeOf(batch, part), Buffer.from(JSON.stringify(content))));

function unsealJson(batch: Sealed, part: string, bytes: Uint8Array): unknown {
  const plain = unseal(batch.keys, purposeOf(batch, part), Buffer.from(bytes));
  if (plain === null) throw batchUnknown();
  return JSON.parse(plain.toString(), (_key, value: unknown) => {
    const isBuffer = typeof value === "object" && value !== null && "type" in value && value.type === "Buffer";
    return isBuffer ? Buffer.from((value as unknown as { data: number[] }).data) : value;
  });
}

export const sealPrepared = (batch: Sealed, personId: string, prepared: Prepared): Uint8Array<ArrayBuffer> =>
  sealJson(batch, personId, prepared);

export async function openPrepared({ prisma }: RecordStore, batch: Sealed): Promise<Map<PersonId, Prepared>> {
  const rows = await prisma.credentialBatchPerson.findMany({ where: { batchId: batch.id } });
  return new Map(
    rows.flatMap(({ personId, encrypted }): [PersonId, Prepared][] =>
      encrypted === null ? [] : [[personId as PersonId, unsealJson(batch, personId, encrypted) as Prepared]],
    ),
  );
}

const document = "document";

type HandedOut = Sealed & { key: string | undefined; people: readonly PersonId[]; content: unknown; now: Date };

/** Keeps what is handed out for a repeated download; deletes the rest. Errors: conflict credential_batch_fetched. */
export async function closeBatchIn(tx: Transaction, batch: HandedOut): Promise<void> {
  const { prisma } = tx;
  const { id, key, people, content, now } = batch;
  const data = { handedOutAt: now, handedOutKey: key ?? null, encrypted: sealJson(batch, document, content) };
  const { count } = await prisma.credentialBatch.updateMany({ where: { id, handedOutAt: null }, data });
  if (count === 0) throw batchFetched();
  await prisma.credentialBatchPerson.deleteMany({ where: { batchId: id } });
  await addPeople(tx, { batchId: id, people });
}

/** Opens what `closeBatchIn` kept. Errors: conflict credential_batch_fetched, for another key or after minutes. */
export async function openHandedOut({ prisma }: RecordStore, batch: Sealed & Pick<HandedOut, "key">): Promise<unknown> {
  const { id, key } = batch;
  const where = { id, handedOutKey: key ?? null };
  const stored = key === undefined ? null : await prisma.credentialBatch.findUnique({ where });
  if (!stored?.encrypted) throw batchFetched();
  return unsealJson(batch, document, stored.encrypted);
}
