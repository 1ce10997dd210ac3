import type { ListedPerson, Person, User } from "../contract.ts";
import type { GroupRecord, PersonRecord } from "./store.ts";

/** A person's record says all that the user's says, and their identifier in the source system. */
export const makePersonRecord = (shown: Person | ListedPerson | User): PersonRecord => ({
  type: "person",
  id: shown.id,
  name: shown.name,
  role: shown.role,
  groups: shown.groups.map(({ id }) => id),
  sourceSystemIdentifier: "sourceSystemIdentifier" in shown ? shown.sourceSystemIdentifier : null,
  status: shown.status ?? "ACTIVE",
});

export const makeGroupRecord = ({ id, name }: { id: string; name: string }): GroupRecord => ({
  type: "group",
  id,
  name,
});
