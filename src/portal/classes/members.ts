import type { AdminSchemas } from "../../admin/index.ts";
import {
  listLoginCards,
  nameOf,
  Refused,
  revokeLoginCard,
  unwrap,
  unwrapPage,
  type PageRequest,
  type PageView,
  type Redirect,
} from "../frame/index.ts";
import { groupAddress, pathOf, readGroup } from "./group-record.ts";

const mostFound = 50;
const mostMembers = 1000;
const membership = "/admin/v1/groups/{groupId}/members/{personId}";

export async function showMember(request: PageRequest): Promise<PageView> {
  const { api, t, param } = request;
  const params = { path: pathOf(request), query: { limit: mostMembers } };
  const [{ record: group }, { items }] = await Promise.all([
    readGroup(request),
    unwrapPage(api.GET("/admin/v1/groups/{groupId}/members", { params })),
  ]);
  const member = items.find(({ id }) => id === param("personId"));
  if (member === undefined) throw new Refused(404, { code: "person_not_found" });
  const cards = member.isGuest ? [] : await listLoginCards(request, member.id);
  const mayChange = request.may("putMembership");
  const mayGive = mayChange || (request.may("newPassword") && member.role === "STUDENT");
  const isReached = mayGive && !member.isGuest;
  const model = {
    group,
    member,
    base: groupAddress(request),
    schoolId: param("schoolId"),
    fullName: nameOf(member, request),
    mayChange,
    mayGivePassword: isReached && member.status === "ACTIVE",
    cards,
    mayRevoke: isReached,
    mayRequest: mayGive && member.isGuest && member.status === "ACTIVE",
  };
  return { title: t("member.title"), view: "member", model };
}

const pathTo = (request: PageRequest, personId: string) => ({ path: { ...pathOf(request), personId } });

export async function setRole(request: PageRequest): Promise<Redirect> {
  const { api, field, param } = request;
  const body = { role: field("role") as AdminSchemas["SchoolRole"] };
  await unwrap(api.PUT(membership, { params: pathTo(request, param("personId")), body }));
  return { to: groupAddress(request), done: "roleSet" };
}

export async function requestPassword(request: PageRequest): Promise<Redirect> {
  const { api, param } = request;
  const [path, body] = [{ personId: param("personId") }, { schoolId: param("schoolId") }];
  await unwrap(api.POST("/admin/v1/people/{personId}/login/password-request", { params: { path }, body }));
  return { to: groupAddress(request), done: "passwordRequested" };
}

export async function revokeCard(request: PageRequest): Promise<Redirect> {
  await revokeLoginCard(request);
  return { to: `${groupAddress(request)}/members/${request.param("personId")}`, done: "cardRevoked" };
}

export async function removeMember(request: PageRequest): Promise<Redirect> {
  await unwrap(request.api.DELETE(membership, { params: pathTo(request, request.param("personId")) }));
  return { to: groupAddress(request), done: "memberRemoved" };
}

export async function showAddition(request: PageRequest): Promise<PageView> {
  const { api, t, param, query, reveal } = request;
  const search = reveal(query("q"));
  const [{ record: group }, found] = await Promise.all([readGroup(request), search === "" ? null : findPeople()]);
  const people = found?.map((person) => ({
    id: person.id,
    fullName: nameOf(person, request),
    role: person.role,
    others: person.groups.filter(isHere).map(({ name }) => name),
    isMember: isIn(person),
  }));
  const model = { group, base: groupAddress(request), search, people: people ?? null };
  return { title: t("addition.title"), view: "addition", model };

  function isHere({ schoolId, status }: AdminSchemas["AdminPersonGroup"]): boolean {
    return schoolId === param("schoolId") && status === "ACTIVE";
  }
  function isIn({ groups }: AdminSchemas["AdminPerson"]): boolean {
    return groups.some(({ id }) => id === param("groupId"));
  }
  async function findPeople() {
    const asked = { school: param("schoolId"), status: "ACTIVE" as const, search, limit: mostFound };
    return (await unwrapPage(api.GET("/admin/v1/people", { params: { query: asked } }))).items;
  }
}

/** Puts the search into the address, encrypted for the reader. */
export const searchPeople = (request: PageRequest): Promise<Redirect> => {
  const { field, hide } = request;
  const asked = new URLSearchParams({ q: hide(field("search")) });
  return Promise.resolve({ to: `${groupAddress(request)}/add?${asked.toString()}` });
};

export async function addMembers(request: PageRequest): Promise<Redirect> {
  const { api, typed } = request;
  const chosen = (typed["person"] ?? []).slice(0, mostFound);
  for (const personId of chosen) await unwrap(api.PUT(membership, { params: pathTo(request, personId), body: {} }));
  return { to: groupAddress(request), done: "membersAdded", count: chosen.length };
}
