import type { IdmClient } from "../client.ts";
import { ApiError } from "../errors.ts";
import { makeGroupRecord, makePersonRecord } from "./present.ts";
import { mayRead, resolveHints } from "./resolve.ts";
import type { Copy, RecordType, StoredRecord } from "./store.ts";

type Load = { client: IdmClient; store: Copy; signal: AbortSignal };

/**
 * Reads everything. The position in the change feed comes first, so that what changes meanwhile is behind it; it is
 * kept last, so that a load that breaks off is done again. Somebody in no list is read by id: who signed in once stays
 * a user.
 */
export async function loadEverything({ client, store, signal }: Load): Promise<void> {
  const position = await client.getPosition({ signal });
  const seen: Record<RecordType, Set<string>> = { school: new Set(), group: new Set(), person: new Set() };
  const schools: StoredRecord[] = [];
  for await (const school of client.listSchools({ signal })) schools.push({ type: "school", ...school });
  for (const school of schools) {
    const records = await readSchool({ client, store, signal }, school.id);
    if (records === null) continue;
    const put = [school, ...records.filter(({ type, id }) => !seen[type].has(id))];
    await store.write({ put });
    for (const { type, id } of put) seen[type].add(id);
  }

  const unseen = async (type: RecordType) => (await store.listIds(type)).filter((id) => !seen[type].has(id));
  const remove = [];
  for (const type of ["school", "group"] as const) for (const id of await unseen(type)) remove.push({ type, id });
  const hints = (await unseen("person")).map((id) => ({ type: "person", id, action: "delete" }) as const);
  const rest = await resolveHints({ client, store, signal }, hints);
  await store.write({ put: rest.put, remove: [...remove, ...rest.remove], position });
}

/** The groups and people of a school, each once; null if the school stopped syncing meanwhile. */
async function readSchool({ client, signal }: Load, schoolId: string): Promise<StoredRecord[] | null> {
  const records = new Map<string, StoredRecord>();
  const keep = (record: StoredRecord | null) => {
    if (record && !records.has(record.id)) records.set(record.id, record);
  };
  try {
    if (mayRead(client, "groups"))
      for await (const group of client.listSchoolGroups(schoolId, { signal }))
        if (group.status === "ACTIVE") keep(makeGroupRecord(group));
    if (mayRead(client, "people"))
      for await (const person of client.listSchoolPeople(schoolId, { signal, showDeleted: true }))
        keep(makePersonRecord({ person, user: null }));
    if (mayRead(client, "users"))
      for await (const user of client.listSchoolUsers(schoolId, { signal }))
        keep(makePersonRecord({ person: null, user }));
  } catch (error) {
    if (error instanceof ApiError && error.code === "organization_not_found") return null;
    throw error;
  }
  return [...records.values()];
}
