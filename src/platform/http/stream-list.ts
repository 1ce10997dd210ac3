import type pg from "pg";
import Cursor from "pg-cursor";
import { contentType, type Sending } from "./send.ts";
import { makePacedBody } from "./paced-body.ts";
import type { Pace } from "./reading.ts";

type Part = { open: string; rows: { text: string; values: unknown[] }; close: string; rowsAtOnce: number };
type Streaming = { headers: Record<string, string>; pace: Pace } & Pick<Sending, "res" | "check" | "complete">;

/** The first rows go out at once. */
const firstRows = 50;

/** Returns the number of rows of the longest part. A body that breaks off gets no last chunk. */
export async function streamList(
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
