import type pg from "pg";
import { heldItems, type JsonList, type JsonObject, type Page } from "./answer.ts";
import { etagOf, headersOf, isNotModified } from "./send.ts";
import { readCursor, writeCursor, type Position } from "./page-position.ts";
import { readFor } from "./reads.ts";
import { admit, contentType, inPlace, sendBody, type Held, type Sending } from "./send.ts";
import { streamList } from "./stream-list.ts";
import { readVersion, type Version } from "./version.ts";
import { toQuery, type Statement } from "../database/sql.ts";

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
    longLists.add(key);
  }
  await stream(list, sending);
}

const isPage = ({ limit, cursor }: Page): boolean => limit !== undefined || cursor !== undefined;

const ownerOf = ({ query, given }: Pick<List, "query" | "given">): string =>
  JSON.stringify([query.name, Object.values(given)]);

const ask = <Given extends object>(statement: Statement<Given>, given: Given) => ({
  ...toQuery(statement, given),
  rowMode: "array" as const,
});

type Tagged = { etag: string; headers: Version["headers"] };

async function readTagged(client: pg.ClientBase, list: List): Promise<Tagged> {
  const { rows } = await client.query<[shown: boolean, version: string | null]>(ask(list.query.version, list.given));
  const [shown, version] = rows[0]!;
  if (!shown) throw list.missing!();
  return tagged(list, version);
}

function tagged({ query, given, page }: Pick<List, "query" | "given" | "page">, version: string | null): Tagged {
  const { tag, headers } = readVersion(version);
  const { limit = null, cursor = null } = page;
  return { etag: etagOf(JSON.stringify([query.whole.text, Object.values(given), limit, cursor, tag])), headers };
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
  const { query, given, missing } = list;
  type Whole = [version: string | null, shown: boolean, count: number, body: string];
  const { rows } = await readFor(reading.share, caller, (client) => client.query<Whole>(ask(query.whole, given)));
  const [version, shown, count, body] = rows[0]!;
  if (!shown) throw missing!();
  return count > heldItems ? null : { body, ...tagged(list, version) };
}

async function stream(list: List, sending: Sending): Promise<void> {
  const { reading, caller, res, check, complete } = sending;
  const { query, given } = list;
  const work = () =>
    readFor(reading.share, caller, async (client) => {
      // The statement lasts as long as its reader takes.
      await client.query(
        `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = ${reading.pace.totalMs}`,
      );
      const { etag, headers } = await readTagged(client, list);
      const { open, close } = query;
      const parts = query.parts.map((part) => ({ ...part, rows: toQuery(part.rows, given) }));
      const count = await streamList(
        client,
        { open, parts, close },
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
  const { query, given, missing } = list;
  const limit = list.page.limit ?? defaultLimit;
  const first = { ...given, limit: limit + 1 };
  const asked =
    after === null
      ? ask(query.page!, first)
      : ask(query.nextPage!, { ...first, afterSortKey: after.sortKey, afterId: after.id });
  type Row = [version: string | null, shown: boolean, item: string | null, sortKey: string, id: string];
  const { rows } = await readFor(sending.reading.share, sending.caller, (client) => client.query<Row>(asked));
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
