import type { ListedPerson, Person, User } from "../contract.ts";
import type { GroupRecord, PersonRecord } from "./store.ts";

type Read = { person: Person | ListedPerson | null; user: User | null };

/** Makes the record of somebody who is read as a person, as a user or as both; null for somebody who is neither. */
export function makePersonRecord({ person, user }: Read): PersonRecord | null {
  const shown = person ?? user;
  if (!shown) return null;
  const { id, name, role, groups } = shown;
  return {
    type: "person",
    id,
    name,
    role,
    groups: groups.map((group) => group.id),
    sourceSystemIdentifier: person?.sourceSystemIdentifier ?? null,
    status: (person ? ("status" in person ? person.status : null) : user?.status) ?? "ACTIVE",
  };
}

/** Somebody who came while soft-deleted: there is nothing to read by id until they return. */
export const makeUnreadPerson = (id: string): PersonRecord => ({
  type: "person",
  id,
  name: null,
  role: "OTHER",
  groups: [],
  sourceSystemIdentifier: null,
  status: "SOFT_DELETED",
});

export const makeGroupRecord = ({ id, name }: { id: string; name: string }): GroupRecord => ({
  type: "group",
  id,
  name,
});
