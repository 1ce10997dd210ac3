import type pg from "pg";

/** Which backend of which server a connection leads to, as the server itself says: a proxy tells other numbers. */
export type Backend = { processId: number; startedAt: string; serverStartedAt: string };

const backends = new WeakMap<pg.ClientBase, Backend>();

/** The backend of a connection; undefined until `prepareSession` has ended. */
export const backendOf = (client: pg.ClientBase): Backend | undefined => backends.get(client);

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
