/**
 * What it takes to remove lines of the audit log: by age in batches, with the VACUUM that follows, against the drop of
 * a partition of as many. `npm run bench -- removal`, BENCH_ROWS (500,000) and BENCH_ROUNDS (3).
 */
import { listAuditPartitions, makeAuditPartitions, sweepAudit } from "../src/events/index.ts";
import { openBenchDatabase } from "./database.ts";

const count = Number(process.env["BENCH_ROWS"] ?? 500_000);
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3);
const dayMs = 86_400_000;
const { db, close } = await openBenchDatabase();
const client = await db.pool.connect();
await client.query("SET statement_timeout = 0");

/** Milliseconds, and megabytes of write-ahead log. */
async function measure(work: () => Promise<unknown>): Promise<string> {
  await client.query("CHECKPOINT");
  const before = await client.query<{ lsn: string }>("SELECT pg_current_wal_lsn()::text AS lsn");
  const began = performance.now();
  await work();
  const took = performance.now() - began;
  const { rows } = await client.query<{ mb: number }>(
    "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), $1)::float8 / 1e6 AS mb",
    [before.rows[0]!.lsn],
  );
  return `${took.toFixed(0)} ms, ${rows[0]!.mb.toFixed(1)} MB`;
}

const fill = (from: Date) =>
  client.query(
    `INSERT INTO audit (id, at, action, client_id, person_id, request_id)
     SELECT gen_random_uuid(), $1::timestamptz + n * interval '1 ms', 'signed_in', 'app', gen_random_uuid(), gen_random_uuid()::text
     FROM generate_series(1, $2::int) n`,
    [from, count],
  );

try {
  const first = (await listAuditPartitions(db.pool))[0]!.until!;
  await makeAuditPartitions(db, first);
  const months = (await listAuditPartitions(db.pool)).filter(({ isOfMonth }) => isOfMonth);
  console.log(
    `| ${count.toLocaleString("en")} lines | Deleted in batches | VACUUM after it | Dropped |\n|---|---|---|---|`,
  );
  for (let round = 0; round < Math.min(rounds, months.length); round++) {
    const { name, until } = months[round]!;
    await fill(new Date(first.getTime() - 5 * dayMs));
    const before = new Date(first.getTime() - 1);
    const deleted = await measure(() => sweepAudit(db, before, { signal: new AbortController().signal }));
    const vacuumed = await measure(() => client.query("VACUUM audit_first"));
    await fill(new Date(until!.getTime() - 20 * dayMs));
    const dropped = await measure(() => client.query(`DROP TABLE ${name}`));
    console.log(`| round ${round + 1} | ${deleted} | ${vacuumed} | ${dropped} |`);
  }
} finally {
  client.release();
  await close();
}
