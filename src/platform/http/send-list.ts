import type pg from "pg";
import { heldItems, type JsonList, type JsonObject, type Page } from "./answer.ts";
import { etagOf, headersOf, isNotModified, admit, contentType, inPlace, sendBody, readVersion } from "./send.ts";
import type { Held, Sending, Version } from "./send.ts";
import { readFor, type Pace } from "./reads.ts";
import { toQuery, type Statement } from "../database/sql.ts";
import { AppError } from "../errors.ts";
import { sealRepeatably, unseal, type EncryptionKeys } from "../crypto/seal.ts";
import Cursor from "pg-cursor";
import { makePacedBody } from "./paced-body.ts";

type List = JsonList<unknown> | JsonObject<unknown>;

export async function sendList(list: List, sending: Sending): Promise<void> {
  const { lists, longLists } = sending.reading;
  const { page } = list;
  admit(lists, sending);
  const after = page.cursor === undefined ? null : readCursor(sending.cursorKeys, page.cursor, ownerOf(list));
  if (await isAnsweredByVersion(list, sending)) return;
  await list.noteStart?.(after === null ? null : after.id);
  if (isPage(page)) {
    const held = await inPlace(lists, sending, () => readPage(list, after, sending));
    return sendBody(sending.complete(held.body), sending, held);
  }
  const key = ownerOf(list);
  if (!longLists.has(key)) {
    const held = await inPlace(lists, sending, () => readWhole(list, sending));
    if (held !== null) return sendBody(sending.complete(held.body), sending, held);
    if (longLists.size >= keptLongLists) longLists.clear();
    longLists.add(key);
  }
  await stream(list, sending);
}

const keptLongLists = 10_000;

const isPage = ({ limit, cursor }: Page): boolean => limit !== undefined || cursor !== undefined;

const ownerOf = ({ query, params }: Pick<List, "query" | "params">): string =>
  JSON.stringify([query.name, identityOf(params)]);

/** The time of the request, which a version reflects, does not make it another list. */
const identityOf = ({ now: _now, ...params }: List["params"]): unknown[] => Object.values(params);

const ask = <Params extends object>(statement: Statement<Params>, params: Params) => ({
  ...toQuery(statement, params),
  rowMode: "array" as const,
});

type Tagged = { etag: string; headers: Version["headers"] };

async function readTagged(client: pg.ClientBase, list: List): Promise<Tagged> {
  const { rows } = await client.query<[shown: boolean, version: string | null]>(ask(list.query.version, list.params));
  const [shown, version] = rows[0]!;
  if (!shown) throw list.missing!();
  return tagged(list, version);
}

function tagged({ query, params, page }: Pick<List, "query" | "params" | "page">, version: string | null): Tagged {
  const { tag, headers } = readVersion(version);
  const { limit = null, cursor = null } = page;
  return { etag: etagOf(JSON.stringify([query.whole.text, identityOf(params), limit, cursor, tag])), headers };
}

async function isAnsweredByVersion(list: List, sending: Sending): Promise<boolean> {
  const { req, res, reading, caller } = sending;
  const isHead = req.method === "HEAD" && !isPage(list.page);
  if (!isHead && req.headers["if-none-match"] === undefined) return false;
  const { etag, headers } = await inPlace(reading.lists, sending, () =>
    readFor(reading.share, caller, (client) => readTagged(client, list)),
  );
  if (isNotModified(req, etag)) res.writeHead(304, headersOf(etag, headers)).end();
  else if (isHead) res.writeHead(200, { ...headersOf(etag, headers), "Content-Type": contentType }).end();
  return res.headersSent;
}

async function readWhole(list: List, { reading, caller }: Sending): Promise<Held | null> {
  const { query, params, missing } = list;
  type Whole = [version: string | null, shown: boolean, count: number, body: string];
  const { rows } = await readFor(reading.share, caller, (client) => client.query<Whole>(ask(query.whole, params)));
  const [version, shown, count, body] = rows[0]!;
  if (!shown) throw missing!();
  return count > heldItems ? null : { body, ...tagged(list, version) };
}

async function stream(list: List, sending: Sending): Promise<void> {
  const { reading, caller, res, check, complete } = sending;
  const { query, params } = list;
  const work = () =>
    readFor(reading.share, caller, async (client) => {
      // The statement lasts as long as its reader takes.
      await client.query(
        `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = ${reading.pace.totalMs}`,
      );
      const { etag, headers } = await readTagged(client, list);
      const { open, close } = query;
      const count = await streamList(
        client,
        { open, parts: query.parts.map((part) => ({ ...part, rows: toQuery(part.rows, params) })), close },
        { res, headers: headersOf(etag, headers), pace: reading.pace, check, complete },
      );
      await client.query("COMMIT");
      return count;
    });
  const count = await inPlace(reading.streams, sending, () => inPlace(reading.lists, sending, work));
  if (count <= heldItems) reading.longLists.delete(ownerOf(list));
}

const defaultLimit = 100;

async function readPage(list: List, after: Position | null, sending: Sending): Promise<Held> {
  const { query, params, missing } = list;
  const limit = list.page.limit ?? defaultLimit;
  const first = { ...params, limit: limit + 1 };
  const config =
    after === null
      ? ask(query.page!, first)
      : ask(query.nextPage!, { ...first, afterSortKey: after.sortKey, afterId: after.id });
  type Row = [version: string | null, shown: boolean, item: string | null, sortKey: string, id: string];
  const { rows } = await readFor(sending.reading.share, sending.caller, (client) => client.query<Row>(config));
  const [version, shown] = rows[0]!;
  if (!shown) throw missing!();
  const items = rows.flatMap(([, , item]) => (item === null ? [] : [item])).slice(0, limit);
  const last = rows.length > limit ? rows[limit - 1]! : null;
  if (last !== null)
    sending.res.setHeader(
      "Link",
      nextLink(sending.req, limit, writeCursor(sending.cursorKeys, { sortKey: last[3], id: last[4] }, ownerOf(list))),
    );
  return { body: `[${items.join(",")}]`, ...tagged(list, version) };
}

function nextLink(req: Sending["req"], limit: number, cursor: string): string {
  const query = new URL(req.url, "http://here").searchParams;
  query.set("limit", String(limit));
  query.set("cursor", cursor);
  return `<${req.originalUrl.split("?", 1)[0]!}?${query.toString()}>; rel="next"`;
}

type Position = { sortKey: string; id: string };

/** Sealed, because a sort key contains a name; equal positions give equal cursors, so that a page keeps its ETag. */
function writeCursor(keys: EncryptionKeys, { sortKey, id }: Position, list: string): string {
  return sealRepeatably(keys, list, Buffer.from(JSON.stringify([sortKey, id]))).toString("base64url");
}

function readCursor(keys: EncryptionKeys, cursor: string, list: string): Position {
  const plain = unseal(keys, list, Buffer.from(cursor, "base64url"));
  if (plain === null) throw new AppError("invalid", "invalid_cursor", "Invalid cursor.");
  const [sortKey, id] = JSON.parse(plain.toString()) as [string, string];
  return { sortKey, id };
}

type Part = { open: string; rows: { text: string; values: unknown[] }; close: string; rowsAtOnce: number };
type Streaming = { headers: Record<string, string>; pace: Pace } & Pick<Sending, "res" | "check" | "complete">;

/** The first rows go out at once. */
const firstRows = 50;

/** Returns the number of rows of the longest part. A body that breaks off gets no last chunk. */
async function streamList(
  client: pg.PoolClient,
  { open, parts, close }: { open: string; parts: readonly Part[]; close: string },
  { res, headers, pace, check, complete }: Streaming,
): Promise<number> {
  const body = makePacedBody(res, pace);
  let [longest, written] = [0, open];
  for (const [index, part] of parts.entries()) {
    const cursor = client.query(new Cursor<[string]>(part.rows.text, part.rows.values, { rowMode: "array" }));
    written += (index === 0 ? "" : ",") + part.open;
    const { rowsAtOnce } = part;
    let count = 0;
    const first = Math.min(firstRows, rowsAtOnce);
    for (let rows = await cursor.read(first); rows.length > 0; rows = await cursor.read(rowsAtOnce)) {
      const items = complete(rows.map(([item]) => item).join(","));
      check?.(JSON.parse(open + part.open + items + part.close + close));
      if (!res.headersSent) res.writeHead(200, { ...headers, "Content-Type": contentType });
      await body.write(written + (count === 0 ? "" : ",") + items);
      written = "";
      count += rows.length;
    }
    written += part.close;
    longest = Math.max(longest, count);
  }
  if (!res.headersSent) res.writeHead(200, { ...headers, "Content-Type": contentType });
  await body.write(written + close);
  await body.end();
  return longest;
}
