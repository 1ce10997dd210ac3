import { appAttributes, type AppAttribute } from "../access/index.ts";
import { AppError } from "../platform/errors.ts";
import { sealRepeatably, unseal, type EncryptionKeys } from "../platform/crypto/seal.ts";

/** A position in the feed, and what the app could read when it was issued; null in the cursors of older releases. */
type ChangeCursor = { position: string; attributes: readonly AppAttribute[] | null };

const purpose = (clientId: string) => `changes of ${clientId}`;

/**
 * 52 bits are the position, which after a restore is the time in microseconds; ten more say what the app could read,
 * and the next one that they do.
 */
const [positionBits, attributeBits] = [52, 10];
const known = 1 << attributeBits;

/** Encrypted, because positions count the changes of all apps; equal positions give equal cursors. */
export function writeChangeCursor(
  keys: EncryptionKeys,
  clientId: string,
  { position, attributes }: ChangeCursor,
): string {
  const plain = Buffer.alloc(8);
  const readable = attributes === null ? 0 : known | bitsOf(attributes);
  plain.writeBigInt64BE((BigInt(readable) << BigInt(positionBits)) | BigInt(position));
  return sealRepeatably(keys, purpose(clientId), plain).toString("base64url");
}

/** Errors: invalid invalid_cursor if the cursor was not issued to this app. */
export function readChangeCursor(keys: EncryptionKeys, clientId: string, cursor: string): ChangeCursor {
  const plain = unseal(keys, purpose(clientId), Buffer.from(cursor, "base64url"));
  if (plain === null) throw new AppError("invalid", "invalid_cursor", "Invalid cursor.");
  const written = plain.readBigInt64BE();
  const readable = Number(written >> BigInt(positionBits));
  const attributes = readable === 0 ? null : appAttributes.filter((_, bit) => (readable >> bit) & 1);
  return { position: BigInt.asUintN(positionBits, written).toString(), attributes };
}

export const bitsOf = (attributes: readonly AppAttribute[]): number =>
  attributes.reduce((bits, name) => bits | (1 << appAttributes.indexOf(name)), 0);
