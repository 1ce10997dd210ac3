import DataLoader from "dataloader";
import type pg from "pg";
import type { ReadQuery } from "./answer.ts";

type Asked = { client: string; id: string };
export type ReadTogether = (query: ReadQuery<unknown>, asked: Asked) => Promise<string | null>;

// Few enough that a busy process keeps several connections at work, enough to save most of the round trips.
const atOnce = 8;

/** Makes the reader of single records: those asked for while the last input was read share a statement. Nothing is kept. */
export function makeReadTogether(pool: pg.Pool): ReadTogether {
  const loaders = new Map<string, DataLoader<Asked, string | null>>();
  return (query, asked) => {
    let loader = loaders.get(query.name);
    if (loader === undefined) {
      loader = new DataLoader((all) => readAll(pool, query, all), { cache: false, maxBatchSize: atOnce, batchScheduleFn: setImmediate });
      loaders.set(query.name, loader);
    }
    return loader.load(asked);
  };
}

async function readAll(pool: pg.Pool, { name, text }: ReadQuery<unknown>, all: readonly Asked[]): Promise<(string | null)[]> {
  const values = [all.map(({ client }) => client), all.map(({ id }) => id)];
  const { rows } = await pool.query<[string | null]>({ name, text, values, rowMode: "array" });
  return rows.map(([body]) => body);
}
