import type { Queryable } from "../platform/db.ts";
import type { EventProperty } from "./app-event.ts";

export type AppEventType = "person" | "group" | "school";
export type AppEventAction = "create" | "update" | "delete" | "restore";
export type DeleteReason = "deleted" | "soft_deleted" | "no_longer_synced" | "access_withdrawn";

export type AppEvent = {
  position: string;
  at: Date;
  type: AppEventType;
  action: AppEventAction;
  subjectId: string;
  schoolId: string | null;
  updatedProperties: EventProperty[AppEventType][];
  /** Of a deletion. */
  reason: DeleteReason | null;
  /** Until when who was soft-deleted may come back. */
  reasonUntil: Date | null;
};

type Asked = {
  clientId: string;
  types: readonly AppEventType[];
  /** The position behind which to read; null asks for the end of the feed. */
  after: string | null;
  limit: number;
};

/** `expired`: events behind the position may have been swept away, or it was never given. */
export type Events = { kind: "events"; events: AppEvent[]; next: string; more: boolean } | { kind: "expired" };

const selectEvents = `
  SELECT feed.last_position AS "lastPosition", feed.swept_position > $3::bigint OR feed.last_position < $3::bigint AS "isExpired", e.*
  FROM event_feed feed LEFT JOIN LATERAL (
    SELECT position, at, type, action, subject_id AS "subjectId", school_id AS "schoolId",
      updated_properties AS "updatedProperties", reason, reason_until AS "reasonUntil"
    FROM app_event WHERE client_id = $1 AND type = ANY ($2) AND app_event.position > $3::bigint
    ORDER BY app_event.position LIMIT $4) e ON true`;

type Row = { lastPosition: string; isExpired: boolean | null } & (AppEvent | { position: null });

/**
 * Lists what an app was told, in order.
 *
 * Shape: `next` is where to go on; at the end of the feed that is the end, also when the last events were for others.
 */
export async function listEvents(db: Queryable, { clientId, types, after, limit }: Asked): Promise<Events> {
  const { rows } = await db.query<Row>({
    name: "events.listEvents",
    text: selectEvents,
    values: [clientId, types, after, limit + 1],
  });
  const [{ lastPosition, isExpired }] = rows as [Row];
  if (isExpired) return { kind: "expired" };
  const found = rows.flatMap((row) => (row.position === null ? [] : [row]));
  const events = found.slice(0, limit);
  const more = found.length > limit;
  return { kind: "events", events, next: more ? events.at(-1)!.position : lastPosition, more };
}
