import { AppError } from "../platform/errors.ts";
import { sealRepeatably, unseal, type EncryptionKeys } from "../platform/crypto/seal.ts";

const purpose = (clientId: string) => `changes of ${clientId}`;

/** Encrypted, because positions count the changes of all apps; equal positions give equal cursors. */
export function writeChangeCursor(keys: EncryptionKeys, clientId: string, position: string): string {
  const plain = Buffer.alloc(8);
  plain.writeBigInt64BE(BigInt(position));
  return sealRepeatably(keys, purpose(clientId), plain).toString("base64url");
}

/** Errors: invalid invalid_cursor if the cursor was not issued to this app. */
export function readChangeCursor(keys: EncryptionKeys, clientId: string, cursor: string): string {
  const plain = unseal(keys, purpose(clientId), Buffer.from(cursor, "base64url"));
  if (plain === null) throw new AppError("invalid", "invalid_cursor", "Invalid cursor.");
  return plain.readBigInt64BE().toString();
}
