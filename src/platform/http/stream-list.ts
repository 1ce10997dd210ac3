import type { Response } from "express";
import type pg from "pg";
import Cursor from "pg-cursor";
import { headersOf } from "./send.ts";
import { makePacedBody } from "./paced-body.ts";
import type { Pace } from "./reading.ts";
import type { BodyCheck } from "./validation.ts";

type Rows = { text: string; values: unknown[] };
type Streaming = { res: Response; etag: string; pace: Pace; check: BodyCheck | null };

// The first rows go out at once; larger batches would block other requests.
const rowsAtOnce = { first: 50, then: 250 };

/** Returns the number of items. A list that breaks off gets no last chunk. */
export async function streamList(
  client: pg.PoolClient,
  { text, values }: Rows,
  { res, etag, pace, check }: Streaming,
): Promise<number> {
  const body = makePacedBody(res, pace);
  const cursor = client.query(new Cursor<[string]>(text, values, { rowMode: "array" }));
  const writeHead = () =>
    res.headersSent || res.writeHead(200, { ...headersOf(etag), "Content-Type": "application/json; charset=utf-8" });
  let count = 0;
  for (let rows = await cursor.read(rowsAtOnce.first); rows.length > 0; rows = await cursor.read(rowsAtOnce.then)) {
    const items = rows.map(([item]) => item).join(",");
    check?.(JSON.parse(`[${items}]`));
    writeHead();
    await body.write((count === 0 ? "[" : ",") + items);
    count += rows.length;
  }
  writeHead();
  await body.write(count === 0 ? "[]" : "]");
  await body.end();
  return count;
}
