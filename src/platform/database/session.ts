import type pg from "pg";
import { makeFindOne, makeRun, type Queryable } from "./sql.ts";

/** The backend of a connection as the server reports it; a proxy reports other numbers. */
export type Backend = { processId: number; startedAt: string; serverStartedAt: string };

const backends = new WeakMap<pg.ClientBase, Backend>();

export const backendOf = (client: pg.ClientBase): Backend | undefined => backends.get(client);

const findOwn = makeFindOne<Backend>()`SELECT pg_backend_pid() AS "processId", backend_start::text AS "startedAt",
    pg_postmaster_start_time()::text AS "serverStartedAt" FROM pg_stat_get_activity(pg_backend_pid())`;

/** Behind a proxy each transaction may have another backend. */
export const findBackend = (tx: Queryable): Promise<Backend> => findOwn(tx, {});

// Compares the start too: the canceller may have reached another server that has the same pid.
const cancelBackend = makeRun<Backend>()`
  SELECT pg_cancel_backend(pid) FROM pg_stat_activity
  WHERE pid = ${"processId"} AND backend_start::text = ${"startedAt"}`;

export async function cancelStatement(canceller: Queryable, backend: Backend): Promise<void> {
  if ((await cancelBackend(canceller, backend)) === 0) throw new Error("the server of the statement was not reached");
}

// Sent as statements because PgBouncer refuses them at startup. Prisma's adapter reads all times as UTC; the queries
// are too short for JIT.
const limits = [
  ["TIME ZONE", "'UTC'"],
  ["jit", "= off"],
  ["statement_timeout", "= 30000"],
  ["lock_timeout", "= 10000"],
  ["idle_in_transaction_session_timeout", "= 60000"],
]
  .map(([name, value]) => `SET ${name} ${value}`)
  .join("; ");

const identify = `SELECT pg_is_in_recovery() AS standby, pg_backend_pid() AS "processId",
  pg_postmaster_start_time()::text AS "serverStartedAt",
  (SELECT backend_start::text FROM pg_stat_get_activity(pg_backend_pid())) AS "startedAt"`;

/** Errors: unavailable for a standby, to which the primary's address may lead for a while after a failover. */
export async function prepareSession(
  client: pg.ClientBase,
  { settings = "", isReplica = false }: { settings?: string | undefined; isReplica?: boolean | undefined },
): Promise<void> {
  const results = (await client.query(
    `${limits}; ${settings}${settings && ";"} ${identify}`,
  )) as unknown as pg.QueryResult[];
  const { standby, ...backend } = results.at(-1)!.rows[0] as Backend & { standby: boolean };
  if (standby && !isReplica)
    throw Object.assign(new Error("the server of DATABASE_URL is a standby"), { code: "57P03" });
  backends.set(client, backend);
}
