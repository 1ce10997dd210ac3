import type { Queryable } from "../platform/database/db.ts";
import {
  fields,
  findRows,
  insert,
  literal,
  sql,
  statement,
  table,
  run,
  type Sql,
  type Value,
} from "../platform/database/sql.ts";
import type { AppEventAction, AppEventType } from "./feed.ts";

/**
 * The properties whose change an event names, by the type of its subject.
 *
 * Source: the contract; src/webhooks/payload.ts does not compile where the two differ.
 */
export const eventProperties = {
  person: ["name", "role", "status", "groups"],
  group: ["name", "status"],
  school: ["name", "address", "schooling_level", "official_id"],
} as const satisfies Record<AppEventType, readonly string[]>;

export type EventProperty = { [Type in AppEventType]: (typeof eventProperties)[Type][number] };

/** The channel that is notified when events are committed. */
export const appEventChannel = "app_event";

// A UUIDv7: the time of the change, then random bits.
const makeId = (now: Value): Sql => sql`encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
  PLACING substring(int8send((extract(epoch FROM ${now}::timestamptz) * 1000)::bigint) FROM 3)
  FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid`;

const emitted = {
  clientId: sql`client_id`,
  type: sql`type`,
  action: sql`action`,
  subjectId: sql`subject_id`,
  schoolId: sql`school_id`,
  updatedProperties: sql`updated_properties`,
  reason: sql`reason`,
  reasonUntil: sql`reason_until`,
};

const inOrder = sql`ORDER BY rank, client_id, subject_id`;

/**
 * Makes the SQL that records what apps are sent, in the transaction of the change.
 *
 * Shape: `events` is a SELECT with the columns client_id, type, subject_id, school_id, action, updated_properties,
 *        reason, reason_until and rank, the order within the change. Answers one row with the number of events, after
 *        which listeners are woken up.
 */
export const appendAppEvents = (events: Sql, now: Value, traceparent: Value): Sql => sql`
  WITH emitted AS (${events}),
  written AS (
    ${insert("appEvent", { id: makeId(now), at: now, traceparent, ...emitted }, sql`FROM emitted ${inOrder}`)}
    RETURNING 1)
  SELECT count(*)::int AS events, CASE WHEN count(*) > 0 THEN pg_notify(${literal(appEventChannel)}, '') END
  FROM written`;

const e = table("appEvent", "e");

// What this very transaction wrote has no position yet, and its number.
const takeBack = statement<{ clientIds: string[]; subjectIds: string[] }>(
  (given) => sql`
  DELETE FROM ${e}
  USING unnest(${given.clientIds}::text[], ${given.subjectIds}::uuid[]) AS emitted (client_id, subject_id)
  WHERE ${e.clientId} = emitted.client_id AND ${e.subjectId} = emitted.subject_id AND ${e.type} = 'person'
    AND ${e.position} IS NULL AND e.xmin = pg_current_xact_id()::xid`,
  "events.takeBack",
);

/** Takes back what the transaction has sent to apps of people, to send it anew. */
export async function takeBackAppEvents(
  tx: Queryable,
  pairs: readonly { clientId: string; subjectId: string }[],
): Promise<void> {
  const given = {
    clientIds: pairs.map(({ clientId }) => clientId),
    subjectIds: pairs.map(({ subjectId }) => subjectId),
  };
  await run(tx, takeBack, given);
}

export type WrittenEvent = { clientId: string; type: AppEventType; action: AppEventAction; subjectId: string };

const selectWritten = statement(
  () => sql`
  SELECT ${fields<WrittenEvent>({ clientId: e.clientId, type: e.type, action: e.action, subjectId: e.subjectId })}
  FROM ${e} WHERE ${e.position} IS NULL AND e.xmin = pg_current_xact_id()::xid ORDER BY ${e.seq}`,
  "events.listWritten",
);

/** What apps are told of the change under way, read in its transaction. */
export const listWrittenEvents = (tx: Queryable): Promise<WrittenEvent[]> =>
  findRows<WrittenEvent>(tx, selectWritten, {});
