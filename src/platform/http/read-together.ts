import DataLoader from "dataloader";
import type { ReadShare } from "../database/shares.ts";
import type { ReadQuery } from "./answer.ts";
import { allOf, CallerLeft, type Caller } from "../concurrency/caller.ts";
import { readFor } from "./read-for.ts";

type Asked = { client: string; id: string; caller: Caller };
export type ReadTogether = (query: ReadQuery<unknown>, asked: Asked) => Promise<string | null>;

// Few enough to keep several connections busy, enough to save most round trips.
const atOnce = 8;

/** Batches reads of single records: those that arrive during one statement share the next. */
export function makeReadTogether(share: ReadShare): ReadTogether {
  const loaders = new Map<string, DataLoader<Asked, string | null>>();
  return (query, asked) => {
    let loader = loaders.get(query.name);
    if (loader === undefined) {
      loader = new DataLoader((all) => readAll(share, query, all), {
        cache: false,
        maxBatchSize: atOnce,
        batchScheduleFn: setImmediate,
      });
      loaders.set(query.name, loader);
    }
    return loader.load(asked);
  };
}

async function readAll(
  share: ReadShare,
  { name, text, values }: ReadQuery<unknown>,
  all: readonly Asked[],
): Promise<(string | null | CallerLeft)[]> {
  const present = all.filter(({ caller }) => !caller.hasLeft());
  if (present.length === 0) return all.map(() => new CallerLeft());
  const asked = values({ clients: present.map(({ client }) => client), ids: present.map(({ id }) => id) });
  const { rows } = await readFor(share, allOf(present.map(({ caller }) => caller)), (client) =>
    client.query<[string | null]>({ name, text, values: asked, rowMode: "array" }),
  );
  if (present.length === all.length) return rows.map(([body]) => body);
  const bodies = new Map(present.map((one, index) => [one, rows[index]![0]]));
  return all.map((one) => bodies.get(one) ?? (bodies.has(one) ? null : new CallerLeft()));
}
