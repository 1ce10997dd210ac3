import type { AdminSchemas } from "../../admin/index.ts";
import {
  aboutOf,
  listLoginCards,
  nameOf,
  personAddress,
  postAndRedirect,
  readMember,
  redirectToSearch,
  requestPassword,
  revokeLoginCard,
  unwrap,
  unwrapIfFound,
  unwrapPage,
  type PageRequest,
  type PageView,
  type Redirect,
} from "../frame/index.ts";
import { groupAddress, readGroup } from "./group-record.ts";

const mostFound = 50;
const membership = "/admin/v1/groups/{groupId}/members/{personId}";

export async function showMember(request: PageRequest): Promise<PageView> {
  const { t, path } = request;
  const [{ record: group }, member] = await Promise.all([readGroup(request), readMember(request)]);
  const cards = member.isGuest ? [] : await listLoginCards(request);
  const mayChange = request.may("putMembership");
  const isTaught = mayChange || member.role === "STUDENT";
  const mayGive = isTaught && request.may("newPassword");
  const isReached = mayGive && !member.isGuest;
  const mayGivePassword = isReached && member.status === "ACTIVE";
  const login = mayGivePassword
    ? await unwrapIfFound(request.api.GET("/admin/v1/people/{personId}/login", { params: { path } }))
    : null;
  const model = {
    group,
    member,
    base: groupAddress(request),
    schoolId: path.schoolId,
    fullName: nameOf(member, request),
    mayChange,
    mayGivePassword,
    usesPassword: login?.usesPassword === true,
    cards,
    mayRevoke: isReached,
    mayExplain: isTaught && request.may("explainSignIn"),
    mayRequest: mayGive && member.isGuest && member.status === "ACTIVE",
  };
  return { title: t("member.title"), view: "member", model };
}

export const setRole = postAndRedirect("roleSet", groupAddress, ({ api, path, field }) =>
  api.PUT(membership, { params: { path }, body: { role: field("role") as AdminSchemas["SchoolRole"] } }),
);

export const askHomeSchool = postAndRedirect("passwordRequested", groupAddress, requestPassword);

export const revokeCard = postAndRedirect("cardRevoked", personAddress, revokeLoginCard);

export const removeMember = postAndRedirect("memberRemoved", groupAddress, ({ api, path }) =>
  api.DELETE(membership, { params: { path } }),
);

export async function showAddition(request: PageRequest): Promise<PageView> {
  const { api, t, path, query, reveal } = request;
  const search = reveal(query("q"));
  const [{ record: group }, found] = await Promise.all([readGroup(request), search === "" ? null : findPeople()]);
  const people = found?.map((person) => ({
    id: person.id,
    fullName: nameOf(person, request),
    about: aboutOf(person, request),
    isMember: isIn(person),
  }));
  const model = { group, base: groupAddress(request), search, people: people ?? null };
  return { title: t("addition.title"), view: "addition", model };

  function isIn({ groups }: AdminSchemas["AdminPerson"]): boolean {
    return groups.some(({ id }) => id === path.groupId);
  }
  async function findPeople() {
    const asked = { school: path.schoolId, status: "ACTIVE" as const, search, limit: mostFound };
    return (await unwrapPage(api.GET("/admin/v1/people", { params: { query: asked } }))).items;
  }
}

export const searchPeople = redirectToSearch((request) => `${groupAddress(request)}/add`);

export async function addMembers(request: PageRequest): Promise<Redirect> {
  const { api, path, typed } = request;
  const chosen = (typed["person"] ?? []).slice(0, mostFound);
  for (const personId of chosen)
    await unwrap(api.PUT(membership, { params: { path: { ...path, personId } }, body: {} }));
  return { to: groupAddress(request), done: "membersAdded", count: chosen.length };
}
