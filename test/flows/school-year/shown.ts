import { expect } from "vitest";
import {
  readAll,
  type ListedGroup,
  type ListedPerson,
  type MemoryStore,
  type PersonRecord,
  type User,
} from "../../../clients/typescript/src/index.ts";
import type { Partner } from "./world.ts";

const idsOf = (list: readonly { id: string }[]) => list.map(({ id }) => id).sort();

/** What the IDM API shows an app, in its lists and, by id, of everybody there ever was; both must say the same. */
export async function readShown({ client, signedIn }: Partner, everybody: readonly string[]) {
  const schools = await readAll(client.listSchools());
  const listed = {
    groups: [] as ListedGroup[],
    people: [] as ListedPerson[],
    gone: [] as ListedPerson[],
    users: [] as User[],
  };
  for (const { id } of schools) {
    listed.groups.push(...(await readAll(client.listSchoolGroups(id))));
    listed.people.push(...(await readAll(client.listSchoolPeople(id))));
    listed.gone.push(
      ...(await readAll(client.listSchoolPeople(id, { showDeleted: true }))).filter(
        ({ status }) => status === "SOFT_DELETED",
      ),
    );
    listed.users.push(...(await readAll(client.listSchoolUsers(id))));
  }
  const found = await Promise.all(
    everybody.map(async (id) => ({
      person: await client.findPerson(id),
      user: await client.findUser(id),
    })),
  );
  const people = found.flatMap(({ person }) => person ?? []);
  const users = found.flatMap(({ user }) => user ?? []);
  const active = users.filter(({ status }) => status === "ACTIVE");
  expect(new Set(idsOf(listed.people))).toEqual(new Set(idsOf(people)));
  // Only who signed in once is a user and in no list.
  expect(idsOf(active)).toEqual(
    [...new Set([...idsOf(listed.users), ...idsOf(active.filter(({ id }) => signedIn.has(id)))])].sort(),
  );
  for (const { id } of listed.groups) {
    const members = (await client.findGroup(id))!.members;
    expect(idsOf(members)).toEqual(idsOf(people.filter(({ groups }) => groups.some((group) => group.id === id))));
  }
  const mayReturn = new Set(
    [...listed.gone, ...users.filter(({ status }) => status === "SOFT_DELETED")].map(({ id }) => id),
  );
  const held = {
    school: new Map(schools.map((school) => [school.id, school])),
    group: new Map(listed.groups.map(({ id, name }) => [id, { name }])),
    person: new Map(
      [...active, ...people].map(({ id, name, role, groups }) => [id, { name, role, groups: idsOf(groups) }]),
    ),
  };
  return { held, mayReturn };
}

const isActive = ({ status }: PersonRecord): boolean => status === "ACTIVE";

/** What an app holds, in a form to be compared: without the order in which it came. */
export function sortOut({ school, group, person }: MemoryStore) {
  return {
    school: new Map([...school].map(([id, { type: _, ...rest }]) => [id, rest])),
    group: new Map([...group].map(([id, { name }]) => [id, { name }])),
    person: new Map(
      [...person.values()]
        .filter(isActive)
        .map(({ id, name, role, groups }) => [id, { name, role, groups: groups.toSorted() }]),
    ),
  };
}

/** Whether the app holds somebody who may come back. */
export const isSetAside = ({ person }: MemoryStore, id: string): boolean => person.get(id)?.status === "SOFT_DELETED";

/**
 * What an app holds, by the names that it has for it: schools | groups | people with their groups | who was set aside.
 */
export function describeHeld({ school, group, person }: MemoryStore): string {
  const groupNames = (ids: string[]) =>
    ids
      .map((id) => group.get(id)?.name ?? "?")
      .sort()
      .join(" ");
  const parts = [
    [...school.values()].map(({ name }) => name.toLowerCase()),
    [...group.values()].map(({ name }) => name),
    [...person.values()]
      .filter(isActive)
      .map(
        ({ name, groups }) => `${name!.firstCall.toLowerCase()}${groups.length > 0 ? `[${groupNames(groups)}]` : ""}`,
      ),
    [...person.values()].filter((one) => !isActive(one)).map(({ name }) => name!.firstCall.toLowerCase()),
  ];
  return parts.map((part) => part.sort().join(" ") || "-").join(" | ");
}
