import { sql } from "./sql.ts";

/** SQL that commits without waiting for the disk: a database crash may lose what the transaction wrote. */
export const asynchronous = sql`(SELECT set_config('synchronous_commit', 'off', true)) IS NOT NULL`;
