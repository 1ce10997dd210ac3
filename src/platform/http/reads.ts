import DataLoader from "dataloader";
import type pg from "pg";
import { CallerLeft, joinCallers, type Caller } from "../concurrency/caller.ts";
import { backendOf, cancelStatement } from "../database/session.ts";
import type { ReadShare } from "../database/shares.ts";
import type { ReadQuery } from "./answer.ts";
import { makeGate, type Gate } from "../concurrency/gate.ts";

/** Reads on one connection; cancels the running statement at the server when the caller leaves (CallerLeft). */
export async function readFor<T>(share: ReadShare, caller: Caller, work: (client: pg.PoolClient) => Promise<T>) {
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

type RecordKey = { client: string; id: string; caller: Caller };
type Row = [version: string | null, item: string | null];
export type ReadTogether = (query: ReadQuery<unknown>, question: RecordKey) => Promise<Row>;

// Few enough to keep several connections busy, enough to save most round trips.
const atOnce = 8;

/** Batches reads of single records: reads that arrive during one statement share the next statement. */
export function makeReadTogether(share: ReadShare): ReadTogether {
  const loaders = new Map<string, DataLoader<RecordKey, Row>>();
  return (query, question) => {
    let loader = loaders.get(query.name);
    if (loader === undefined) {
      loader = new DataLoader((all) => readAll(share, query, all), {
        cache: false,
        maxBatchSize: atOnce,
        batchScheduleFn: setImmediate,
      });
      loaders.set(query.name, loader);
    }
    return loader.load(question);
  };
}

async function readAll(
  share: ReadShare,
  { name, text, values }: ReadQuery<unknown>,
  all: readonly RecordKey[],
): Promise<(Row | CallerLeft)[]> {
  const present = all.filter(({ caller }) => !caller.hasLeft());
  if (present.length === 0) return all.map(() => new CallerLeft());
  const params = values({ clients: present.map(({ client }) => client), ids: present.map(({ id }) => id) });
  const { rows } = await readFor(share, joinCallers(present.map(({ caller }) => caller)), (client) =>
    client.query<Row>({ name, text, values: params, rowMode: "array" }),
  );
  if (present.length === all.length) return rows;
  const rowOf = new Map(present.map((one, index) => [one, rows[index]!]));
  return all.map((one) => rowOf.get(one) ?? new CallerLeft());
}

export type Reading = {
  share: ReadShare;
  lists: Gate;
  streams: Gate;
  /** Lists that were too long for one statement when last read. */
  longLists: Set<string>;
  records: Gate;
  staff: Gate;
  pace: Pace;
};

export type Pace = {
  stallMs: number;
  totalMs: number;
};

type ListSettings = { openPerApp: number; waitSeconds: number; stallSeconds: number; totalSeconds: number };

const openInAll = 8;
const records = { places: 64, placesPerClient: 32, open: 4096, openPerClient: 1024 };
const staff = { places: 32, placesPerClient: 16 };

export function makeReading(share: ReadShare, settings: ListSettings): Reading {
  const places = Math.max(1, (share.pool.options.max ?? 10) - 1);
  const waitMs = settings.waitSeconds * 1000;
  const open = { open: settings.openPerApp * openInAll, openPerClient: settings.openPerApp, waitMs };
  return {
    share,
    lists: makeGate({ places, placesPerClient: Math.max(1, places - 1), ...open }),
    staff: makeGate({ ...staff, ...open }),
    streams: makeGate({ places, placesPerClient: 1, open: Infinity, openPerClient: Infinity, waitMs }),
    longLists: new Set(),
    records: makeGate({ ...records, waitMs }),
    pace: { stallMs: settings.stallSeconds * 1000, totalMs: settings.totalSeconds * 1000 },
  };
}

const openGate: Gate = { admit: () => () => undefined, enter: async () => () => undefined };

/** For requests inside one that already holds a place, to avoid a deadlock. */
export const withoutGates = (reading: Reading): Reading => ({
  ...reading,
  lists: openGate,
  staff: openGate,
  streams: openGate,
  records: openGate,
});
