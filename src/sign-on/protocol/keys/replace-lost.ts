import { recordAudit, type Origin } from "../../../events/index.ts";
import type { Transaction } from "../../../platform/database/db.ts";
import { AppError } from "../../../platform/errors.ts";
import type { EncryptionKeys } from "../../../platform/crypto/seal.ts";
import { forgetSignIns } from "../storage/forget-sign-ins.ts";
import { opensSecrets } from "./shared-secrets.ts";

export type LostSecrets = { authenticators: number; cards: number };

/**
 * Removes what only lost encryption keys decrypt, and ends all sign-ins; passwords and passkeys stay. The next start
 * makes new signing keys and shared secrets. Errors: conflict keys_not_lost.
 */
export async function forgetLostSecrets(tx: Transaction, keys: EncryptionKeys, origin: Origin): Promise<LostSecrets> {
  if (await opensSecrets(tx, keys))
    throw new AppError("conflict", "keys_not_lost", "The encryption keys open what this database holds.");
  await tx.prisma.signingKey.deleteMany();
  await tx.prisma.sharedSecret.deleteMany();
  await tx.prisma.recoveryCode.deleteMany();
  const authenticators = await tx.prisma.secondFactor.deleteMany({ where: { secret: { not: null } } });
  const cards = await tx.prisma.loginCard.updateMany({
    where: { secondStepHash: { not: null }, revokedAt: null },
    data: { revokedAt: origin.at },
  });
  await forgetSignIns(tx);
  const lost = { authenticators: authenticators.count, cards: cards.count };
  await recordAudit(tx, { ...origin, action: "lost_keys_replaced", detail: lost });
  return lost;
}
