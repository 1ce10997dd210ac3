import { AppError } from "../errors.ts";
import { sealRepeatably, unseal, type EncryptionKeys } from "../crypto/seal.ts";

/** The last item of a page: the next page begins behind it, whatever has changed before it. */
export type Position = { sortKey: string; id: string };

/**
 * Writes a position as a cursor. It is sealed: a sort key holds a name, and cursors stand in addresses, which get
 * logged.
 *
 * Shape: `list` says whose and which list; a cursor of another list, or one that was altered, is refused when read.
 *        Equal positions give equal cursors, so that an unchanged page keeps its tag.
 */
export function writeCursor(keys: EncryptionKeys, { sortKey, id }: Position, list: string): string {
  return sealRepeatably(keys, list, Buffer.from(JSON.stringify([sortKey, id]))).toString("base64url");
}

export function readCursor(keys: EncryptionKeys, cursor: string, list: string): Position {
  const plain = unseal(keys, list, Buffer.from(cursor, "base64url"));
  if (plain === null) throw new AppError("invalid", "invalid_cursor", "Invalid cursor.");
  const [sortKey, id] = JSON.parse(plain.toString()) as [string, string];
  return { sortKey, id };
}
