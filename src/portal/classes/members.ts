import { aboutOf, listLoginCards, nameOf, readMember, type PageRequest } from "../frame/index.ts";
import { group, readGroup } from "./group.ts";

export const member = `${group}/members/:personId`;
const mostResults = 50;

export async function showMember(request: PageRequest) {
  const { find, t, at, may } = request;
  const [{ record }, person] = await Promise.all([readGroup(request), readMember(request)]);
  const mayChange = may("putMembership");
  const isTaught = mayChange || person.role === "STUDENT";
  const mayGive = isTaught && may("newPassword");
  const isReached = mayGive && !person.isGuest;
  const mayGivePassword = isReached && person.status === "ACTIVE";
  const model = {
    group: record,
    member: person,
    base: at(group),
    fullName: nameOf(person, request),
    mayChange,
    mayGivePassword,
    usesPassword: mayGivePassword && (await find("getLogin"))?.usesPassword === true,
    cards: person.isGuest ? [] : await listLoginCards(request),
    mayRevoke: isReached,
    mayExplain: isTaught && may("explainSignIn"),
    mayRequest: mayGive && person.isGuest && person.status === "ACTIVE",
  };
  return { title: t("member.title"), view: "member", model };
}

export async function showAddition(request: PageRequest) {
  const { call, t, path, at, query, reveal } = request;
  const search = reveal(query("q"));
  const filters = { school: path.schoolId, status: "ACTIVE", search, limit: mostResults } as const;
  const [{ record }, results] = await Promise.all([
    readGroup(request),
    search === "" ? null : call("listPeople", { query: filters }),
  ]);
  const people = results?.map((person) => ({
    id: person.id,
    fullName: nameOf(person, request),
    about: aboutOf(person, request),
    isMember: person.groups.some(({ id }) => id === path.groupId),
  }));
  const model = { group: record, base: at(group), search, people: people ?? null };
  return { title: t("addition.title"), view: "addition", model };
}

export async function addMembers({ call, at, typed }: PageRequest) {
  const chosen = (typed["person"] ?? []).slice(0, mostResults);
  for (const personId of chosen) await call("putMembership", { path: { personId }, body: {} });
  return { to: at(group), done: "membersAdded", count: chosen.length };
}
