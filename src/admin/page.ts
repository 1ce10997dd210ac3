import { seal, unseal } from "../platform/crypto/seal.ts";
import { AppError } from "../platform/errors.ts";
import type { AdminDeps, OperationId } from "./handler.ts";

const defaultLimit = 100;

type ListRequest = {
  operationId: OperationId;
  address: string;
  query: Partial<Record<"cursor" | "sort" | "order", string | undefined>> & { limit?: number | undefined };
};

type Answer<Presented> = { status: 200; body: Presented[]; headers: Record<string, string> };

/** `limit` is one more than the page shows, to see whether another page follows. */
type Range = { limit: number; after: string | undefined };

export type Page = {
  range: Range;
  /** How many entries precede the page, in a list whose positions are numbers. */
  skip: number;
  /** The position after which the page begins, in lists whose positions are not plain text. */
  position<Position>(): Position | undefined;
  /** Answers with what was found in `range`. The next page begins after the last entry, by default after its id. */
  answer<Entry, Presented = Entry>(
    entries: readonly Entry[],
    present?: (entry: Entry) => Presented,
    positionOf?: (entry: Entry) => unknown,
  ): Answer<Presented>;
  /** Returns the entries of this page from a complete list. */
  cut<Entry>(all: readonly Entry[]): Entry[];
  answerAfterSkip<Entry, Presented>(entries: readonly Entry[], present: (entry: Entry) => Presented): Answer<Presented>;
  /** Answers from a whole list, which is in the order of its positions. */
  answerFrom<Entry, Presented = Entry>(
    all: readonly Entry[],
    present?: (entry: Entry) => Presented,
    positionOf?: (entry: Entry) => string,
  ): Answer<Presented>;
};

const idOf = (entry: unknown): string => (entry as { id: string }).id;

/** Errors: invalid invalid_cursor for a cursor of another list or order. */
export function readPage({ keys }: Pick<AdminDeps, "keys">, { operationId, address, query }: ListRequest): Page {
  const { limit: size = defaultLimit, cursor, sort, order } = query;
  const purpose = ["admin cursor", operationId, sort && `by ${sort}`, order].filter(Boolean).join(" ");
  const opened = cursor === undefined ? undefined : unseal(keys, purpose, Buffer.from(cursor, "base64url"));
  if (opened === null) throw new AppError("invalid", "invalid_cursor", "Invalid cursor.");
  const range = { limit: size + 1, after: opened?.toString() };

  const linkAfter = (position: string): string => {
    const next = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    );
    next.set("limit", String(size));
    next.set("cursor", seal(keys, purpose, Buffer.from(position)).toString("base64url"));
    return `<${address}?${next.toString()}>; rel="next"`;
  };
  const answer: Page["answer"] = (entries, present = (entry) => entry as never, positionOf = idOf) => {
    const last = entries.length > size ? entries[size - 1] : undefined;
    const position = last && positionOf(last);
    const text = typeof position === "string" ? position : JSON.stringify(position);
    const headers: Record<string, string> = last === undefined ? {} : { Link: linkAfter(text) };
    return { status: 200, body: entries.slice(0, size).map(present), headers };
  };
  const skip = Number(range.after ?? 0);
  return {
    range,
    skip,
    position: () => (range.after === undefined ? undefined : JSON.parse(range.after)) as never,
    answer,
    cut: (all) => all.slice(skip, skip + range.limit),
    answerAfterSkip: (entries, present) => answer(entries, present, () => String(skip + size)),
    answerFrom(all, present, positionOf = idOf) {
      const start = range.after === undefined ? 0 : all.findIndex((entry) => positionOf(entry) === range.after) + 1;
      return answer(all.slice(start, start + range.limit), present, positionOf);
    },
  };
}

/** The words of a search; commas separate them too, as in "Last, First". */
export function searchTermsOf(search: string | undefined): string[] | undefined {
  const words = (search ?? "")
    .normalize("NFC")
    .split(/[\s,;]+/)
    .filter((word) => word !== "");
  return words.length === 0 ? undefined : words;
}

export const invalidRequest = (message: string) => new AppError("invalid", "invalid_request", message);

export const readTime = (text: string | undefined): Date | undefined => {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw invalidRequest("The time is invalid.");
  return time;
};
