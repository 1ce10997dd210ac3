import type { RecordStore } from "../platform/database/db.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { seal, unseal, type EncryptionKeys } from "../platform/crypto/seal.ts";
import { makeFind, makeRun, type Queryable, table, update } from "../platform/database/sql.ts";
import { makeSecretText, readSecret, type SigningSecret } from "./signature.ts";

const purposeOf = (id: string): string => `webhook-secret:${id}`;

export async function addSecret(
  { prisma }: RecordStore,
  { endpointId, keys, now }: { endpointId: string; keys: EncryptionKeys; now: Date },
): Promise<string> {
  const id = makeUuid(now);
  const text = makeSecretText();
  const sealed = Uint8Array.from(seal(keys, purposeOf(id), Buffer.from(text)));
  await prisma.webhookSecret.create({ data: { id, endpointId, sealed, createdAt: now } });
  return text;
}

export type SealedSecret = { id: string; sealed: string };

function openSecret(keys: EncryptionKeys, { id, sealed }: SealedSecret): SigningSecret | null {
  const plain = unseal(keys, purposeOf(id), Buffer.from(sealed, "base64"));
  return plain === null ? null : readSecret(plain.toString());
}

/** The secrets that can be decrypted; without any, only this endpoint's attempts fail. */
export const openSecrets = (keys: EncryptionKeys, secrets: readonly SealedSecret[]): SigningSecret[] =>
  secrets.map((sealed) => openSecret(keys, sealed)).filter((secret) => secret !== null);

const s = table("webhookSecret", "s");

const lockSecrets = makeFind<{ id: string; sealed: Buffer }>()`SELECT ${s.id}, ${s.sealed} FROM ${s} FOR UPDATE`;
const replaceSealed = makeRun<{ id: string; sealed: Buffer }>()`
  ${({ sealed }) => update("webhookSecret", "s", { sealed })} WHERE ${s.id} = ${"id"}`;

export async function reEncryptWebhookSecrets(tx: Queryable, keys: EncryptionKeys): Promise<number> {
  const rows = await lockSecrets(tx, {});
  for (const { id, sealed } of rows) {
    const secret = openSecret(keys, { id, sealed: sealed.toString("base64") });
    if (secret === null) throw new Error(`none of the encryption keys opens the webhook secret ${id}`);
    await replaceSealed(tx, { id, sealed: seal(keys, purposeOf(id), Buffer.from(secret.text)) });
  }
  return rows.length;
}

export type ReplacedSecret = { endpointId: string; clientId: string; url: string; secret: string };

/** Replaces all secrets, as part of recovering from lost keys. Only the result has the new ones. */
export async function replaceLostSecrets(tx: RecordStore, { keys, now }: { keys: EncryptionKeys; now: Date }) {
  await tx.prisma.webhookSecret.deleteMany();
  const endpoints = await tx.prisma.webhookEndpoint.findMany({
    select: { id: true, clientId: true, url: true },
    orderBy: [{ clientId: "asc" }, { id: "asc" }],
  });
  const replaced: ReplacedSecret[] = [];
  for (const { id: endpointId, ...place } of endpoints)
    replaced.push({ ...place, endpointId, secret: await addSecret(tx, { endpointId, keys, now }) });
  return replaced;
}
