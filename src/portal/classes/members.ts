import type { AdminSchemas } from "../../admin/index.ts";
import {
  listLoginCards,
  Refused,
  revokeLoginCard,
  take,
  takePage,
  type Gone,
  type Shown,
  type Visit,
} from "../frame/index.ts";
import { groupAddress, nameOf, pathOf, readGroup } from "./words.ts";

const mostFound = 50;
const mostMembers = 1000;
const membership = "/admin/v1/groups/{groupId}/members/{personId}";

/** One member, with what may be done: a new password for pupils, and what the office may. */
export async function showMember(visit: Visit): Promise<Shown> {
  const { api, t, part } = visit;
  const params = { path: pathOf(visit), query: { limit: mostMembers } };
  const [{ record: group }, { items }] = await Promise.all([
    readGroup(visit),
    takePage(api.GET("/admin/v1/groups/{groupId}/members", { params })),
  ]);
  const member = items.find(({ id }) => id === part("personId"));
  if (member === undefined) throw new Refused(404, { code: "person_not_found" });
  const cards = member.isGuest ? [] : await listLoginCards(visit, member.id);
  const mayChange = visit.may("putMembership");
  const mayGive = mayChange || (visit.may("newPassword") && member.role === "STUDENT");
  const isReached = mayGive && !member.isGuest;
  const model = {
    group,
    member,
    base: groupAddress(visit),
    schoolId: part("schoolId"),
    fullName: nameOf(member, visit),
    mayChange,
    mayGivePassword: isReached && member.status === "ACTIVE",
    cards,
    mayRevoke: isReached,
    mayRequest: mayGive && member.isGuest && member.status === "ACTIVE",
  };
  return { title: t("member.title"), view: "member", model };
}

const pathTo = (visit: Visit, personId: string) => ({ path: { ...pathOf(visit), personId } });

export async function setRole(visit: Visit): Promise<Gone> {
  const { api, field, part } = visit;
  const body = { role: field("role") as AdminSchemas["SchoolRole"] };
  await take(api.PUT(membership, { params: pathTo(visit, part("personId")), body }));
  return { to: groupAddress(visit), done: "roleSet" };
}

/** Asks the home school of a guest for a new password. */
export async function requestPassword(visit: Visit): Promise<Gone> {
  const { api, part } = visit;
  const [path, body] = [{ personId: part("personId") }, { schoolId: part("schoolId") }];
  await take(api.POST("/admin/v1/people/{personId}/login/password-request", { params: { path }, body }));
  return { to: groupAddress(visit), done: "passwordRequested" };
}

/** Ends a card that was lost. */
export async function revokeCard(visit: Visit): Promise<Gone> {
  await revokeLoginCard(visit);
  return { to: `${groupAddress(visit)}/members/${visit.part("personId")}`, done: "cardRevoked" };
}

export async function removeMember(visit: Visit): Promise<Gone> {
  await take(visit.api.DELETE(membership, { params: pathTo(visit, visit.part("personId")) }));
  return { to: groupAddress(visit), done: "memberRemoved" };
}

/** Looks for people of the school who are to come into the group. */
export async function showAddition(visit: Visit): Promise<Shown> {
  const { api, t, part, query, reveal } = visit;
  const search = reveal(query("q"));
  const [{ record: group }, found] = await Promise.all([readGroup(visit), search === "" ? null : findPeople()]);
  const people = found?.map((person) => ({
    id: person.id,
    fullName: nameOf(person, visit),
    role: person.role,
    others: person.groups.filter(isHere).map(({ name }) => name),
    isMember: isIn(person),
  }));
  const model = { group, base: groupAddress(visit), search, people: people ?? null };
  return { title: t("addition.title"), view: "addition", model };

  function isHere({ schoolId, status }: AdminSchemas["AdminPersonGroup"]): boolean {
    return schoolId === part("schoolId") && status === "ACTIVE";
  }
  function isIn({ groups }: AdminSchemas["AdminPerson"]): boolean {
    return groups.some(({ id }) => id === part("groupId"));
  }
  async function findPeople() {
    const asked = { school: part("schoolId"), status: "ACTIVE" as const, search, limit: mostFound };
    return (await takePage(api.GET("/admin/v1/people", { params: { query: asked } }))).items;
  }
}

/** What was searched for stands in the address so that only the reader can read it. */
export const searchPeople = (visit: Visit): Promise<Gone> => {
  const { field, hide } = visit;
  const asked = new URLSearchParams({ q: hide(field("search")) });
  return Promise.resolve({ to: `${groupAddress(visit)}/add?${asked.toString()}` });
};

export async function addMembers(visit: Visit): Promise<Gone> {
  const { api, typed } = visit;
  const chosen = (typed["person"] ?? []).slice(0, mostFound);
  for (const personId of chosen) await take(api.PUT(membership, { params: pathTo(visit, personId), body: {} }));
  return { to: groupAddress(visit), done: "membersAdded", count: chosen.length };
}
