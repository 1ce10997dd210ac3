import type { Queryable } from "../platform/database/db.ts";
import { run, sql, statement, table, update } from "../platform/database/sql.ts";

const feed = table("eventFeed", "feed");

// Positions are far fewer than microseconds, so that the time is ahead of all that were ever given, also after the
// moment to which the database was restored, and after an earlier restore of the same backup.
const now = sql`(extract(epoch FROM now()) * 1000000)::bigint`;
const ahead = sql`greatest(${feed.lastPosition} + 1, ${now})`;

const restart = statement(
  () => update("eventFeed", "feed", { lastPosition: ahead, sweptPosition: ahead }),
  "events.restartFeed",
);

/**
 * Goes on with positions that nobody was ever given, and ends every cursor; part of restoring a backup.
 *
 * Shape: apps read everything again (410), because they may have seen changes that the database has lost.
 */
export const restartFeed = async (tx: Queryable): Promise<void> => void (await run(tx, restart, {}));
