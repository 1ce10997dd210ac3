import type { Response } from "express";
import type pg from "pg";
import Cursor from "pg-cursor";
import type { JsonList } from "./answer.ts";
import { headersOf } from "./etag.ts";
import { makePacedBody } from "./paced-body.ts";
import type { Pace } from "./reading.ts";
import type { BodyCheck } from "./validation.ts";

type Streaming = { res: Response; pace: Pace; check: BodyCheck | null };
type Version = [shown: boolean, version: string | null];

// The first rows go out at once.
const rowsAtOnce = { first: 100, then: 500 };

/**
 * Sends a list as it is read, once, in one snapshot together with its version: memory does not grow with it.
 *
 * Shape:  chunked; a list that breaks off gets no last chunk, so that it never looks whole.
 */
export async function streamList({ query, values, missing }: JsonList<unknown>, tagOf: (version: string | null) => string, client: pg.PoolClient, { res, pace, check }: Streaming): Promise<void> {
  // One statement of the list lasts as long as its reader takes.
  await client.query(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = ${pace.totalMs}`);
  const { rows: versions } = await client.query<Version>({ name: `${query.name}_version`, text: query.version, values, rowMode: "array" });
  const [shown, version] = versions[0]!;
  if (!shown) throw missing!();
  const body = makePacedBody(res, pace);
  const cursor = client.query(new Cursor<[string]>(query.rows, values, { rowMode: "array" }));
  let before = "[";
  for (let rows = await cursor.read(rowsAtOnce.first); rows.length > 0; rows = await cursor.read(rowsAtOnce.then)) {
    const items = rows.map(([item]) => item).join(",");
    check?.(JSON.parse(`[${items}]`));
    if (!res.headersSent) writeHead(res, tagOf(version));
    await body.write(before + items);
    before = ",";
  }
  await client.query("COMMIT");
  if (!res.headersSent) writeHead(res, tagOf(version));
  await body.write(before === "[" ? "[]" : "]");
  await body.end();
}

const writeHead = (res: Response, etag: string) => res.writeHead(200, { ...headersOf(etag), "Content-Type": "application/json; charset=utf-8" });
