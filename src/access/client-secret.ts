import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { recordAudit, type Origin } from "../events/index.ts";
import type { Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import type { App } from "./app.ts";
import type { ClientId } from "./token.ts";

/** 256 random bits. */
export const makeSecret = (): string => randomBytes(32).toString("base64url");

export const hashSecret = (secret: string): Buffer => createHash("sha256").update(secret).digest();

type Secrets = Pick<App, "secretHash" | "oldSecretHash" | "oldSecretEndsAt">;

/** The hashes of the secrets that are valid now, the newest first: one, two while a secret is replaced, none of a public app. */
export function listSecretHashes({ secretHash, oldSecretHash, oldSecretEndsAt }: Secrets, now: Date): Buffer[] {
  if (secretHash === null) return [];
  return oldSecretHash !== null && oldSecretEndsAt !== null && oldSecretEndsAt > now
    ? [secretHash, oldSecretHash]
    : [secretHash];
}

/** Compares with each hash, so that the time taken tells nothing of which one it was. */
export function secretMatches(hashes: readonly Buffer[], secret: string): boolean {
  const given = hashSecret(secret);
  return hashes.map((hash) => timingSafeEqual(hash, given)).includes(true);
}

const longestOverlapSeconds = 90 * 86_400;

const replaceSecret = `
  UPDATE app SET secret_hash = $2, updated_at = $3,
    old_secret_hash = CASE WHEN $4::timestamptz IS NOT NULL THEN secret_hash END, old_secret_ends_at = $4
  WHERE client_id = $1 AND type = 'CONFIDENTIAL'`;

export type RotatedSecret = { clientSecret: string; oldSecretEndsAt: Date | null };

/**
 * Gives an app a new secret, told here and never again. The present one stays valid for the overlap; one that is older ends now.
 *
 * Errors: not_found for an app without a secret; invalid for an overlap of more than 90 days.
 */
export async function rotateClientSecret(
  tx: Queryable,
  { clientId, keepOldSeconds }: { clientId: ClientId; keepOldSeconds: number },
  origin: Origin,
): Promise<RotatedSecret> {
  if (keepOldSeconds > longestOverlapSeconds)
    throw new AppError("invalid", "overlap_too_long", "An old secret can be kept for 90 days at most.");
  const clientSecret = makeSecret();
  const oldSecretEndsAt = keepOldSeconds > 0 ? new Date(origin.at.getTime() + keepOldSeconds * 1000) : null;
  const { rowCount } = await tx.query(replaceSecret, [clientId, hashSecret(clientSecret), origin.at, oldSecretEndsAt]);
  if (rowCount === 0) throw new AppError("not_found", "app_not_found", "There is no such app with a secret.");
  await recordAudit(tx, { ...origin, action: "client_secret_rotated", clientId, detail: { oldSecretEndsAt } });
  return { clientSecret, oldSecretEndsAt };
}

const dropOldSecret = `
  UPDATE app SET old_secret_hash = NULL, old_secret_ends_at = NULL, updated_at = $2 WHERE client_id = $1 AND old_secret_ends_at > $2`;

/** Ends the overlap now: only the new secret is valid. Errors: not_found where no old secret is valid. */
export async function endOldSecret(tx: Queryable, clientId: ClientId, origin: Origin): Promise<void> {
  const { rowCount } = await tx.query(dropOldSecret, [clientId, origin.at]);
  if (rowCount === 0)
    throw new AppError(
      "not_found",
      "old_secret_not_found",
      "There is no such app with an old secret that is still valid.",
    );
  await recordAudit(tx, { ...origin, action: "client_secret_ended", clientId });
}
