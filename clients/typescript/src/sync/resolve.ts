import type { IdmClient } from "../client.ts";
import { findChange } from "./find-change.ts";
import { makeGroupRecord, makePersonRecord, makeUnreadPerson } from "./present.ts";
import type { Copy, Hint, RecordKey, StoredRecord } from "./store.ts";

export type Reader = Pick<
  IdmClient,
  "findSchool" | "findUser" | "findGroup" | "findPerson" | "listIdentifierChanges" | "scopes"
>;
export type Resolved = { put: StoredRecord[]; remove: RecordKey[] };

/** What the hints of a subject say about its end: it may come back, it is gone, or nothing. */
type Ending = "soft-deleted" | "gone" | null;
type Subject = RecordKey & { ending: Ending };

/** How many records are read at the same time. */
const readers = 4;

/** Whether the scopes of the app let it read this kind of record. */
export const mayRead = (
  { scopes }: Pick<IdmClient, "scopes">,
  kind: "schools" | "users" | "groups" | "people",
): boolean => scopes.some((scope) => scope.endsWith(`:${kind}:read`));

/**
 * Says what to write after these hints, from the present state of what they are about. What the API shows counts, and
 * not the hint, so that hints that come late or twice do no harm; only of what it does not show the hints say whether
 * it may come back.
 */
export async function resolveHints(
  { client, store, signal }: { client: Reader; store: Copy; signal: AbortSignal },
  hints: readonly Hint[],
): Promise<Resolved> {
  const resolved: Resolved = { put: [], remove: [] };
  const waiting = foldHints(hints);
  async function work(): Promise<void> {
    for (let subject = waiting.shift(); subject; subject = waiting.shift()) {
      const found = (await readRecord(client, subject, signal)) ?? (await findKept({ client, store, signal }, subject));
      if (found) resolved.put.push(found);
      else resolved.remove.push({ type: subject.type, id: subject.id });
    }
  }
  await Promise.all(Array.from({ length: readers }, work));
  return resolved;
}

function foldHints(hints: readonly Hint[]): Subject[] {
  const subjects = new Map<string, Subject>();
  for (const { type, id, action, updatedProperties } of hints) {
    const key = `${type} ${id}`;
    const subject = subjects.get(key) ?? { type, id, ending: null };
    if (action === "delete") subject.ending = updatedProperties?.includes("status") ? "soft-deleted" : "gone";
    else if (action !== "update") subject.ending = null;
    subjects.set(key, subject);
  }
  return [...subjects.values()];
}

async function readRecord(client: Reader, { type, id }: RecordKey, signal: AbortSignal): Promise<StoredRecord | null> {
  switch (type) {
    case "school": {
      const school = await client.findSchool(id, { signal });
      return school && { type, ...school };
    }
    case "group": {
      const group = await client.findGroup(id, { signal });
      return group && makeGroupRecord(group);
    }
    case "person": {
      const [person, user] = await Promise.all([
        mayRead(client, "people") ? client.findPerson(id, { signal }) : null,
        mayRead(client, "users") ? client.findUser(id, { signal }) : null,
      ]);
      return makePersonRecord({ person, user });
    }
  }
}

/** What stays of a subject that the API does not show: somebody who may come back. */
async function findKept(
  { client, store, signal }: { client: Reader; store: Copy; signal: AbortSignal },
  { type, id, ending }: Subject,
): Promise<StoredRecord | null> {
  if (type !== "person" || ending === "gone") return null;
  const known = await store.get({ type, id });
  if (ending === "soft-deleted") {
    if (known?.type === "person") return { ...known, status: "SOFT_DELETED" };
    // A webhook that was on its way while the app got ids of its own has the old one.
    const changed = await findChange(client, { id, signal });
    const now = changed?.inUse === "NEW" ? await store.get({ type, id: changed.newId }) : null;
    return now?.type === "person" ? { ...now, status: "SOFT_DELETED" } : makeUnreadPerson(id);
  }
  return known?.type === "person" && known.status === "SOFT_DELETED" ? known : null;
}
