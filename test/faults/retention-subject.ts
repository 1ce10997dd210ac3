// A process to be killed, on a machine whose clock may be wrong: it soft-deletes whom the retention is over for.
import { readDatabaseClock } from "../../src/platform/database/database-clock.ts";
import { openDatabase } from "../../src/platform/database/db.ts";
import { makeRetentionJob, type RetentionRules } from "../../src/retention/index.ts";

const { url, rules } = JSON.parse(process.env["SUBJECT"]!) as { url: string; rules: RetentionRules };
const db = openDatabase({ url });
await makeRetentionJob({ db, clock: await readDatabaseClock(db), rules, batchSize: 7 }).run(
  new AbortController().signal,
);
await db.close();
