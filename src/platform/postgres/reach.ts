import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { isDatabaseUnavailable } from "../database/db.ts";
import { withProgress } from "../jobs/progress.ts";
import { DatabaseStartError } from "./start-error.ts";

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
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS connections`,
    );
    const unfit = findUnfit(rows[0]!, options.replica ?? false);
    if (unfit !== null) throw new DatabaseStartError(`PostgreSQL at ${place} cannot be used: ${unfit}`);
    const { connections } = rows[0]!;
    if (options.connections !== undefined && options.connections > connections)
      options.say(
        `The processes of this start may open ${options.connections} connections, and PostgreSQL at ${place} takes ${connections} of all its clients. ` +
          "Lower DATABASE_POOL_SIZE or WEB_CONCURRENCY, or raise max_connections.",
      );
  } finally {
    await client.end();
  }
}

type ServerFacts = { version: number; encoding: string; standby: boolean; connections: number };

export function findUnfit(
  { version, encoding, standby }: Omit<ServerFacts, "connections">,
  replica: boolean,
): string | null {
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
      const said = cause instanceof AggregateError ? cause.errors.map(String).join("; ") : (cause as Error).message;
      if (!isDatabaseUnavailable(cause))
        throw new DatabaseStartError(`PostgreSQL at ${place} refuses the connection: ${said}. Check DATABASE_URL.`, {
          cause,
        });
      if (performance.now() > giveUpAt) {
        throw new DatabaseStartError(
          `PostgreSQL at ${place} did not answer for ${patienceSeconds} s: ${said}. Check DATABASE_URL and that the server runs.`,
          { cause },
        );
      }
      await sleep(500);
    }
  }
}

function describe(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  return `${searchParams.get("host") ?? hostname}:${port || "5432"}${pathname}`;
}
