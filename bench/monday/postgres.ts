import { readFileSync } from "node:fs";
import type { Db } from "../../src/platform/database/db.ts";
import { childrenOf, cpuSeconds, parentOf } from "../cores/cpu-time.ts";

/** What the database server has done so far. Units: `cpuMs` is NaN where the server is not of this machine. */
export type Done = { cpuMs: number; walBytes: number; walWrites: number; walSyncs: number };

export async function readDone({ pool }: Db): Promise<Done> {
  const { rows } = await pool.query<{ pid: number; wal: string; writes: string; syncs: string }>(
    `SELECT pg_backend_pid() AS pid, pg_current_wal_insert_lsn() - '0/0' AS wal,
       sum(writes) AS writes, sum(fsyncs) AS syncs
     FROM pg_stat_io WHERE object = 'wal'`,
  );
  const [{ pid, wal, writes, syncs }] = rows as [(typeof rows)[0]];
  return {
    cpuMs: readCpuOfServer(pid),
    walBytes: Number(wal),
    walWrites: Number(writes),
    walSyncs: Number(syncs),
  };
}

function readCpuOfServer(backend: number): number {
  const server = parentOf(backend);
  if (!isPostgres(backend)) return Number.NaN;
  return 1000 * (cpuSeconds([server], { withEnded: true }) + cpuSeconds(childrenOf(server)));
}

function isPostgres(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith("postgres:");
  } catch {
    return false; // of another machine
  }
}

/** Connections that hold a transaction open, and deliveries that wait. */
export async function countLeft({ pool }: Db): Promise<{ transactions: number; deliveries: number }> {
  const { rows } = await pool.query<{ transactions: number; deliveries: number }>(
    `SELECT (SELECT count(*)::int FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle') AS transactions,
       (SELECT count(*)::int FROM webhook_delivery WHERE due_at > '-infinity') AS deliveries`,
  );
  return rows[0]!;
}
