import { findAttributes, subjectNow, viewVersion, type AccessToken, type ScopeName } from "../access/index.ts";
import { makeListEvents, sequenceEvents, type AppEvent, type AppEventType } from "../events/index.ts";
import type { Db } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { answerMade } from "../platform/http/index.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { ReadShare } from "../platform/database/shares.ts";
import { findRows, statement } from "../platform/database/sql.ts";
import type { components } from "../../generated/openapi/idm.ts";
import { bitsOf, readChangeCursor, writeChangeCursor } from "./change-cursor.ts";
import { timeFor, type IdmHandler } from "./contract.ts";

const listEvents = makeListEvents(subjectNow);

type Deps = { changes: Db; reads: ReadShare; cursorKeys: EncryptionKeys };

const findVersion = statement<{ clientId: string }>("idm_changes_version")`
  SELECT ${({ clientId }) => viewVersion(clientId, null)} AS version`;

async function readVersion({ pool }: ReadShare, clientId: string): Promise<string | null> {
  const [row] = await findRows<{ version: string | null }, { clientId: string }>(pool, findVersion, { clientId });
  return row!.version;
}

/** Every change committed before the call is in the answer, even if no worker runs (with a replica: once it has it). */
export const makeListChanges =
  ({ changes, reads, cursorKeys }: Deps): IdmHandler<"listChanges"> =>
  ({ caller, query }) =>
    answerMade(
      async () => {
        const { clientId } = caller;
        // Read before the lists, so that attributes that change meanwhile end the cursor.
        const attributes = await findAttributes(reads.pool, clientId);
        const write = (position: string) => writeChangeCursor(cursorKeys, clientId, { position, attributes });
        const from = query.after === undefined ? null : readChangeCursor(cursorKeys, clientId, query.after);
        if (from?.attributes && attributes && bitsOf(from.attributes) !== bitsOf(attributes)) throw attributesChanged();
        const after = from?.position ?? null;
        await sequenceEvents(changes);
        const types = typesFor(caller);
        const request = { clientId, types, after, limit: query.limit ?? 100 };
        // Read from the server that lists use, so that a cursor is never ahead of them. A replica that lags may not
        // know the cursor yet; it has nothing new then.
        let read = await listEvents(reads.pool, request);
        if (read.kind === "expired" && after !== null && reads.isReplica) {
          const known = await listEvents(changes.pool, { ...request, limit: 1 });
          if (known.kind === "events") read = { kind: "events", events: [], next: after, more: false };
        }
        if (read.kind === "expired") throw expired();
        const time = timeFor(caller);
        return {
          changes: read.events.map((event) => present(event, { write, time })),
          next: write(read.next),
          more: read.more,
        };
      },
      () => readVersion(reads, caller.clientId),
    );

const scopesFor: Record<AppEventType, ScopeName[]> = {
  person: ["users:read", "people:read"],
  group: ["groups:read"],
  school: ["schools:read"],
};

const typesFor = ({ scopes }: AccessToken): AppEventType[] =>
  (["person", "group", "school"] as const).filter((type) => scopesFor[type].some((scope) => scopes.has(scope)));

function present(
  {
    position,
    type,
    action,
    updatedProperties,
    at,
    subjectId,
    schoolId,
    reason,
    reasonUntil,
    erasureId,
    newIds,
  }: AppEvent,
  { write, time }: { write: (position: string) => string; time: (at: Date) => string },
): components["schemas"]["Change"] {
  return {
    cursor: write(position),
    type,
    action,
    ...(updatedProperties.length > 0 && { updatedProperties }),
    at: time(at),
    ...(type === "person" && { personId: subjectId, ...newIds }),
    ...(type === "group" && { groupId: subjectId }),
    schoolId,
    ...(reason !== null && { reason }),
    ...(reasonUntil !== null && { until: time(reasonUntil) }),
    ...(erasureId !== null && { erasureId }),
  };
}

const attributesChanged = () =>
  new AppError("gone", "cursor_expired", "Your app may read other attributes now. Read everything again.");

const expired = () =>
  new AppError("gone", "cursor_expired", "Changes behind this cursor are no longer kept. Read everything again.");
