import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { recordAudit, type Origin } from "../../events/index.ts";
import type { Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { hasSecret } from "../client-authentication.ts";
import { lockApp, type App } from "./find.ts";
import type { ClientId } from "../token.ts";

export const makeSecret = (): string => randomBytes(32).toString("base64url");

export const hashSecret = (secret: string): Buffer => createHash("sha256").update(secret).digest();

type Secrets = Pick<App, "secretHash" | "oldSecretHash" | "oldSecretEndsAt">;

export function listSecretHashes({ secretHash, oldSecretHash, oldSecretEndsAt }: Secrets, now: Date): Buffer[] {
  const isOldValid = oldSecretEndsAt !== null && oldSecretEndsAt > now;
  return [secretHash, isOldValid ? oldSecretHash : null].filter((hash) => hash !== null);
}

/** Compares with every hash, so that the time does not reveal which one matches. */
export function secretMatches(hashes: readonly Buffer[], secret: string): boolean {
  const presented = hashSecret(secret);
  return hashes.map((hash) => timingSafeEqual(hash, presented)).includes(true);
}

const longestOverlapSeconds = 90 * 86_400;

export const appWithSecretNotFound = () =>
  new AppError("not_found", "app_not_found", "There is no such app with a secret.");

/**
 * Only the result has the new secret. The current one stays valid for the overlap (at most 90 days); an older one ends.
 *
 * Errors: not_found app_not_found also for an app without a secret; invalid overlap_too_long.
 */
export async function rotateClientSecret(
  tx: Transaction,
  { clientId, keepOldSeconds }: { clientId: ClientId; keepOldSeconds: number },
  origin: Origin,
): Promise<{ clientSecret: string; oldSecretEndsAt: Date | null }> {
  if (keepOldSeconds > longestOverlapSeconds)
    throw new AppError("invalid", "overlap_too_long", "An old secret can be kept for 90 days at most.");
  const app = await lockApp(tx, clientId);
  if (app === null || !hasSecret(app)) throw appWithSecretNotFound();
  const clientSecret = makeSecret();
  const oldSecretEndsAt = keepOldSeconds > 0 ? new Date(origin.at.getTime() + keepOldSeconds * 1000) : null;
  const oldSecretHash = oldSecretEndsAt && new Uint8Array(app.secretHash!);
  const data = { secretHash: new Uint8Array(hashSecret(clientSecret)), oldSecretHash, oldSecretEndsAt };
  await tx.prisma.app.update({ where: { clientId }, data: { ...data, updatedAt: origin.at } });
  await recordAudit(tx, { ...origin, action: "client_secret_rotated", clientId, detail: { oldSecretEndsAt } });
  return { clientSecret, oldSecretEndsAt };
}

export async function endOldSecret(tx: Transaction, clientId: ClientId, origin: Origin): Promise<void> {
  const ended = { oldSecretHash: null, oldSecretEndsAt: null, updatedAt: origin.at };
  const where = { clientId, oldSecretEndsAt: { gt: origin.at } };
  if ((await tx.prisma.app.updateMany({ where, data: ended })).count === 0) {
    const message = "There is no such app with an old secret that is still valid.";
    throw new AppError("not_found", "old_secret_not_found", message);
  }
  await recordAudit(tx, { ...origin, action: "client_secret_ended", clientId });
}
