import { fields, insert, literal, makeFind, makeRun, newId, pick, sql, table } from "../platform/database/sql.ts";
import type { Queryable, Sql, Value } from "../platform/database/sql.ts";
import type { AppEventAction, AppEventType } from "./feed.ts";

export const appEventChannel = "app_event";

const row = table("appEvent", "emitted");
const emitted = {
  ...pick(row, "clientId", "type", "action", "subjectId", "appSubjectId", "erasureId"),
  ...pick(row, "nextSubjectId", "oldSubjectId", "schoolId", "updatedProperties", "reason", "reasonUntil"),
};

const inOrder = sql`ORDER BY rank, client_id, coalesce(app_subject_id, subject_id)`;

// The time in an id would tell apps with ids of their own which of their people are the same.
const eventId = (now: Value): Sql =>
  sql`CASE WHEN app_subject_id IS NULL THEN ${newId(now)} ELSE gen_random_uuid() END`;

/** Wakes listeners and returns one row. `events` selects, after `ctes`, the columns of `emitted` and rank. */
export const appendAppEvents = ({ ctes, events }: { ctes: Sql; events: Sql }, now: Value, traceparent: Value) => sql`
  WITH ${ctes}, emitted AS (${events}),
  written AS (
    ${insert("appEvent", { id: eventId(now), at: now, traceparent, ...emitted }, sql`FROM emitted ${inOrder}`)}
    RETURNING 1)
  SELECT count(*)::int AS events, CASE WHEN count(*) > 0 THEN pg_notify(${literal(appEventChannel)}, '') END
  FROM written`;

const e = table("appEvent", "e");

// xmin limits it to events of this transaction.
const takeBack = makeRun<{ clientIds: string[]; subjectIds: string[] }>("events.takeBack")`
  DELETE FROM ${e}
  USING unnest(${"clientIds"}::text[], ${"subjectIds"}::uuid[]) AS emitted (client_id, subject_id)
  WHERE ${e.clientId} = emitted.client_id AND ${e.subjectId} = emitted.subject_id AND ${e.type} = 'person'
    AND ${e.oldSubjectId} IS NULL
    AND ${e.position} IS NULL AND e.xmin = pg_current_xact_id()::xid`;

export async function takeBackAppEvents(tx: Queryable, pairs: readonly { clientId: string; subjectId: string }[]) {
  await takeBack(tx, {
    clientIds: pairs.map(({ clientId }) => clientId),
    subjectIds: pairs.map(({ subjectId }) => subjectId),
  });
}

export type WrittenEvent = {
  clientId: string;
  at: Date;
  type: AppEventType;
  action: AppEventAction;
  subjectId: string;
};

/** The changes, without announcements of new ids. */
export const listWrittenEvents = makeFind<WrittenEvent>("events.listWritten")`
  SELECT ${fields<WrittenEvent>(pick(e, "clientId", "at", "type", "action", "subjectId"))}
  FROM ${e}
  WHERE ${e.position} IS NULL AND ${e.oldSubjectId} IS NULL AND e.xmin = pg_current_xact_id()::xid ORDER BY ${e.seq}`;
