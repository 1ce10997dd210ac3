import { findRows, type Queryable } from "../platform/database/sql.ts";
import type { Statements, Values } from "./statements.ts";

type Page = Values & { limit: number; offset: number };

/** `list` names the list, the filter and who reads it, without the page. */
type PageQuery = { statements: Statements; values: Page; list: string; version: string | null };

/** `items` are separated by commas. */
export type ReadPage = { items: string; total: number };

/** Remembers, for lists at their present version, how long they are and where pages ended. */
export type ListMemory = ReturnType<typeof makeListMemory>;

const remembered = 10_000;

export function makeListMemory() {
  const make = <T>() => {
    const byId = new Map<string, T>();
    return {
      get: (key: string): T | undefined => byId.get(key),
      set(key: string, value: T): void {
        if (byId.size >= remembered) byId.delete(byId.keys().next().value!);
        byId.set(key, value);
      },
    };
  };
  return { totals: make<number>(), ends: make<string>() };
}

/** Reading this many rows one by one takes as long as reading a list of 100,000 people at once. */
const passedOver = 10_000;

/** Reading all at once is faster than walking so many records to find the few of a page. */
const wholeList = 100_000;

const beginning = "00000000-0000-0000-0000-000000000000";

/** A page that follows one that was read continues after its last row, however long the list is. */
export async function readPage(db: Queryable, memory: ListMemory, query: PageQuery): Promise<ReadPage> {
  const { statements, values, list, version } = query;
  const { limit, offset } = values;
  const keyOf = (place: number | "total") => JSON.stringify([list, version, place]);
  const readTotal = async () => memory.totals.get(keyOf("total")) ?? (await countAll(db, statements, values));
  const totalCount = statements.isOfChanges ? await readTotal() : (memory.totals.get(keyOf("total")) ?? 0);
  const isLong = statements.page !== null || totalCount ** 2 > limit * wholeList;
  const first = statements.isOfChanges ? `${beginning}_${beginning}` : undefined;
  const after = offset === 0 ? first : memory.ends.get(keyOf(offset));
  const isNext = isLong && after !== undefined && statements.nextPage !== null;
  type Row = { count: number; items: string; last: string };
  const [page] = await findRows<Row, Values>(
    db,
    isNext ? statements.nextPage! : ((offset <= passedOver ? statements.page : null) ?? statements.anyPage),
    isNext ? { ...values, ...readPosition(after) } : values,
  );
  const { items, last, count } = page!;
  if (count === limit && statements.nextPage !== null) memory.ends.set(keyOf(offset + limit), last);
  const isLast = count < limit && (count > 0 || offset === 0);
  const total = isLast
    ? offset + count
    : (memory.totals.get(keyOf("total")) ?? (await countAll(db, statements, values)));
  memory.totals.set(keyOf("total"), total);
  return { items, total };
}

async function countAll(db: Queryable, statements: Statements, values: Page): Promise<number> {
  const [row] = await findRows<{ count: number }, Values>(db, statements.count, values);
  return row!.count;
}

function readPosition(position: string): { after: string; afterGroup?: string } {
  const [first, second] = position.split("_") as [string, string?];
  return second === undefined ? { after: first } : { after: second, afterGroup: first };
}

/** `address` is the path and query of the request. Source: RFC 8288; OneRoster 1.1 section 3.4.1. */
export function pageHeaders(
  { total, limit, offset }: { total: number; limit: number; offset: number },
  origin: string,
  address: string,
): Record<string, string> {
  const to = (rel: string, start: number) => {
    const url = new URL(address, origin);
    url.searchParams.set("limit", String(limit));
    url.searchParams.set("offset", String(start));
    return `<${url.href}>; rel="${rel}"`;
  };
  const links = [
    to("first", 0),
    ...(offset > 0 ? [to("prev", Math.max(0, offset - limit))] : []),
    ...(offset + limit < total ? [to("next", offset + limit)] : []),
    to("last", total === 0 ? 0 : Math.floor((total - 1) / limit) * limit),
  ];
  return { "X-Total-Count": String(total), Link: links.join(", ") };
}
