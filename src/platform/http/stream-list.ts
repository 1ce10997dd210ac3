import { once } from "node:events";
import type { Request, Response } from "express";
import type pg from "pg";
import Cursor from "pg-cursor";
import { headersOf, isNotModified, makeEtag } from "./etag.ts";
import { makeGate } from "./gate.ts";
import type { BodyCheck } from "./validation.ts";

type Streaming = { req: Request; res: Response; pool: pg.Pool; check: BodyCheck | null };
export type StreamList = (sql: string, values: unknown[], streaming: Streaming) => Promise<void>;

const rowsAtOnce = 500;

/**
 * Makes the sender of long lists. A list is read twice in one snapshot, once for its tag and length and once to be
 * sent, so that memory does not grow with it and what was cut off never looks whole.
 *
 * Shape: `atOnce` streams hold a connection each; more wait for their turn.
 */
export function makeStreamList({ atOnce }: { atOnce: number }): StreamList {
  const gate = makeGate(atOnce);
  return async (sql, values, streaming) => {
    const leave = await gate.enter();
    try {
      if (!streaming.res.destroyed) await inSnapshot(streaming, (client) => stream(client, { sql, values }, streaming));
    } finally {
      leave();
    }
  };
}

type Rows = { sql: string; values: unknown[] };

async function stream(client: pg.PoolClient, rows: Rows, { req, res, check }: Streaming): Promise<void> {
  const tag = makeEtag();
  let length = 0;
  for await (const piece of piecesOf(client, rows, check)) {
    if (res.destroyed) return;
    tag.add(piece);
    length += Buffer.byteLength(piece);
  }
  const etag = tag.end();
  if (isNotModified(req, etag)) return void res.writeHead(304, headersOf(etag)).end();
  res.writeHead(200, { ...headersOf(etag), "Content-Type": "application/json; charset=utf-8", "Content-Length": length });
  if (req.method === "HEAD") return void res.end();
  for await (const piece of piecesOf(client, rows, null)) {
    if (res.destroyed) return;
    if (!res.write(piece)) await room(res);
  }
  res.end();
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

async function room(res: Response): Promise<void> {
  const given = new AbortController();
  try {
    await Promise.race([once(res, "drain", { signal: given.signal }), once(res, "close", { signal: given.signal })]);
  } finally {
    given.abort();
  }
}

/** Runs `work` in one read-only snapshot. A caller who went away, or a failure, costs the connection. */
async function inSnapshot({ pool, res }: Streaming, work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  let over = false;
  const drop = () => {
    if (over) return;
    over = true;
    client.release(true);
  };
  const goneAway = () => void (res.writableFinished || drop());
  res.once("close", goneAway);
  try {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    await client.query("SET LOCAL statement_timeout = '10min'");
    await work(client);
    if (res.destroyed && !res.writableFinished) return drop();
    await client.query("COMMIT");
    if (!over) client.release();
    over = true;
  } catch (error) {
    const wasAlone = over;
    drop();
    if (!wasAlone) throw error;
  } finally {
    res.off("close", goneAway);
  }
}
