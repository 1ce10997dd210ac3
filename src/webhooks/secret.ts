import type { Queryable } from "../platform/db.ts";
import { makeUuid } from "../platform/ids.ts";
import { seal, unseal, type EncryptionKeys } from "../platform/seal.ts";
import { makeSecretText, readSecret, type SigningSecret } from "./signature.ts";

const purposeOf = (id: string): string => `webhook-secret:${id}`;

/** Makes the secret that signs from now on. It is told here and never again. */
export async function addSecret(
  tx: Queryable,
  { endpointId, keys, now }: { endpointId: string; keys: EncryptionKeys; now: Date },
): Promise<string> {
  const id = makeUuid(now);
  const text = makeSecretText();
  await tx.query("INSERT INTO webhook_secret (id, endpoint_id, sealed, created_at) VALUES ($1, $2, $3, $4)", [
    id,
    endpointId,
    seal(keys, purposeOf(id), Buffer.from(text)),
    now,
  ]);
  return text;
}

/** A secret as the database holds it, in base64. */
export type SealedSecret = { id: string; sealed: string };

/** Null when none of the keys opens it. */
export function openSecret(keys: EncryptionKeys, { id, sealed }: SealedSecret): SigningSecret | null {
  const plain = unseal(keys, purposeOf(id), Buffer.from(sealed, "base64"));
  return plain === null ? null : readSecret(plain.toString());
}

/**
 * Encrypts all secrets anew with the first key; answers how many.
 *
 * Errors: throws when none of the keys opens one of them.
 */
export async function reEncryptWebhookSecrets(tx: Queryable, keys: EncryptionKeys): Promise<number> {
  const { rows } = await tx.query<{ id: string; sealed: Buffer }>("SELECT id, sealed FROM webhook_secret FOR UPDATE");
  for (const { id, sealed } of rows) {
    const secret = openSecret(keys, { id, sealed: sealed.toString("base64") });
    if (secret === null) throw new Error(`none of the encryption keys opens the webhook secret ${id}`);
    await tx.query("UPDATE webhook_secret SET sealed = $2 WHERE id = $1", [
      id,
      seal(keys, purposeOf(id), Buffer.from(secret.text)),
    ]);
  }
  return rows.length;
}
