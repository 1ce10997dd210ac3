import type { IdmClient } from "../client.ts";
import { makeGroupRecord, makePersonRecord } from "./present.ts";
import type { RecordKey, StoredRecord } from "./store.ts";

export type Reader = Pick<IdmClient, "findSchool" | "findUser" | "findGroup" | "findPerson" | "scopes">;
export type Resolved = { put: StoredRecord[]; remove: RecordKey[] };

/** How many records are read at the same time. */
const readers = 4;

/** Whether the scopes of the app let it read this kind of record. */
export const mayRead = (
  { scopes }: Pick<IdmClient, "scopes">,
  kind: "schools" | "users" | "groups" | "people",
): boolean => scopes.some((scope) => scope.endsWith(`:${kind}:read`));

/**
 * Says what to write after these hints: what the API shows now, and not what the hints say, so that hints that come
 * late or twice do no harm.
 */
export async function resolveHints(
  { client, signal }: { client: Reader; signal: AbortSignal },
  hints: readonly RecordKey[],
): Promise<Resolved> {
  const resolved: Resolved = { put: [], remove: [] };
  const waiting = [...new Map(hints.map(({ type, id }) => [`${type} ${id}`, { type, id }])).values()];
  async function work(): Promise<void> {
    for (let subject = waiting.shift(); subject; subject = waiting.shift()) {
      const found = await readRecord(client, subject, signal);
      if (found) resolved.put.push(found);
      else resolved.remove.push(subject);
    }
  }
  await Promise.all(Array.from({ length: readers }, work));
  return resolved;
}

async function readRecord(client: Reader, { type, id }: RecordKey, signal: AbortSignal): Promise<StoredRecord | null> {
  switch (type) {
    case "school": {
      const school = await client.findSchool(id, { signal });
      return school && { type, ...school };
    }
    case "group": {
      const group = mayRead(client, "groups") ? await client.findGroup(id, { signal }) : null;
      return group && makeGroupRecord(group);
    }
    case "person": {
      const person = mayRead(client, "people") ? await client.findPerson(id, { signal, showDeleted: true }) : null;
      const shown = person ?? (mayRead(client, "users") ? await client.findUser(id, { signal }) : null);
      return shown && makePersonRecord(shown);
    }
  }
}
