import { readdirSync, readFileSync } from "node:fs";
import type { Db } from "../../src/platform/database/db.ts";
import { readCpuMs } from "../harness.ts";

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

// Connections that ended meanwhile are not counted; the service keeps its own open.
function readCpuOfServer(backend: number): number {
  try {
    if (!readFileSync(`/proc/${backend}/cmdline`, "latin1").startsWith("postgres:")) return Number.NaN;
    const server = parentOf(backend);
    const own = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && parentOf(Number(name)) === server);
    return own.reduce((sum, pid) => sum + readCpuMs(Number(pid)), 0);
  } catch {
    return Number.NaN;
  }
}

function parentOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)!.split(" ")[1]);
  } catch {
    return Number.NaN; // ended meanwhile
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
