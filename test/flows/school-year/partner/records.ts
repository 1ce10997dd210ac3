import type { components } from "../../../../generated/openapi/idm.ts";
import type { Idm } from "./idm.ts";

type Schemas = components["schemas"];
type Shown = Schemas["Person"] | Schemas["User"];

/** Groups by id: of a new name an app is told as of the group's, not of its people's. */
export type KnownPerson = { name: Schemas["PersonName"]; role: Shown["role"]; groups: string[] };

/** Somebody who came while deleted: there is nothing to read by id until they return. */
const unread: KnownPerson = { name: null, role: "OTHER", groups: [] };

/** What a webhook and an entry of the change feed have in common. */
export type Hint = {
  type: Schemas["ChangeType"];
  id: string;
  action: Schemas["EventAction"];
  updatedProperties?: readonly string[] | undefined;
};

export type Records = ReturnType<typeof makeRecords>;

/** Keeps what an app may see; a real app does so in its database. */
export function makeRecords(idm: Idm) {
  const person = new Map<string, KnownPerson>();
  const group = new Map<string, { name: string }>();
  const school = new Map<string, Schemas["School"]>();
  /** People who were deleted and may come back: what they made here stays. */
  const setAside = new Map<string, KnownPerson>();

  function keepPerson({ id, name, role, groups }: Shown, isActive: boolean): void {
    const [to, from] = isActive ? [person, setAside] : [setAside, person];
    to.set(id, { name, role, groups: groups.map((one) => one.id) });
    from.delete(id);
  }

  const readAnew: Record<Hint["type"], (id: string) => Promise<void>> = {
    async person(id) {
      const [shown, user] = await Promise.all([
        idm.read<Schemas["Person"]>(`people/${id}`),
        idm.read<Schemas["User"]>(`users/${id}`),
      ]);
      if (shown) keepPerson(shown, true);
      else if (user) keepPerson(user, user.status === "ACTIVE");
      else person.delete(id);
    },
    async group(id) {
      const found = await idm.read<Schemas["Group"]>(`groups/${id}`);
      if (found) group.set(id, { name: found.name });
      else group.delete(id);
    },
    async school(id) {
      const found = await idm.read<Schemas["School"]>(`schools/${id}`);
      if (found) school.set(id, found);
      else school.delete(id);
    },
  };

  /** Does what a hint asks for; doing it twice, or late, does no harm. */
  async function take({ type, id, action, updatedProperties }: Hint): Promise<void> {
    if (action !== "delete") return readAnew[type](id);
    if (!updatedProperties?.includes("status")) setAside.delete(id);
    else if (type === "person") setAside.set(id, person.get(id) ?? setAside.get(id) ?? unread);
    ({ person, group, school })[type].delete(id);
  }

  /**
   * Reads everything, and by id whoever was known before and is in no list: somebody who signed in once stays a user.
   */
  async function readAll(): Promise<void> {
    const known = [...person.keys(), ...setAside.keys()];
    for (const kept of [person, group, school, setAside]) kept.clear();
    const list = async <Item>(path: string) => (await idm.read<Item[]>(path)) ?? [];
    for (const one of await list<Schemas["School"]>("schools")) {
      school.set(one.id, one);
      for (const { id, name, status } of await list<Schemas["ListedGroup"]>(`schools/${one.id}/groups`))
        if (status === "ACTIVE") group.set(id, { name });
      for (const shown of await list<Schemas["ListedPerson"]>(`schools/${one.id}/people?show-deleted=true`))
        keepPerson(shown, shown.status === "ACTIVE");
      for (const user of await list<Schemas["User"]>(`schools/${one.id}/users`)) keepPerson(user, true);
    }
    for (const id of known) if (!person.has(id) && !setAside.has(id)) await readAnew.person(id);
  }

  return { person, group, school, setAside, take, readAll };
}
