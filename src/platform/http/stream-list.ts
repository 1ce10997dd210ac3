import type { Request, Response } from "express";
import type pg from "pg";
import Cursor from "pg-cursor";
import { CallerLeft, type Caller } from "./caller.ts";
import { headersOf, isNotModified, makeEtag } from "./etag.ts";
import { makePacedBody } from "./paced-body.ts";
import { readFor } from "./read-for.ts";
import type { Reading } from "./reading.ts";
import type { BodyCheck } from "./validation.ts";

type Streaming = { req: Request; res: Response; caller: Caller; reading: Reading; check: BodyCheck | null };
type Rows = { sql: string; values: unknown[] };

const rowsAtOnce = 500;

/**
 * Sends a long list. It is read twice in one snapshot, once for its tag and length and once to be
 * sent, so that memory does not grow with it and what was cut off never looks whole.
 */
export async function streamList(rows: Rows, streaming: Streaming): Promise<void> {
  await readFor(streaming.reading.share, streaming.caller, async (client) => {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    await client.query("SET LOCAL statement_timeout = '10min'");
    await stream(client, rows, streaming);
    await client.query("COMMIT");
  });
}

async function stream(client: pg.PoolClient, rows: Rows, { req, res, caller, reading, check }: Streaming): Promise<void> {
  const tag = makeEtag();
  let length = 0;
  for await (const piece of piecesOf(client, rows, check)) {
    if (caller.hasLeft()) throw new CallerLeft();
    tag.add(piece);
    length += Buffer.byteLength(piece);
  }
  const etag = tag.end();
  if (isNotModified(req, etag)) return void res.writeHead(304, headersOf(etag)).end();
  res.writeHead(200, { ...headersOf(etag), "Content-Type": "application/json; charset=utf-8", "Content-Length": length });
  if (req.method === "HEAD") return void res.end();
  const body = makePacedBody(res, reading.pace);
  for await (const piece of piecesOf(client, rows, null)) await body.write(piece);
  await body.end();
}

async function* piecesOf(client: pg.PoolClient, { sql, values }: Rows, check: BodyCheck | null): AsyncGenerator<string> {
  const cursor = client.query(new Cursor<[string]>(sql, values, { rowMode: "array" }));
  let before = "[";
  for (;;) {
    const rows = await cursor.read(rowsAtOnce);
    if (rows.length === 0) break;
    const items = rows.map(([item]) => item).join(",");
    check?.(JSON.parse(`[${items}]`));
    yield before + items;
    before = ",";
  }
  yield before === "[" ? "[]" : "]";
}
