import { hash } from "node:crypto";
import { AppError } from "../errors.ts";

/** The last item of a page: the next page begins behind it, whatever has changed before it. */
export type Position = { sortKey: string; id: string };

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Writes a position as a cursor.
 *
 * Shape: `list` says whose and which list; a cursor of another list, or one that was altered, is refused when read.
 */
export function writeCursor({ sortKey, id }: Position, list: string): string {
  return Buffer.from(JSON.stringify([sortKey, id, seal(sortKey, id, list)])).toString("base64url");
}

export function readCursor(cursor: string, list: string): Position {
  const [sortKey, id, given] = parse(cursor);
  if (typeof sortKey !== "string" || sortKey.includes("\0") || typeof id !== "string" || !uuid.test(id) || given !== seal(sortKey, id, list)) {
    throw new AppError("invalid", "invalid_cursor", "The query parameter cursor is not one of ours.");
  }
  return { sortKey, id };
}

function parse(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

const seal = (sortKey: string, id: string, list: string) => hash("sha256", JSON.stringify([list, sortKey, id]), "base64url").slice(0, 16);
