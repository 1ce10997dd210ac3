import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { isDatabaseUnavailable } from "../database/db.ts";
import { leastPoolSize } from "../database/share-sizes.ts";
import { withProgress } from "../jobs/progress.ts";
import { DatabaseStartError, explainDatabaseError } from "./start-error.ts";

const oldestVersion = 15;

/** Warns if the server allows fewer than `connections`. Errors: DatabaseStartError, without the password. */
export async function reachDatabase(
  url: string,
  options: { say(line: string): void; patienceSeconds: number; connections?: number | undefined; replica?: boolean },
): Promise<void> {
  const place = describe(url);
  const client = await withProgress(`Waiting for PostgreSQL at ${place}`, options.say, () =>
    connect(url, place, options.patienceSeconds),
  );
  try {
    const { rows } = await client.query<ServerFacts>(
      `SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS standby,
        least(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
          (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database()),
          (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = session_user AND NOT rolsuper)) AS connections`,
    );
    const unfit = findUnfit(rows[0]!, options.replica ?? false);
    if (unfit !== null) throw new DatabaseStartError(`PostgreSQL at ${place} cannot be used: ${unfit}`);
    const { connections } = rows[0]!;
    if (options.connections === undefined) return;
    if (connections < leastPoolSize)
      throw new DatabaseStartError(
        `PostgreSQL at ${place} gives this role ${connections} of the ${leastPoolSize} connections that a process needs. Raise max_connections, or CONNECTION LIMIT of the role or database.`,
      );
    if (options.connections > connections)
      options.say(
        `The processes of this start may open ${options.connections} connections, and PostgreSQL at ${place} gives this role ${connections}. ` +
          "Lower DATABASE_POOL_SIZE or WEB_CONCURRENCY, or raise max_connections.",
      );
  } finally {
    await client.end();
  }
}

type ServerFacts = { version: number; encoding: string; standby: boolean; connections: number };

export function findUnfit({ version, encoding, standby }: Omit<ServerFacts, "connections">, replica: boolean) {
  if (version < oldestVersion) return `it is version ${version}, and ${oldestVersion} or later is needed.`;
  if (encoding !== "UTF8") return `its database is encoded in ${encoding}. Make one with ENCODING 'UTF8'.`;
  if (standby && !replica)
    return "it is a standby or still restores a backup, and takes no writes. DATABASE_URL must name the primary; wait until a restore has ended.";
  return null;
}

async function connect(url: string, place: string, patienceSeconds: number): Promise<pg.Client> {
  const giveUpAt = performance.now() + patienceSeconds * 1000;
  for (;;) {
    const client = new pg.Client({
      connectionString: url,
      application_name: "schultor",
      connectionTimeoutMillis: 10_000,
    });
    client.on("error", () => undefined);
    try {
      await client.connect();
      return client;
    } catch (cause) {
      await client.end().catch(() => undefined);
      const isAway = isDatabaseUnavailable(cause);
      const said = explainDatabaseError(cause) ?? `${(cause as Error).message}. Check DATABASE_URL.`;
      if (!isAway) throw new DatabaseStartError(`PostgreSQL at ${place} refuses the connection: ${said}`, { cause });
      if (performance.now() > giveUpAt)
        throw new DatabaseStartError(`PostgreSQL at ${place} did not answer for ${patienceSeconds} s: ${said}`, {
          cause,
        });
      await sleep(500);
    }
  }
}

function describe(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  return `${searchParams.get("host") ?? hostname}:${port || "5432"}${pathname}`;
}
