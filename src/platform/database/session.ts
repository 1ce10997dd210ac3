import type pg from "pg";
import { findRows, run, sql, statement } from "./sql.ts";

/** Which backend of which server a connection leads to, as the server itself says: a proxy tells other numbers. */
export type Backend = { processId: number; startedAt: string; serverStartedAt: string };

const backends = new WeakMap<pg.ClientBase, Backend>();

/** The backend of a connection; undefined until `prepareSession` has ended. */
export const backendOf = (client: pg.ClientBase): Backend | undefined => backends.get(client);

const findOwn = statement(
  () => sql`SELECT pg_backend_pid() AS "processId", backend_start::text AS "startedAt",
    pg_postmaster_start_time()::text AS "serverStartedAt" FROM pg_stat_get_activity(pg_backend_pid())`,
);

/** The backend of the transaction under way, which behind a proxy may be another one for each transaction. */
export async function findBackend(tx: Pick<pg.ClientBase, "query">): Promise<Backend> {
  return (await findRows<Backend>(tx, findOwn, {}))[0]!;
}

// By the start of the backend, too: the canceller may have reached another server, where the number is somebody else's.
const cancelBackend = statement<Backend>(
  ({ processId, startedAt }) => sql`
  SELECT pg_cancel_backend(pid) FROM pg_stat_activity
  WHERE pid = ${processId} AND backend_start::text = ${startedAt}`,
);

/** Cancels the statement that runs there. Errors: where its server was not reached. */
export async function cancelStatement(canceller: Pick<pg.ClientBase, "query">, backend: Backend): Promise<void> {
  if ((await run(canceller, cancelBackend, backend)) === 0)
    throw new Error("the server of the statement was not reached");
}

// As statements and not in the start-up packet, which PgBouncer refuses. Prisma's adapter reads every time as UTC; the
// queries are short, so compiling them never pays.
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

type Session = { settings?: string | undefined; isReplica?: boolean | undefined };

/**
 * Sets up a new connection.
 *
 * Errors: a standby in the place of the primary is refused as unavailable; the name or address of the primary may lead
 *         to it for a while after a failover.
 */
export async function prepareSession(
  client: pg.ClientBase,
  { settings = "", isReplica = false }: Session,
): Promise<void> {
  const results = (await client.query(
    `${limits}; ${settings}${settings && ";"} ${identify}`,
  )) as unknown as pg.QueryResult[];
  const { standby, ...backend } = results.at(-1)!.rows[0] as Backend & { standby: boolean };
  if (standby && !isReplica) throw unavailable("57P03", "the server of DATABASE_URL is a standby");
  backends.set(client, backend);
}

const unavailable = (code: string, message: string): Error => Object.assign(new Error(message), { code });
