import { hash } from "node:crypto";
import type { Transaction } from "../platform/database/db.ts";
import { workInBatches } from "../platform/jobs/batches.ts";
import { AppError } from "../platform/errors.ts";
import { seal, unseal } from "../platform/crypto/seal.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import type { AdminDeps, Keep, KeptAnswer } from "./handler.ts";

type KeyedRequest = { caller: string; key: string; requestHash: Buffer };

const keptHours = 24;
const ids = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
const purposeOf = ({ caller, key }: KeyedRequest) => `idempotency key ${caller} ${key}`;

/**
 * Runs `work` once per idempotency key: a repeated request gets the stored answer. `work` stores its answer in its own
 * transaction; of two requests at the same time, one is rolled back and gets the answer of the other. Errors:
 * unprocessable idempotency_key_reused for another request, and for an answer about a permanently deleted person.
 */
export async function runOnce<T extends KeptAnswer>(
  deps: Pick<AdminDeps, "db" | "clock" | "keys">,
  { caller, key, request }: { caller: string; key: string | undefined; request: unknown },
  work: (keep: Keep) => Promise<T>,
): Promise<T> {
  if (key === undefined) return work(async (_tx, answer) => answer);
  const keyed = { caller, key, requestHash: hash("sha256", JSON.stringify(request), "buffer") };
  const earlier = await findAnswer(deps, keyed);
  if (earlier !== null) return earlier as T;
  try {
    return await work((tx, answer) => keepAnswer(tx, deps, keyed, answer));
  } catch (error) {
    // What the first request made can refuse this one before its key does, such as a name that is taken.
    const first = await findAnswer(deps, keyed);
    if (first === null) throw error;
    return first as T;
  }
}

async function findAnswer(
  { db, keys }: Pick<AdminDeps, "db" | "keys">,
  keyed: KeyedRequest,
): Promise<KeptAnswer | null> {
  const { caller, key, requestHash } = keyed;
  const row = await db.prisma.idempotencyKey.findUnique({ where: { caller_key: { caller, key } } });
  if (row === null) return null;
  if (!requestHash.equals(row.requestHash))
    throw new AppError("unprocessable", "idempotency_key_reused", "This idempotency key belongs to another request.");
  if (row.answer.length === 0) {
    const message = "The response to this idempotency key was about a person who has been deleted permanently.";
    throw new AppError("unprocessable", "idempotency_key_reused", message);
  }
  const opened = unseal(keys, purposeOf(keyed), Buffer.from(row.answer));
  if (opened === null) throw new Error("The kept answer cannot be decrypted: its key is gone from the configuration.");
  const answer = JSON.parse(opened.toString()) as KeptAnswer;
  return { ...answer, headers: { ...answer.headers, "Idempotency-Replayed": "true" } };
}

async function keepAnswer<Answer extends KeptAnswer>(
  { prisma }: Transaction,
  { clock, keys }: Pick<AdminDeps, "clock" | "keys">,
  keyed: KeyedRequest,
  answer: Answer,
): Promise<Answer> {
  const { caller, key, requestHash } = keyed;
  const text = JSON.stringify(answer);
  await prisma.idempotencyKey.create({
    data: {
      caller,
      key,
      status: answer.status,
      createdAt: clock(),
      requestHash: new Uint8Array(requestHash),
      answer: new Uint8Array(seal(keys, purposeOf(keyed), Buffer.from(text))),
      namedIds: [...new Set(text.match(ids))],
    },
  });
  return answer;
}

export const makeIdempotencySweep = ({ db, clock }: Pick<AdminDeps, "db" | "clock">): WorkerJob => ({
  name: "admin.sweepIdempotencyKeys",
  everySeconds: 600,
  async run(signal) {
    const createdAt = { lt: new Date(clock().getTime() - keptHours * 3600_000) };
    await workInBatches(signal, async (limit) => {
      const { count } = await db.prisma.idempotencyKey.deleteMany({ where: { createdAt }, limit });
      return count;
    });
  },
});
