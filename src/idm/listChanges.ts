import type { AccessToken, ScopeName } from "../access/index.ts";
import { listEvents, sequenceEvents, type AppEvent, type AppEventType } from "../events/index.ts";
import type { Db } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { answerMade } from "../platform/http/index.ts";
import type { components } from "../../generated/openapi/idm.ts";
import type { IdmHandler } from "./handler.ts";

type Change = components["schemas"]["Change"];

/**
 * Makes the handler of the change feed. What was committed before a call is in its answer, also when no worker runs; with a
 * replica, what that has received.
 */
export const makeListChanges =
  (db: Pick<Db, "pool" | "readPool">): IdmHandler<"listChanges"> =>
  ({ caller, query }) =>
    answerMade(async () => {
      const after = query.after === undefined ? null : readPlace(query.after);
      await sequenceEvents(db);
      const types = typesFor(caller);
      const asked = { clientId: caller.clientId, types, after, limit: query.limit ?? 100 };
      // From the server of the lists: a place is never ahead of what is read after it. To a replica that is behind, a place may
      // seem never given; then nothing is new there, and what the primary knows would lead past what the lists show.
      let read = await listEvents(db.readPool, asked);
      if (read.kind === "expired" && after !== null && db.readPool !== db.pool) {
        const known = await listEvents(db.pool, { ...asked, limit: 1 });
        if (known.kind === "events") read = { kind: "events", events: [], next: after, more: false };
      }
      if (read.kind === "expired") throw expired();
      return { changes: read.events.map(present), next: writePlace(read.next), more: read.more };
    });

const scopesFor: Record<AppEventType, ScopeName[]> = {
  person: ["users:read", "people:read"],
  group: ["groups:read"],
  school: ["schools:read"],
};

const typesFor = ({ scopes }: AccessToken): AppEventType[] =>
  (["person", "group", "school"] as const).filter((type) => scopesFor[type].some((scope) => scopes.has(scope)));

function present({ position, type, action, updatedProperties, at, subjectId, schoolId, reason, reasonUntil }: AppEvent): Change {
  return {
    cursor: writePlace(position),
    type,
    action,
    ...(updatedProperties.length > 0 && { updatedProperties }),
    at: at.toISOString(),
    ...(type === "person" && { personId: subjectId }),
    ...(type === "group" && { groupId: subjectId }),
    schoolId,
    ...(reason !== null && { reason }),
    ...(reasonUntil !== null && { until: reasonUntil.toISOString() }),
  };
}

const writePlace = (position: string): string => Buffer.from(`changes ${position}`).toString("base64url");

function readPlace(cursor: string): string {
  const position = /^changes (\d{1,18})$/.exec(Buffer.from(cursor, "base64url").toString("latin1"))?.[1];
  if (position === undefined) throw new AppError("invalid", "invalid_cursor", "The query parameter after is not one of ours.");
  return position;
}

const expired = () => new AppError("gone", "cursor_expired", "Changes behind this cursor are no longer kept. Read everything again.");
