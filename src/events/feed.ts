import type { RecordStore } from "../platform/database/db.ts";
import { fields, makeFind, pick, type Queryable, sql, type Sql, table } from "../platform/database/sql.ts";

export type AppEventType = "person" | "group" | "school";
export type AppEventAction = "create" | "update" | "delete" | "restore";
export type DeleteReason = "deleted" | "soft_deleted" | "no_longer_synced" | "access_withdrawn";

export type AppEvent = {
  position: string;
  at: Date;
  type: AppEventType;
  action: AppEventAction;
  /** As the app knows it. */
  subjectId: string;
  schoolId: string | null;
  updatedProperties: string[];
  reason: DeleteReason | null;
  reasonUntil: Date | null;
  erasureId: string | null;
  /** Null unless the event announces a new id of a person. */
  newIds: { oldPersonId: string; newPersonId: string } | null;
};

type FeedQuery = {
  clientId: string;
  types: readonly AppEventType[];
  after: string | null;
  limit: number;
};

/** `expired`: events after the position may have been swept, or the position was never issued. */
type Events = { kind: "events"; events: AppEvent[]; next: string; more: boolean } | { kind: "expired" };

const feed = table("eventFeed", "feed");
const event = table("appEvent", "event");

const eventFields = (subjectId: Sql) =>
  fields<AppEvent>({
    ...pick(event, "position", "at", "type", "action", "schoolId", "updatedProperties"),
    ...pick(event, "reason", "reasonUntil", "erasureId"),
    subjectId,
    newIds: sql`CASE WHEN ${event.oldSubjectId} IS NOT NULL
    THEN json_build_object('oldPersonId', ${event.oldSubjectId}, 'newPersonId', ${event.nextSubjectId}) END`,
  });

const selectEvents = (subjectId: Sql) =>
  makeFind<Row, FeedQuery>("events.listEvents")`
  SELECT ${feed.lastPosition} AS "lastPosition",
    ${feed.sweptPosition} > ${"after"}::bigint OR ${feed.lastPosition} < ${"after"}::bigint AS "isExpired", e.*
  FROM ${feed} LEFT JOIN LATERAL (
    SELECT ${eventFields(subjectId)}
    FROM ${event} WHERE ${event.clientId} = ${"clientId"} AND ${event.type} = ANY (${"types"})
      AND ${event.position} > ${"after"}::bigint AND ${subjectId} IS NOT NULL
    ORDER BY ${event.position} LIMIT ${"limit"}) e ON true`;

type Row = { lastPosition: string; isExpired: boolean | null } & (AppEvent | { position: null });

type ListEvents = (db: Queryable, query: FeedQuery) => Promise<Events>;

/**
 * `subjectOf` is SQL for the id that the app has of the subject; null leaves the event out. `next` moves to the end of
 * the feed even if the last events are other apps'.
 */
export function makeListEvents(subjectOf: (event: EventRow) => Sql): ListEvents {
  const select = selectEvents(subjectOf(event));
  return async (db, { clientId, types, after, limit }) => {
    const rows = await select(db, { clientId, types, after, limit: limit + 1 });
    const [{ lastPosition, isExpired }] = rows as [Row];
    if (isExpired) return { kind: "expired" };
    const ownRows = rows.flatMap((row) => (row.position === null ? [] : [row]));
    const events = ownRows.slice(0, limit);
    const more = ownRows.length > limit;
    return { kind: "events", events, next: more ? events.at(-1)!.position : lastPosition, more };
  };
}

type EventRow = typeof event;

export function listEventsOf(
  { prisma }: RecordStore,
  { subjectId, limit }: { subjectId: string; limit: number },
): Promise<{ at: Date; clientId: string; action: string }[]> {
  return prisma.appEvent.findMany({
    where: { subjectId },
    select: { at: true, clientId: true, action: true },
    orderBy: { seq: "desc" },
    take: limit,
  });
}
