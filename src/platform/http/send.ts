import type { Request, Response } from "express";
import { heldItems, type JsonList, type JsonMade, type JsonRead, type Page } from "./answer.ts";
import { CallerLeft, type Caller } from "./caller.ts";
import { etagOf, headersOf, isNotModified } from "./etag.ts";
import type { Gate } from "./gate.ts";
import { watchBody } from "./paced-body.ts";
import { readCursor, writeCursor } from "./page-position.ts";
import { readFor } from "./read-for.ts";
import type { ReadTogether } from "./read-together.ts";
import type { Reading } from "./reading.ts";
import { streamList } from "./stream-list.ts";
import type { EncryptionKeys } from "../seal.ts";
import type { BodyCheck } from "./validation.ts";

export type Sending = {
  req: Request;
  res: Response;
  caller: Caller;
  clientId: string;
  reading: Reading;
  check: BodyCheck | null;
  readTogether: ReadTogether;
  cursorKeys: EncryptionKeys;
};

/** Answers one record; its absence is the answer's own error. */
export async function sendRead({ query, client, id, missing }: JsonRead<unknown>, sending: Sending): Promise<void> {
  const { reading, readTogether, caller } = sending;
  const body = await inPlace(reading.records, sending, () => readTogether(query, { client, id, caller }));
  if (body === null) throw missing();
  await sendBody(body, sending);
}

export async function sendMade({ make }: JsonMade<unknown>, sending: Sending): Promise<void> {
  await sendBody(JSON.stringify(await inPlace(sending.reading.lists, sending, make)), sending);
}

/** Answers a list: a page when one was asked for, whole in one piece when it is short, streamed when it is long. */
export async function sendList(list: JsonList<unknown>, sending: Sending): Promise<void> {
  const { page } = list;
  const isPage = page.limit !== undefined || page.cursor !== undefined;
  const held = await inPlace(sending.reading.lists, sending, () => (isPage ? readPage(list, page, sending) : readWhole(list, sending)));
  if (held !== null) await sendBody(held.body, sending, held);
}

/** Does the work of a request in a place of its app. The request counts as the app's until it is answered. */
async function inPlace<T>(gate: Gate, { res, clientId, caller }: Sending, work: () => Promise<T>): Promise<T> {
  if (caller.hasLeft()) throw new CallerLeft();
  res.once("close", gate.admit(clientId));
  const leave = await gate.enter(clientId, caller);
  try {
    return await work();
  } finally {
    leave();
  }
}

/** `etag` where it is known without the body; `beside` is what else of the answer a tag of the body has to tell apart. */
type Held = { body: string; etag?: string; beside?: string };

/** Reads a list that can be held; null: it was answered without a body, or was too long to be held and has been streamed. */
async function readWhole(list: JsonList<unknown>, sending: Sending): Promise<Held | null> {
  const { query, values, missing } = list;
  const { req, res, reading, caller, check } = sending;
  const tagOf = (version: string | null) => etagOf(JSON.stringify([query.rows, values, version]));
  if (req.method === "HEAD" || req.headers["if-none-match"] !== undefined) {
    const { shown, etag } = await readVersion(list, tagOf, sending);
    if (!shown) throw missing!();
    if (isNotModified(req, etag)) res.writeHead(304, headersOf(etag)).end();
    else if (req.method === "HEAD") res.writeHead(200, { ...headersOf(etag), "Content-Type": contentType }).end();
    if (res.headersSent) return null;
  }
  return readFor(reading.share, caller, async (client) => {
    type Whole = [version: string | null, shown: boolean, count: number, body: string];
    // One statement is one snapshot: the version is that of the body.
    const text = `SELECT v.version, w.* FROM (${query.version}) AS v, (${query.whole}) AS w (shown, count, body)`;
    const { rows } = await client.query<Whole>({ name: query.name, text, values, rowMode: "array" });
    const [version, shown, count, body] = rows[0]!;
    if (!shown) throw missing!();
    if (count <= heldItems) return { body, etag: tagOf(version) };
    await streamList(list, tagOf, client, { res, pace: reading.pace, check });
    return null;
  });
}

async function readVersion({ query, values }: JsonList<unknown>, tagOf: (version: string | null) => string, { reading, caller }: Sending): Promise<{ shown: boolean; etag: string }> {
  type Version = [shown: boolean, version: string | null];
  const { rows } = await readFor(reading.share, caller, (client) => client.query<Version>({ name: `${query.name}_version`, text: query.version, values, rowMode: "array" }));
  const [shown, version] = rows[0]!;
  return { shown, etag: tagOf(version) };
}

const defaultLimit = 100;
const shortText = 16_384;
const contentType = "application/json; charset=utf-8";

async function readPage({ query, values, missing }: JsonList<unknown>, page: Page, sending: Sending): Promise<Held> {
  const limit = page.limit ?? defaultLimit;
  const owner = JSON.stringify([query.name, values]);
  const after = page.cursor === undefined ? null : readCursor(sending.cursorKeys, page.cursor, owner);
  type Row = [shown: boolean, item: string | null, sortKey: string, id: string];
  const statement = {
    ...(after === null ? { name: `${query.name}_page`, text: query.page } : { name: `${query.name}_next_page`, text: query.nextPage }),
    values: [...values, limit + 1, ...(after === null ? [] : [after.sortKey, after.id])],
    rowMode: "array" as const,
  };
  const { rows } = await readFor(sending.reading.share, sending.caller, (client) => client.query<Row>(statement));
  if (!rows[0]![0]) throw missing!();
  const items = rows.flatMap(([, item]) => (item === null ? [] : [item])).slice(0, limit);
  const last = rows.length > limit ? rows[limit - 1]! : null;
  const body = `[${items.join(",")}]`;
  if (last === null) return { body };
  const link = nextLink(sending.req, limit, writeCursor(sending.cursorKeys, { sortKey: last[2], id: last[3] }, owner));
  sending.res.setHeader("Link", link);
  return { body, beside: link };
}

function nextLink(req: Request, limit: number, cursor: string): string {
  const query = new URLSearchParams(req.url.split("?")[1]);
  query.set("limit", String(limit));
  query.set("cursor", cursor);
  return `<${req.originalUrl.split("?", 1)[0]!}?${query.toString()}>; rel="next"`;
}

async function sendBody(text: string, { req, res, check, reading }: Sending, { etag: known, beside = "" }: Omit<Held, "body"> = {}): Promise<void> {
  check?.(JSON.parse(text));
  // A short text goes out in one write with its headers; a long one is turned into bytes once, for tag and body.
  const body = text.length < shortText ? text : Buffer.from(text);
  const etag = known ?? etagOf(beside === "" ? body : text + beside);
  if (isNotModified(req, etag)) return void res.writeHead(304, headersOf(etag)).end();
  const bytes = Buffer.byteLength(body);
  res.writeHead(200, { ...headersOf(etag), "Content-Type": contentType, "Content-Length": bytes }).end(body);
  if (body !== text) await watchBody(res, bytes, reading.pace);
}
