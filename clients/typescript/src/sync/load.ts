import type { IdmClient } from "../client.ts";
import { ApiError } from "../errors.ts";
import { makeGroupRecord, makePersonRecord } from "./present.ts";
import { mayRead, resolveHints } from "./resolve.ts";
import type { Copy, RecordType, StoredRecord } from "./store.ts";

type Load = { client: IdmClient; store: Copy; signal: AbortSignal; from?: string | undefined };

/**
 * Reads everything. The position in the change feed, `from` or the present one, comes first, so that what changes
 * meanwhile is behind it; it is kept last, so that a load that breaks off is done again. Somebody in no list is read
 * by id: who signed in once stays a user.
 */
export async function loadEverything({ client, store, signal, from }: Load): Promise<void> {
  const position = from ?? (await client.getPosition({ signal }));
  const seen: Record<RecordType, Set<string>> = { school: new Set(), group: new Set(), person: new Set() };
  const schools: StoredRecord[] = [];
  for await (const school of client.listSchools({ signal })) schools.push({ type: "school", ...school });
  for (const school of schools) {
    const records = await readSchool({ client, store, signal }, school.id);
    if (records === null) continue;
    const { shown, users } = records;
    // Somebody may be a user of one school and a person of another: the record of the person says more.
    const put = [school, ...shown, ...users.filter(({ id }) => !seen.person.has(id))];
    await store.write({ put });
    for (const { type, id } of put) seen[type].add(id);
  }

  const unseen = async (type: RecordType) => (await store.listIds(type)).filter((id) => !seen[type].has(id));
  const remove = [];
  for (const type of ["school", "group"] as const) for (const id of await unseen(type)) remove.push({ type, id });
  const hints = (await unseen("person")).map((id) => ({ type: "person", id }) as const);
  const rest = await resolveHints({ client, signal }, hints);
  await store.write({ put: rest.put, remove: [...remove, ...rest.remove], position: keepPosition(client, position) });
}

const kinds = ["schools", "users", "groups", "people"] as const;
const scopesOf = (client: Pick<IdmClient, "scopes">): string => {
  const read = kinds.filter((kind) => mayRead(client, kind));
  return read.length === kinds.length ? "" : ` ${read.join()}`;
};

/** What the store keeps of a position: with the scopes of the copy, if these are not all. */
export const keepPosition = (client: Pick<IdmClient, "scopes">, position: string): string =>
  position + scopesOf(client);

/** The position to go on from; null for a copy that was loaded with other scopes. */
export function readPosition(client: Pick<IdmClient, "scopes">, kept: string | null): string | null {
  const [position = null] = kept?.split(" ") ?? [];
  return position !== null && keepPosition(client, position) === kept ? position : null;
}

/** Of a school: its groups and people, and the users who are none of these; null if it stopped syncing meanwhile. */
async function readSchool(
  { client, signal }: Load,
  schoolId: string,
): Promise<{ shown: StoredRecord[]; users: StoredRecord[] } | null> {
  const shown: StoredRecord[] = [];
  const users: StoredRecord[] = [];
  const people = new Set<string>();
  try {
    if (mayRead(client, "groups"))
      for await (const group of client.listSchoolGroups(schoolId, { signal })) shown.push(makeGroupRecord(group));
    if (mayRead(client, "people"))
      for await (const person of client.listSchoolPeople(schoolId, { signal, showDeleted: true })) {
        shown.push(makePersonRecord(person));
        people.add(person.id);
      }
    if (mayRead(client, "users"))
      for await (const user of client.listSchoolUsers(schoolId, { signal }))
        if (!people.has(user.id)) users.push(makePersonRecord(user));
  } catch (error) {
    if (error instanceof ApiError && error.code === "organization_not_found") return null;
    throw error;
  }
  return { shown, users };
}
