import { AppError } from "../platform/errors.ts";
import { seal, unseal } from "../platform/crypto/seal.ts";
import type { AdminDeps, OperationId } from "./handler.ts";

const defaultLimit = 100;

type Asked = { limit?: number | undefined; cursor?: string | undefined; sort?: string | undefined };

const purposeOf = (list: OperationId, { sort }: Pick<Asked, "sort">): string =>
  `admin cursor ${list}${sort === undefined ? "" : ` by ${sort}`}`;

/** `take` is `limit` plus one, to see whether another page follows. */
export type Page = { limit: number; take: number; after: string | undefined };

/** Errors: invalid invalid_cursor for a cursor of another list or order. */
export function readPage({ keys }: Pick<AdminDeps, "keys">, list: OperationId, { limit, cursor, sort }: Asked): Page {
  const most = limit ?? defaultLimit;
  if (cursor === undefined) return { limit: most, take: most + 1, after: undefined };
  const after = unseal(keys, purposeOf(list, { sort }), Buffer.from(cursor, "base64url"));
  if (after === null) throw new AppError("invalid", "invalid_cursor", "Invalid cursor.");
  return { limit: most, take: most + 1, after: after.toString() };
}

/**
 * Answers a page of a list.
 *
 * Shape: `found` are up to `take` entries; `idOf` says behind which entry the next page begins; `path` is the address
 *        of the list.
 */
export function answerPage<Entry, Presented>(
  { keys }: Pick<AdminDeps, "keys">,
  { list, path, query, page }: { list: OperationId; path: string; query: object; page: Page },
  {
    found,
    idOf,
    present,
  }: { found: readonly Entry[]; idOf: (entry: Entry) => string; present: (entry: Entry) => Presented },
): { status: 200; body: Presented[]; headers: Record<string, string> } {
  const shown = found.slice(0, page.limit);
  const last = shown.at(-1);
  const headers: Record<string, string> = {};
  if (found.length > page.limit && last !== undefined) {
    const next = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    );
    next.set("limit", String(page.limit));
    next.set("cursor", seal(keys, purposeOf(list, query), Buffer.from(idOf(last))).toString("base64url"));
    headers["Link"] = `<${path}?${next.toString()}>; rel="next"`;
  }
  return { status: 200, body: shown.map(present), headers };
}
