import type { Request, Response } from "express";
import type pg from "pg";
import { heldItems, type JsonList, type JsonMade, type JsonRead, type Page } from "./answer.ts";
import { etagOf, headersOf, isNotModified } from "./etag.ts";
import { readCursor, writeCursor } from "./page-position.ts";
import type { ReadTogether } from "./read-together.ts";
import type { StreamList } from "./stream-list.ts";
import type { EncryptionKeys } from "../seal.ts";
import type { BodyCheck } from "./validation.ts";

export type Sending = { req: Request; res: Response; pool: pg.Pool; check: BodyCheck | null; readTogether: ReadTogether; streamList: StreamList; cursorKeys: EncryptionKeys };

/** Answers one record; its absence is the answer's own error. */
export async function sendRead({ query, client, id, missing }: JsonRead<unknown>, sending: Sending): Promise<void> {
  const body = await sending.readTogether(query, { client, id });
  if (body === null) throw missing();
  sendBody(body, sending);
}

export async function sendMade({ make }: JsonMade<unknown>, sending: Sending): Promise<void> {
  sendBody(JSON.stringify(await make()), sending);
}

/** Answers a list: a page when one was asked for, whole in one piece when it is short, streamed when it is long. */
export async function sendList(list: JsonList<unknown>, sending: Sending): Promise<void> {
  const { query, values, missing, page } = list;
  if (page.limit !== undefined || page.cursor !== undefined) return sendPage(list, page, sending);
  type Whole = [shown: boolean, count: number, body: string];
  const { rows } = await sending.pool.query<Whole>({ ...(!query.planEachTime && { name: query.name }), text: query.whole, values, rowMode: "array" });
  const [shown, count, body] = rows[0]!;
  if (!shown) throw missing!();
  if (count > heldItems) return sending.streamList(query.rows, values, sending);
  sendBody(body, sending);
}

const defaultLimit = 100;
const shortText = 16_384;

async function sendPage({ query, values, missing }: JsonList<unknown>, page: Page, sending: Sending): Promise<void> {
  const limit = page.limit ?? defaultLimit;
  const owner = JSON.stringify([query.name, values]);
  const after = page.cursor === undefined ? null : readCursor(sending.cursorKeys, page.cursor, owner);
  type Row = [shown: boolean, item: string | null, sortKey: string, id: string];
  const { rows } = await sending.pool.query<Row>({
    ...(after === null ? { name: `${query.name}_page`, text: query.page } : { name: `${query.name}_next_page`, text: query.nextPage }),
    values: [...values, limit + 1, ...(after === null ? [] : [after.sortKey, after.id])],
    rowMode: "array",
  });
  if (!rows[0]![0]) throw missing!();
  const items = rows.flatMap(([, item]) => (item === null ? [] : [item])).slice(0, limit);
  const last = rows.length > limit ? rows[limit - 1]! : null;
  const link = last === null ? null : nextLink(sending.req, limit, writeCursor(sending.cursorKeys, { sortKey: last[2], id: last[3] }, owner));
  if (link !== null) sending.res.setHeader("Link", link);
  sendBody(`[${items.join(",")}]`, sending, link ?? "");
}

function nextLink(req: Request, limit: number, cursor: string): string {
  const query = new URLSearchParams(req.url.split("?")[1]);
  query.set("limit", String(limit));
  query.set("cursor", cursor);
  return `<${req.originalUrl.split("?", 1)[0]!}?${query.toString()}>; rel="next"`;
}

/** `beside` is what else of the answer the tag has to tell apart: an unchanged page may have got a page behind it. */
function sendBody(text: string, { req, res, check }: Sending, beside = ""): void {
  check?.(JSON.parse(text));
  // A short text goes out in one write with its headers; a long one is turned into bytes once, for tag and body.
  const body = text.length < shortText ? text : Buffer.from(text);
  const etag = etagOf(beside === "" ? body : text + beside);
  if (isNotModified(req, etag)) return void res.writeHead(304, headersOf(etag)).end();
  const headers = { ...headersOf(etag), "Content-Type": "application/json; charset=utf-8", "Content-Length": Buffer.byteLength(body) };
  res.writeHead(200, headers).end(body);
}
