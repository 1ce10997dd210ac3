import { AppError } from "../errors.ts";
import { sealRepeatably, unseal, type EncryptionKeys } from "../crypto/seal.ts";

export type Position = { sortKey: string; id: string };

/** Sealed, because a sort key contains a name; equal positions give equal cursors, so that a page keeps its ETag. */
export function writeCursor(keys: EncryptionKeys, { sortKey, id }: Position, list: string): string {
  return sealRepeatably(keys, list, Buffer.from(JSON.stringify([sortKey, id]))).toString("base64url");
}

export function readCursor(keys: EncryptionKeys, cursor: string, list: string): Position {
  const plain = unseal(keys, list, Buffer.from(cursor, "base64url"));
  if (plain === null) throw new AppError("invalid", "invalid_cursor", "Invalid cursor.");
  const [sortKey, id] = JSON.parse(plain.toString()) as [string, string];
  return { sortKey, id };
}
