import type pg from "pg";
import { makeGate } from "../concurrency/gate.ts";
import { readSettings } from "./read-settings.ts";
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
  replicaUrl?: string | undefined;
  /** Units: seconds; above this age the primary is read. */
  replicaMaxAgeSeconds?: number | undefined;
};

export function openShares(options: ShareOptions): DatabaseShares & { close(): Promise<void> } {
  const { replicaUrl, poolSize, role } = options;
  const sizes = splitConnections(poolSize, role);
  const open = (name: ShareName): Db => ({ pool: makePool({ ...options, poolSize: sizes[name] }) });
  const openRecords = (name: RecordShareName): OpenDb => openDatabase({ ...options, poolSize: sizes[name] });
  const reading = { ...options, settings: readSettings };
  const small = { checks: open("checks"), firstSignIns: open("firstSignIns") };
  const ofRecords = {
    signOn: openRecords("signOn"),
    tokens: openRecords("tokens"),
    changes: Object.assign(openRecords("changes"), { longWork: makeLongWork(sizes.changes - 1) }),
    imports: openRecords("imports"),
    jobs: openRecords("jobs"),
  };
  const primary = { pool: makePool({ ...reading, poolSize: sizes.reads }), canceller: small.checks.pool };
  const reads: ReadShare =
    replicaUrl === undefined ? { ...primary, isReplica: false } : openReplica(options, replicaUrl, primary);
  const pools = [
    ...Object.values(small).map(({ pool }) => pool),
    primary.pool,
    ...(reads.isReplica ? [reads.pool, reads.canceller] : []),
  ];
  return {
    ...small,
    ...ofRecords,
    reads,
    async close() {
      await reads.replica?.close();
      const closing = Object.values(ofRecords).map((share) => share.close());
      await Promise.all([...closing, ...pools.map((pool) => closePool(pool))]);
    },
  };
}

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
