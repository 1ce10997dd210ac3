import { sql, type Part, type Sql } from "./sql.ts";

/** SQL: a UUIDv7 for each row, as crypto/ids.ts makes it: the time, then random bits. */
export const newId = (now: Part): Sql => sql`encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
  PLACING substring(int8send((extract(epoch FROM ${now}::timestamptz) * 1000)::bigint) FROM 3)
  FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid`;
