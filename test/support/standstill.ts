import type { Db } from "../../src/platform/database/db.ts";

const key = 4711;

/** SQL of a trigger function `wait_for_test`: the statement that calls it waits while `whileStopped` works. */
export const waitForTest = `
  CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS
    $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${key}); RETURN NEW; END $$`;

/** Does the work while every statement with the trigger stands still. */
export async function whileStopped({ pool }: Pick<Db, "pool">, work: () => Promise<void>): Promise<void> {
  const blocker = await pool.connect();
  await blocker.query("SELECT pg_advisory_lock($1)", [key]);
  try {
    await work();
  } finally {
    await blocker.query("SELECT pg_advisory_unlock($1)", [key]);
    blocker.release();
  }
}

/** Counts the statements that stand still. */
export async function countStopped({ pool }: Pick<Db, "pool">): Promise<number | null> {
  const text = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'";
  return (await pool.query(text)).rowCount;
}

/** Ends once a statement stands still. */
export async function untilStopped(db: Pick<Db, "pool">): Promise<void> {
  while ((await countStopped(db)) === 0);
}
