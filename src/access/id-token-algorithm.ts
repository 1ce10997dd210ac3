import type { Origin } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import type { Registration } from "./find-app.ts";

type IdTokenAlgorithm = Registration["idTokenAlgorithm"];

/** Keys of this algorithm are always published. */
export const defaultIdTokenAlgorithm: IdTokenAlgorithm = "RS256";

/** Keys of the algorithm stay published until the ID tokens that the app got have expired. */
export async function recordFormerAlgorithm(
  tx: Transaction,
  algorithm: IdTokenAlgorithm,
  { at: usedUntil }: Pick<Origin, "at">,
): Promise<void> {
  if (algorithm === defaultIdTokenAlgorithm) return;
  const create = { algorithm, usedUntil };
  await tx.prisma.formerAlgorithm.upsert({ where: { algorithm }, create, update: { usedUntil } });
}
