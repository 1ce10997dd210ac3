import type pg from "pg";
import { makeGate } from "../concurrency/gate.ts";
import { makeReplicaReads, type ReadServer, type ReplicaReads } from "./replica.ts";
import { toSnakeCase } from "./sql.ts";
import { shareNames, splitConnections, type Role, type ShareName } from "./share-sizes.ts";
import { closePool, makePool, openDatabase, type DatabaseOptions, type Db, type OpenDb, type PrismaDb } from "./db.ts";

export type ReadShare = Db & { canceller: pg.Pool; isReplica: boolean; replica?: ReplicaReads | undefined };

type RecordShareName = "signOn" | "tokens" | "changes" | "imports" | "jobs";

/** The connections of one process, in shares, so that work that exhausts its own share takes none from others. */
export type DatabaseShares = Record<Exclude<ShareName, RecordShareName | "reads">, Db> &
  Record<RecordShareName, PrismaDb> & { reads: ReadShare };

type ShareOptions = Omit<DatabaseOptions, "poolSize"> & {
  poolSize: number;
  role: Role;
  importsAtOnce?: number | undefined;
  replicaUrl?: string | undefined;
  /** Units: seconds; above this age the primary is read. */
  replicaMaxAgeSeconds?: number | undefined;
};

export function openShares(options: ShareOptions): DatabaseShares & { close(): Promise<void> } {
  const { replicaUrl, poolSize, role, importsAtOnce } = options;
  const sizes = splitConnections(poolSize, role, importsAtOnce);
  const open = (name: ShareName): OpenDb =>
    openDatabase({ ...options, poolSize: sizes[name], settings: name === "reads" ? readSettings : options.settings });
  const opened = Object.fromEntries(shareNames.map((name) => [name, open(name)])) as Record<ShareName, OpenDb>;
  const primary = { pool: opened.reads.pool, canceller: opened.checks.pool };
  const reads: ReadShare =
    replicaUrl === undefined ? { ...primary, isReplica: false } : openReplica(options, replicaUrl, primary);
  return {
    ...opened,
    changes: Object.assign(opened.changes, { longWork: makeLongWork(sizes.changes - 1) }),
    reads,
    async close() {
      await reads.replica?.close();
      const ofReplica = reads.isReplica ? [reads.pool, reads.canceller] : [];
      const closing = Object.values(opened).map((share) => share.close());
      await Promise.all([...closing, ...ofReplica.map((pool) => closePool(pool))]);
    },
  };
}

// Without a sort where an index has the order; otherwise PostgreSQL sorts anyway.
const ways = ["seqscan", "bitmapscan", "hashjoin", "mergejoin", "hashagg", "material", "memoize", "sort"];

// Makes an exactly fitting index cheaper than another by more than the planner's margin, in small tables too.
const costs = {
  random_page_cost: 1,
  cpu_index_tuple_cost: 1,
  cpu_operator_cost: 0.2,
  max_parallel_workers_per_gather: 0,
};

/** For index look-ups (sql.ts, `lookUp`): keeps the planner from scans and joins chosen for a small table. */
export const readSettings = [
  ...ways.map((way) => `SET enable_${way} = off`),
  ...Object.entries(costs).map(([name, value]) => `SET ${name} = ${value}`),
].join("; ");

const longWorkWaitMs = 10_000;

const makeLongWork = (places: number) =>
  makeGate({ places, placesPerClient: Infinity, waitMs: longWorkWaitMs, open: Infinity, openPerClient: Infinity });

function openReplica(options: ShareOptions, url: string, primary: ReadServer): ReadShare {
  const open = (poolSize: number) => makePool({ ...options, settings: readSettings, url, poolSize, isReplica: true });
  const server = { pool: open(options.poolSize - 1), canceller: open(1) };
  const replica = makeReplicaReads({ replica: server, primary, maxAgeSeconds: options.replicaMaxAgeSeconds ?? 5 });
  return { ...server, isReplica: true, replica };
}

export function poolsOf(shares: DatabaseShares): Record<string, pg.Pool> {
  return Object.fromEntries(shareNames.map((name) => [toSnakeCase(name), shares[name].pool]));
}
