import DataLoader from "dataloader";
import type pg from "pg";
import { CallerLeft, joinCallers, type Caller } from "../concurrency/caller.ts";
import { backendOf, cancelStatement } from "../database/session.ts";
import type { ReadShare } from "../database/shares.ts";
import type { ReadQuery } from "./answer.ts";

/** Reads on one connection; cancels the running statement at the server when the caller leaves (CallerLeft). */
export async function readFor<T>(
  share: ReadShare,
  caller: Caller,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  if (caller.hasLeft()) throw new CallerLeft();
  const { client, canceller } =
    share.replica === undefined
      ? { client: await share.pool.connect(), canceller: share.canceller }
      : await share.replica.take();
  let cancelling: Promise<void> | undefined;
  let broken: Error | undefined;
  const off = caller.onLeave(() => {
    cancelling = cancelStatement(canceller, backendOf(client)!).catch((error: unknown) => {
      broken = error as Error;
      // Ends the statement, for which the caller's place would otherwise wait.
      void client.end();
    });
  });
  try {
    if (caller.hasLeft()) throw new CallerLeft();
    return await work(client);
  } catch (error) {
    // A connection inside a transaction cannot be reused.
    if (client.getTransactionStatus() !== "I") broken = error as Error;
    throw caller.hasLeft() ? new CallerLeft() : error;
  } finally {
    off();
    // Before the connection is reused: a late cancellation would hit another caller's statement.
    await cancelling;
    client.release(broken);
  }
}

type Asked = { client: string; id: string; caller: Caller };
type Row = [version: string | null, item: string | null];
export type ReadTogether = (query: ReadQuery<unknown>, asked: Asked) => Promise<Row>;

// Few enough to keep several connections busy, enough to save most round trips.
const atOnce = 8;

/** Batches reads of single records: those that arrive during one statement share the next. */
export function makeReadTogether(share: ReadShare): ReadTogether {
  const loaders = new Map<string, DataLoader<Asked, Row>>();
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
): Promise<(Row | CallerLeft)[]> {
  const present = all.filter(({ caller }) => !caller.hasLeft());
  if (present.length === 0) return all.map(() => new CallerLeft());
  const asked = values({ clients: present.map(({ client }) => client), ids: present.map(({ id }) => id) });
  const { rows } = await readFor(share, joinCallers(present.map(({ caller }) => caller)), (client) =>
    client.query<Row>({ name, text, values: asked, rowMode: "array" }),
  );
  if (present.length === all.length) return rows;
  const found = new Map(present.map((one, index) => [one, rows[index]!]));
  return all.map((one) => found.get(one) ?? new CallerLeft());
}
