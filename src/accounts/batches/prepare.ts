import type { SchoolId } from "../../directory/index.ts";
import type { Clock } from "../../platform/clock.ts";
import type { EncryptionKeys } from "../../platform/crypto/seal.ts";
import { withPrismaTransaction, type PrismaDb } from "../../platform/database/db.ts";
import { makeFind, makeRun, sql, table, update } from "../../platform/database/sql.ts";
import { workInBatches } from "../../platform/jobs/batches.ts";
import type { WorkerJob } from "../../platform/jobs/worker.ts";
import type { MakeCard } from "../cards/make-card.ts";
import { readCardSettings } from "../cards/settings.ts";
import { hashBehind } from "../login/hash-aside.ts";
import { hashPassword } from "../login/password.ts";
import { prepareSecrets, type Prepared } from "../set-secrets.ts";
import { findSignInSettings } from "../sign-in-settings.ts";
import { deleteExpiredBatches, forgetHandedOut, sealPrepared, type Batch, type BatchId } from "./batch.ts";

type Deps = { db: PrismaDb; clock: Clock; keys: EncryptionKeys; makeCard: MakeCard };

/** So many people are prepared in one lease, well within its minute; then another batch has its turn. */
const atOnce = 10;

const b = table("credentialBatch", "b");
const w = table("credentialBatch", "w");

const takeBatch = makeFind<{ id: BatchId }, { now: Date }>()`
  ${update("credentialBatch", "b", { leaseUntil: sql`clock_timestamp() + interval '1 minute'` })}
  WHERE ${b.id} = (
    SELECT ${w.id} FROM ${w}
    WHERE ${w.readyAt} IS NULL AND ${w.expiresAt} > ${"now"} AND (${w.leaseUntil} IS NULL
      OR ${w.leaseUntil} < clock_timestamp())
    ORDER BY ${w.leaseUntil} NULLS FIRST, ${w.id} LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
  RETURNING ${b.id} AS id`;

/** The column rounds to milliseconds: what ends now could still be leased when it is taken next. */
const ended = sql`clock_timestamp() - interval '1 millisecond'`;

const endTurn = makeRun<{ batchId: string; readyAt: Date | null }>()`
  ${({ readyAt }) => update("credentialBatch", "b", { leaseUntil: ended, readyAt })} WHERE ${b.id} = ${"batchId"}`;

/** Prepares batches in turns, some people at a time, and deletes expired batches. A crash loses one turn. */
export function makeCredentialJob(deps: Deps): WorkerJob {
  return {
    name: "accounts.prepareCredentials",
    everySeconds: 2,
    async run(signal) {
      await forgetHandedOut(deps.db, deps.clock());
      await workInBatches(signal, (limit) => deleteExpiredBatches(deps.db, deps.clock(), limit), 20);
      while (!signal.aborted && (await prepareSome(deps, signal)));
    },
  };
}

async function prepareSome(deps: Deps, signal: AbortSignal): Promise<boolean> {
  const { db, clock } = deps;
  const [due] = await takeBatch(db.pool, { now: clock() });
  if (due === undefined) return false;
  const batch = await db.prisma.credentialBatch.findUnique({ where: { id: due.id }, omit: { encrypted: true } });
  if (batch === null) return true;
  const isUnprepared = { batchId: batch.id, encrypted: null };
  const people = await db.prisma.credentialBatchPerson.findMany({ where: isUnprepared, take: atOnce });
  const made = await makeAll(deps, batch, { count: people.length, signal });
  await withPrismaTransaction(db, async (tx) => {
    for (const [at, prepared] of made.entries()) {
      const { personId } = people[at]!;
      const encrypted = sealPrepared({ ...batch, keys: deps.keys }, personId, prepared);
      await tx.prisma.credentialBatchPerson.updateMany({ where: { ...isUnprepared, personId }, data: { encrypted } });
    }
    const left = await tx.prisma.credentialBatchPerson.count({ where: isUnprepared });
    await endTurn(tx, { batchId: batch.id, readyAt: left === 0 ? clock() : null });
  });
  return true;
}

const hashSlowly = (password: string): Promise<string> => hashPassword(password, hashBehind);

async function makeAll(
  { db, clock, makeCard }: Deps,
  { newPasswords, withQr, ...batch }: Batch,
  { count, signal }: { count: number; signal: AbortSignal },
): Promise<Prepared[]> {
  const schoolId = batch.schoolId as SchoolId;
  const { secondStep } = await readCardSettings(db, schoolId);
  const { passwordKind } = (await findSignInSettings(db, schoolId))!;
  const preparing = {
    passwordKind: newPasswords ? passwordKind : null,
    makeCard: withQr ? () => makeCard({ secondStep, now: clock() }) : null,
  };
  const made: Prepared[] = [];
  while (made.length < count && !signal.aborted) made.push(await prepareSecrets(preparing, hashSlowly));
  return made;
}
