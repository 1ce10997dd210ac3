import { sql, type Sql, type Value } from "../../platform/database/sql.ts";

/** SQL: the first moment of the month of a time, in UTC. */
export const monthOf = (at: Value): Sql => sql`date_trunc('month', ${at}::timestamptz, 'UTC')`;

/** SQL: its first day. */
export const firstDayOf = (at: Value): Sql => sql`(${monthOf(at)} AT TIME ZONE 'UTC')::date`;
