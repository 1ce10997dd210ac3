import type { Queryable } from "../platform/db.ts";

/** Whoever listens on this channel learns that events were committed. */
export const appEventChannel = "app_event";

// A UUIDv7: the time of the change, then random bits.
const makeId = `encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
  PLACING substring(int8send((extract(epoch FROM $1::timestamptz) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid`;

/**
 * Makes the statement that records what apps are told, in the transaction of the change.
 *
 * Shape: `told` is a SELECT with the columns client_id, type, subject_id, school_id, action, updated_properties, reason,
 *        reason_until and rank, the order within the change; its parameters begin with $2, as $1 is the time. Answers one
 *        row with the number of events, after which listeners are nudged.
 */
export const appendAppEvents = (told: string): string => `
  WITH told AS (${told}),
  written AS (
    INSERT INTO app_event (id, at, client_id, type, action, subject_id, school_id, updated_properties, reason, reason_until)
    SELECT ${makeId}, $1, client_id, type, action, subject_id, school_id, updated_properties, reason, reason_until
    FROM told ORDER BY rank, client_id, subject_id
    RETURNING 1)
  SELECT count(*)::int AS events, CASE WHEN count(*) > 0 THEN pg_notify('${appEventChannel}', '') END FROM written`;

// What this very transaction wrote has no place yet, and its number.
const takeBack = `
  DELETE FROM app_event e USING unnest($1::text[], $2::uuid[]) AS told (client_id, subject_id)
  WHERE e.client_id = told.client_id AND e.subject_id = told.subject_id AND e.type = 'person' AND e.position IS NULL
    AND e.xmin = pg_current_xact_id()::xid`;

/** Takes back what the transaction has told apps of people, to tell it anew. */
export async function takeBackAppEvents(
  tx: Queryable,
  told: readonly { clientId: string; subjectId: string }[],
): Promise<void> {
  await tx.query({
    name: "events.takeBack",
    text: takeBack,
    values: [told.map(({ clientId }) => clientId), told.map(({ subjectId }) => subjectId)],
  });
}
