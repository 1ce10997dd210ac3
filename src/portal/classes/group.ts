import type { AdminSchemas } from "../../admin/index.ts";
import { makePage, aboutOf, listLoginCards, callName, readForm, readMember, Refused } from "../frame/index.ts";
import type { PageRequest, PageView } from "../frame/index.ts";

type Group = AdminSchemas["AdminGroup"];
type SignInState = AdminSchemas["SignInState"];

export const classes = "/admin/schools/:schoolId/classes";
export const group = `${classes}/:groupId`;

/** More than any school has. */
const most = 1000;
const kinds = ["KLASSE", "KURS", "SONSTIG", "DELETED"] as const;

const kindOf = ({ status, type }: Group) => (status === "DELETED" ? "DELETED" : type);

export async function listClasses({ call, t, path, query }: PageRequest) {
  const search = query("search");
  const [groups, signIns] = await Promise.all([
    call("listGroups", { query: { school: path.schoolId, limit: most, "show-deleted": true, search } }),
    call("listClassSignIns", { query: { limit: most, search } }),
  ]);
  const byKind = new Map(kinds.map((kind) => [kind, groups.filter((one) => kindOf(one) === kind)]));
  const wanted = kinds.find((kind) => kind === query("kind"));
  const kind = wanted ?? kinds.find((one) => byKind.get(one)?.length !== 0) ?? "KLASSE";
  const tabs = kinds.map((one) => ({ kind: one, count: byKind.get(one)?.length ?? 0 }));
  return makePage("classes", t("frame.pages.classes"), {
    groups: byKind.get(kind) ?? [],
    classes: signIns,
    kind,
    tabs: tabs.filter((tab) => tab.count > 0 || tab.kind === kind),
    search,
    isEmpty: groups.length === 0 && search === "",
  });
}

export const showNewGroup = async ({ t }: PageRequest) => makePage("new", t("classes.add"));

export async function addGroup(request: PageRequest) {
  const { call, path, at } = request;
  const body = { ...readForm(request, "createGroup", ["name", "type"]), schoolId: path.schoolId };
  const { id } = await call("createGroup", { body });
  return { to: `${at(classes)}/${id}`, done: "groupAdded" };
}

/** The group of the page and its tag. Errors: Refused for a group of another school. */
export async function readGroup({ getRecord, path }: PageRequest): Promise<{ record: Group; tag: string }> {
  const read = await getRecord("getGroup");
  if (read.record.schoolId !== path.schoolId) throw new Refused(404, { code: "group_not_found" });
  return read;
}

export async function showDeletion(request: PageRequest) {
  const { call, t } = request;
  const [{ record, tag }, changes] = await Promise.all([
    readGroup(request),
    call("deleteGroup", { query: { "dry-run": true } }),
  ]);
  return makePage("deletion", t("deletion.title"), { group: record, tag, changes: changes ?? [] });
}

const mostCounted = 200;
const states: readonly SignInState[] = ["IMPOSSIBLE", "NEVER"];

/** `role=STUDENT` in the address: only the pupils who are at the school. */
const pupils = { role: "STUDENT", status: "ACTIVE" } as const;
type Filter = Partial<typeof pupils>;

/** How many members are in a state; "200+" for more than a page of the API. */
async function countMembers({ list }: PageRequest, filter: Filter, state: SignInState) {
  const query = { limit: mostCounted, cursor: "", ...filter, "sign-in": state };
  const { items, next } = await list("listMembers", { query });
  return { state, count: `${items.length}${next === null ? "" : "+"}` };
}

export async function showGroup(request: PageRequest) {
  const { list, query } = request;
  const signIn = states.find((state) => state === query("sign-in"));
  const isOfPupils = query("role") === pupils.role;
  const filter: Filter = isOfPupils ? pupils : {};
  const [{ record, tag }, { items, more }, ...counts] = await Promise.all([
    readGroup(request),
    list("listMembers", { query: { ...filter, "sign-in": signIn } }),
    ...states.map((state) => countMembers(request, filter, state)),
  ]);
  return makePage("group", record.name, {
    group: record,
    tag,
    signIn,
    counts,
    isOfPupils,
    more,
    members: items.map((member) => ({ ...member, fullName: callName(member, request) })),
  });
}

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
  const login = mayGivePassword ? await find("getLogin") : null;
  return makePage("member", t("member.title"), {
    group: record,
    member: person,
    base: at(group),
    fullName: callName(person, request),
    mayChange,
    mayGivePassword,
    usesPassword: login?.usesPassword === true,
    pictureCode: login?.pictureCode ?? "NONE",
    cards: person.isGuest ? [] : await listLoginCards(request),
    mayRevoke: isReached,
    mayExplain: isTaught && may("explainSignIn"),
    mayRequest: mayGive && person.isGuest && person.status === "ACTIVE",
  });
}

export async function showAddition(request: PageRequest) {
  const { call, t, path, query, reveal } = request;
  const search = reveal(query("q"));
  const filters = { school: path.schoolId, status: "ACTIVE", search, limit: mostResults } as const;
  const [{ record }, results] = await Promise.all([
    readGroup(request),
    search === "" ? null : call("listPeople", { query: filters }),
  ]);
  const people = results?.map((person) => ({
    id: person.id,
    fullName: callName(person, request),
    about: aboutOf(person, request),
    isMember: person.groups.some(({ id }) => id === path.groupId),
  }));
  return makePage("addition", t("addition.title"), { group: record, search, people: people ?? null });
}

export async function addMembers({ call, at, typed }: PageRequest) {
  const chosen = (typed["person"] ?? []).slice(0, mostResults);
  for (const personId of chosen) await call("putMembership", { path: { personId }, body: {} });
  return { to: at(group), done: "membersAdded", count: chosen.length };
}

const lessons = [45, 60, 90, 120];

/** Whether the list of the class is open, and a form that opens it for a lesson. */
export async function showClassList(request: PageRequest): Promise<PageView> {
  const { call, find, t } = request;
  const [{ record }, settings, list] = await Promise.all([
    readGroup(request),
    find("getCardSettings"),
    call("getClassList"),
  ]);
  const isUsed = settings === null || (settings.enabled && settings.classLists);
  return makePage("class-list", t("classList.title"), { group: record, isUsed, endsAt: list.endsAt, lessons });
}

/** Opens the list and shows the code for the board, this once. */
export async function openClassList(request: PageRequest): Promise<PageView> {
  const { call, t } = request;
  const body = readForm(request, "createClassList", ["minutes"]);
  const [{ record }, opened] = await Promise.all([readGroup(request), call("createClassList", { body })]);
  const address = opened.url.replace(/^https?:\/\//, "");
  return makePage("class-code", t("classList.open", { name: record.name }), { ...opened, address, group: record });
}
