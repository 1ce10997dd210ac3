/**
 * Fills a database to a size: `npm run bench -- world --people 1000000 --seed 1`. It stays where BENCH_DATABASE_URL
 * names one.
 */
import { parseArgs } from "node:util";
import { openBenchDatabase } from "./database.ts";
import { fillWorld } from "./world/fill.ts";

const { values } = parseArgs({
  options: {
    people: { type: "string", default: "10000" },
    seed: { type: "string", default: "1" },
    "sign-ins": { type: "string", default: "20" },
    until: { type: "string", default: new Date().toISOString() },
  },
});
const [people, seed, signIns] = [values.people, values.seed, values["sign-ins"]].map(Number) as [
  number,
  number,
  number,
];
const until = new Date(values.until);
if (
  ![people, seed, signIns].every(Number.isSafeInteger) ||
  people < 100 ||
  seed < 0 ||
  signIns < 1 ||
  isNaN(until.getTime())
) {
  console.error("world takes --people (at least 100), --seed, --sign-ins (of a person in a year) and --until (a time)");
  process.exit(2);
}
const database = await openBenchDatabase();
try {
  const began = performance.now();
  const filled = await fillWorld(database.db, { people, seed, signIns, until }, (line) => console.error(line));
  const seconds = (performance.now() - began) / 1000;
  const { rows } = await database.db.pool.query<{ bytes: number }>(
    "SELECT pg_database_size(current_database())::float8 AS bytes",
  );
  console.log("| Table | Rows | Size | Seconds |\n|---|---|---|---|");
  for (const one of filled)
    console.log(
      `| \`${one.table}\` | ${one.rows.toLocaleString("en")} | ${mb(one.bytes)} | ${one.seconds.toFixed(1)} |`,
    );
  console.log(`\n${people.toLocaleString("en")} people: ${mb(rows[0]!.bytes)} in ${seconds.toFixed(0)} s`);
} finally {
  await database.close();
}

function mb(bytes: number): string {
  return `${(bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 })} MB`;
}
