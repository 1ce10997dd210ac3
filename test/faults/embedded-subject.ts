/**
 * A process on the embedded PostgreSQL: `write` prints every id that was confirmed, `hold` does nothing until it is
 * stopped.
 */
import pg from "pg";
import { DatabaseStartError, startEmbeddedPostgres } from "../../src/platform/postgres/index.ts";

const [dataDir, task] = process.argv.slice(2) as [string, "write" | "hold"];

// The test holds the other end.
process.stdin.resume().on("end", () => process.exit(1));

try {
  const server = await startEmbeddedPostgres({ dataDir, say: console.log });
  process.on("SIGTERM", () => void server.stop().then(() => process.exit(0)));
  console.log(`ready ${server.url}`);
  if (task === "write") await write(server.url);
} catch (error) {
  if (!(error instanceof DatabaseStartError)) throw error;
  console.error(error.message);
  process.exit(1);
}

async function write(url: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  await pool.query("CREATE TABLE IF NOT EXISTS fact (id bigserial PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())");
  const writer = async () => {
    for (;;) {
      const { rows } = await pool.query<{ id: string }>("INSERT INTO fact DEFAULT VALUES RETURNING id");
      process.stdout.write(`confirmed ${rows[0]!.id}\n`);
    }
  };
  await Promise.all([1, 2, 3, 4].map(writer));
}
