import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { recordAudit, type Origin } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { lockApp, type App } from "./find-app.ts";
import type { ClientId } from "./token.ts";

/** 256 random bits. */
export const makeSecret = (): string => randomBytes(32).toString("base64url");

export const hashSecret = (secret: string): Buffer => createHash("sha256").update(secret).digest();

type Secrets = Pick<App, "secretHash" | "oldSecretHash" | "oldSecretEndsAt">;

/**
 * The hashes of the secrets that are valid at `now`, the newest first: one, two during an overlap, none of a public
 * app.
 */
export function listSecretHashes({ secretHash, oldSecretHash, oldSecretEndsAt }: Secrets, now: Date): Buffer[] {
  if (secretHash === null) return [];
  return oldSecretHash !== null && oldSecretEndsAt !== null && oldSecretEndsAt > now
    ? [secretHash, oldSecretHash]
    : [secretHash];
}

/**
 * Whether a secret has one of the hashes. Compares with each, so that the time does not depend on which one matches.
 */
export function secretMatches(hashes: readonly Buffer[], secret: string): boolean {
  const given = hashSecret(secret);
  return hashes.map((hash) => timingSafeEqual(hash, given)).includes(true);
}

const longestOverlapSeconds = 90 * 86_400;

export const appWithSecretNotFound = () =>
  new AppError("not_found", "app_not_found", "There is no such app with a secret.");

export type RotatedSecret = { clientSecret: string; oldSecretEndsAt: Date | null };

/**
 * Gives an app a new secret, answered here and never again. The present one stays valid for the overlap; an older one
 * ends.
 *
 * Units:  keepOldSeconds from 0 (no overlap) to 90 days.
 * Errors: not_found app_not_found for an app without a secret; invalid overlap_too_long.
 */
export async function rotateClientSecret(
  tx: Transaction,
  { clientId, keepOldSeconds }: { clientId: ClientId; keepOldSeconds: number },
  origin: Origin,
): Promise<RotatedSecret> {
  if (keepOldSeconds > longestOverlapSeconds)
    throw new AppError("invalid", "overlap_too_long", "An old secret can be kept for 90 days at most.");
  const secretHash = (await lockApp(tx, clientId))?.secretHash ?? null;
  if (secretHash === null) throw appWithSecretNotFound();
  const clientSecret = makeSecret();
  const oldSecretEndsAt = keepOldSeconds > 0 ? new Date(origin.at.getTime() + keepOldSeconds * 1000) : null;
  const oldSecretHash = oldSecretEndsAt && new Uint8Array(secretHash);
  const data = { secretHash: new Uint8Array(hashSecret(clientSecret)), oldSecretHash, oldSecretEndsAt };
  await tx.prisma.app.update({ where: { clientId }, data: { ...data, updatedAt: origin.at } });
  await recordAudit(tx, { ...origin, action: "client_secret_rotated", clientId, detail: { oldSecretEndsAt } });
  return { clientSecret, oldSecretEndsAt };
}

/**
 * Ends the overlap: only the new secret is valid.
 *
 * Errors: not_found old_secret_not_found.
 */
export async function endOldSecret(tx: Transaction, clientId: ClientId, origin: Origin): Promise<void> {
  const ended = { oldSecretHash: null, oldSecretEndsAt: null, updatedAt: origin.at };
  const where = { clientId, oldSecretEndsAt: { gt: origin.at } };
  if ((await tx.prisma.app.updateMany({ where, data: ended })).count === 0) {
    const message = "There is no such app with an old secret that is still valid.";
    throw new AppError("not_found", "old_secret_not_found", message);
  }
  await recordAudit(tx, { ...origin, action: "client_secret_ended", clientId });
}
