import { AppError } from "../platform/errors.ts";
import { sealRepeatably, unseal, type EncryptionKeys } from "../platform/crypto/seal.ts";

const purpose = (clientId: string) => `changes of ${clientId}`;

/**
 * Writes a position of the feed as an app's cursor. It is sealed, because positions count the changes of all apps.
 *
 * Shape: equal positions of one app give equal cursors, so that an unchanged answer keeps its tag.
 */
export function writeChangeCursor(keys: EncryptionKeys, clientId: string, position: string): string {
  const plain = Buffer.alloc(8);
  plain.writeBigInt64BE(BigInt(position));
  return sealRepeatably(keys, purpose(clientId), plain).toString("base64url");
}

/**
 * Reads a cursor as a position of the feed.
 *
 * Errors: invalid for a cursor that this app was not given.
 */
export function readChangeCursor(keys: EncryptionKeys, clientId: string, cursor: string): string {
  const plain = unseal(keys, purpose(clientId), Buffer.from(cursor, "base64url"));
  if (plain === null) throw new AppError("invalid", "invalid_cursor", "Invalid cursor.");
  return plain.readBigInt64BE().toString();
}
