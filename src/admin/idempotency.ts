import { hash } from "node:crypto";
import type { Transaction } from "../platform/database/db.ts";
import { removeInBatches } from "../platform/jobs/batches.ts";
import { AppError } from "../platform/errors.ts";
import { seal, unseal } from "../platform/crypto/seal.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import type { AdminDeps, Keep } from "./handler.ts";

type Answer = { status: number; body?: unknown; headers?: Record<string, string> };
type Asked = { caller: string; key: string; requestHash: Buffer };

const keptHours = 24;
const ids = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
const purposeOf = ({ caller, key }: Asked) => `idempotency key ${caller} ${key}`;

/**
 * Does what a request with an idempotency key asks for once: the same request again gets the answer of the first.
 *
 * Shape:  `work` keeps its answer in its own transaction, so that neither is there without the other; of two at the
 *         same time one is taken back and gets the answer of the other.
 * Errors: unprocessable idempotency_key_reused for another request with the key, and where the answer was about
 *         somebody who has been deleted for good.
 */
export async function doOnce<T extends Answer>(
  deps: Pick<AdminDeps, "db" | "clock" | "keys">,
  { caller, key, request }: { caller: string; key: string | undefined; request: unknown },
  work: (keep: Keep) => Promise<T>,
): Promise<T> {
  if (key === undefined) return work(async () => undefined);
  const asked = { caller, key, requestHash: hash("sha256", JSON.stringify(request), "buffer") };
  const earlier = await findAnswer(deps, asked);
  if (earlier !== null) return earlier as T;
  try {
    return await work((tx, answer) => keepAnswer(tx, deps, asked, answer));
  } catch (error) {
    // What the first request made can refuse this one before its key does, such as a name that is taken.
    const kept = await findAnswer(deps, asked);
    if (kept === null) throw error;
    return kept as T;
  }
}

async function findAnswer({ db, keys }: Pick<AdminDeps, "db" | "keys">, asked: Asked): Promise<Answer | null> {
  const { caller, key, requestHash } = asked;
  const found = await db.prisma.idempotencyKey.findUnique({ where: { caller_key: { caller, key } } });
  if (found === null) return null;
  if (!requestHash.equals(found.requestHash))
    throw new AppError("unprocessable", "idempotency_key_reused", "Another request had this idempotency key.");
  if (found.answer.length === 0) {
    const message = "What this idempotency key answered was about somebody who has been deleted for good.";
    throw new AppError("unprocessable", "idempotency_key_reused", message);
  }
  const opened = unseal(keys, purposeOf(asked), Buffer.from(found.answer));
  if (opened === null) throw new Error("The kept answer cannot be decrypted: its key is gone from the configuration.");
  const answer = JSON.parse(opened.toString()) as Answer;
  return { ...answer, headers: { ...answer.headers, "Idempotency-Replayed": "true" } };
}

async function keepAnswer(
  { prisma }: Transaction,
  { clock, keys }: Pick<AdminDeps, "clock" | "keys">,
  asked: Asked,
  answer: Answer,
): Promise<void> {
  const { caller, key, requestHash } = asked;
  const text = JSON.stringify(answer);
  const sealed = seal(keys, purposeOf(asked), Buffer.from(text));
  await prisma.idempotencyKey.create({
    data: {
      caller,
      key,
      status: answer.status,
      createdAt: clock(),
      requestHash: new Uint8Array(requestHash),
      answer: new Uint8Array(sealed),
      namedIds: [...new Set(text.match(ids))],
    },
  });
}

export const makeIdempotencySweep = ({ db, clock }: Pick<AdminDeps, "db" | "clock">): WorkerJob => ({
  name: "admin.sweepIdempotencyKeys",
  everySeconds: 600,
  async run(signal) {
    const createdAt = { lt: new Date(clock().getTime() - keptHours * 3600_000) };
    await removeInBatches(signal, async (limit) => {
      const { count } = await db.prisma.idempotencyKey.deleteMany({ where: { createdAt }, limit });
      return count;
    });
  },
});
