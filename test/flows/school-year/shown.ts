import { expect } from "vitest";
import type { components } from "../../../generated/openapi/idm.ts";
import type { Records } from "./partner/records.ts";
import type { Partner } from "./world.ts";

type Schemas = components["schemas"];
const idsOf = (list: readonly { id: string }[]) => list.map(({ id }) => id).sort();

/** What the IDM API shows an app, in its lists and, by id, of everybody there ever was; both must say the same. */
export async function readShown({ idm, signedIn }: Partner, everybody: readonly string[]) {
  const list = async <Item>(path: string) => (await idm.read<Item[]>(path))!;
  const schools = await list<Schemas["School"]>("schools");
  const listed = {
    groups: [] as Schemas["ListedGroup"][],
    people: [] as Schemas["ListedPerson"][],
    gone: [] as Schemas["ListedPerson"][],
    users: [] as Schemas["User"][],
  };
  for (const { id } of schools) {
    listed.groups.push(...(await list<Schemas["ListedGroup"]>(`schools/${id}/groups`)));
    listed.people.push(...(await list<Schemas["ListedPerson"]>(`schools/${id}/people`)));
    listed.gone.push(
      ...(await list<Schemas["ListedPerson"]>(`schools/${id}/people?show-deleted=true`)).filter(
        ({ status }) => status === "SOFT_DELETED",
      ),
    );
    listed.users.push(...(await list<Schemas["User"]>(`schools/${id}/users`)));
  }
  const found = await Promise.all(
    everybody.map(async (id) => ({
      person: await idm.read<Schemas["Person"]>(`people/${id}`),
      user: await idm.read<Schemas["User"]>(`users/${id}`),
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
    const members = (await idm.read<Schemas["Group"]>(`groups/${id}`))!.members;
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

/** What an app holds, in a form to be compared: without the order in which it came. */
export function sortOut({ school, group, person }: Pick<Records, "school" | "group" | "person">) {
  return {
    school,
    group,
    person: new Map([...person].map(([id, { groups, ...rest }]) => [id, { ...rest, groups: groups.toSorted() }])),
  };
}

/**
 * What an app holds, by the names that it has for it: schools | groups | people with their groups | who was set aside.
 */
export function describeHeld({ school, group, person, setAside }: Records): string {
  const groupNames = (ids: string[]) =>
    ids
      .map((id) => group.get(id)?.name ?? "?")
      .sort()
      .join(" ");
  const parts = [
    [...school.values()].map(({ name }) => name.toLowerCase()),
    [...group.values()].map(({ name }) => name),
    [...person.values()].map(
      ({ name, groups }) => `${name!.firstCall.toLowerCase()}${groups.length > 0 ? `[${groupNames(groups)}]` : ""}`,
    ),
    [...setAside.values()].map(({ name }) => name!.firstCall.toLowerCase()),
  ];
  return parts.map((part) => part.sort().join(" ") || "-").join(" | ");
}
