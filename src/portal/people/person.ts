import type { AdminSchemas } from "../../admin/index.ts";
import { makePage, describeDisclosures, listGroups, listLoginCards, callName, requireFields } from "../frame/index.ts";
import type { PageRequest, PageView, Redirect } from "../frame/index.ts";
import { classesOf, handOverAddress, hasOtherSchools, person, readPerson, stateOf } from "./record.ts";
import { listMoments } from "./timeline.ts";

const mostLines = 50;
const mostUses = 100;
const mostDisclosures = 1000;

type SignIn = {
  login: AdminSchemas["Login"] | null;
  factors: AdminSchemas["SecondFactor"][];
  cards: AdminSchemas["LoginCard"][];
};

/** For a guest, whose home school has the data. */
const nothing: SignIn = { login: null, factors: [], cards: [] };

async function readSignIn(request: PageRequest): Promise<SignIn> {
  const { call, find } = request;
  const [login, factors, cards] = await Promise.all([
    find("getLogin"),
    call("listSecondFactors"),
    listLoginCards(request),
  ]);
  return { login, factors, cards };
}

export async function showPerson(request: PageRequest): Promise<PageView> {
  const { call, may, t, path } = request;
  const mayChange = may("updatePerson");
  const { record, tag } = await readPerson(request);
  const ofPerson = { school: path.schoolId, person: path.personId, limit: mostLines };
  const [groups, lines, imports, { login, factors, cards }] = await Promise.all([
    listGroups(request),
    may("listAudit") ? call("listAudit", { query: ofPerson }) : [],
    call("listPersonImports", { query: { limit: mostLines } }),
    record.isGuest ? nothing : readSignIn(request),
  ]);
  const byId = new Map(groups.map((group) => [group.id, group]));
  const memberships = record.groups.filter(({ id, status }) => status === "ACTIVE" && byId.has(id));
  const isMember = new Set(memberships.map(({ id }) => id));
  const classIds = new Set(groups.filter(({ type }) => type === "KLASSE").map(({ id }) => id));
  return makePage("person", t("frame.difference.property.personId"), {
    person: record,
    tag,
    login,
    memberships,
    others: groups.filter(({ id }) => !isMember.has(id)),
    moments: listMoments({ person: record, lines, imports, groups: byId, login, isMember }, request),
    factors,
    cards,
    mayQuit: record.isGuest && mayChange,
    fullName: callName(record, request),
    state: stateOf(record),
    classes: classesOf(record, classIds),
    isClass: (id: string) => classIds.has(id),
    handOver: handOverAddress(request, record),
    manySchools: hasOtherSchools(request, record),
    mayChange,
    mayKeep: !record.isGuest && mayChange,
    mayAnswer: !record.isGuest && may("listDataRequests"),
    mayDelete: !record.isGuest && may("deletePerson"),
  });
}

/** Adds the person to a group and removes them from the group that it replaces. */
export async function joinGroup(request: PageRequest): Promise<Redirect> {
  const { call, at, field } = request;
  requireFields(request, "group");
  const [groupId, from] = [field("group"), field("from")];
  await call("putMembership", { path: { groupId }, body: {} });
  if (from !== "" && from !== groupId) await call("deleteMembership", { path: { groupId: from } });
  return { to: at(person), done: "groupJoined" };
}

/** The person's name; a class teacher reads it from the members of the class. */
async function findName(request: PageRequest): Promise<string> {
  const { call, find, may, path, field } = request;
  const named = may("getPerson")
    ? await find("getPerson")
    : (await call("listMembers", { path: { groupId: field("class") }, query: { limit: 1000 } })).find(
        ({ id }) => id === path.personId,
      );
  return named ? callName(named, request) : "";
}

async function showPassword(request: PageRequest, secret: AdminSchemas["LoginSecret"]): Promise<PageView> {
  const { t, at, field } = request;
  const group = field("class");
  const back = group === "" ? at(person) : `${at("/admin/schools/:schoolId/classes")}/${encodeURIComponent(group)}`;
  return makePage(
    "password",
    t("words.newPassword"),
    { secret, fullName: await findName(request), back },
    { page: group === "" ? "people" : "classes" },
  );
}

export const givePassword = async (request: PageRequest): Promise<PageView> =>
  showPassword(request, await request.call("newPassword"));

export const setLogin = async (request: PageRequest): Promise<PageView> =>
  showPassword(request, await request.call("setLogin", { body: { username: request.field("username") } }));

/** When and why a person is deleted, and until when staff keep them. */
export async function showRetention(request: PageRequest): Promise<PageView> {
  const { getRecord, at, t } = request;
  const [{ record }, { record: retention, tag }] = await Promise.all([
    readPerson(request),
    getRecord("getPersonRetention"),
  ]);
  const named = { base: at(person), fullName: callName(record, request) };
  return makePage("retention", t("frame.pages.operator_retention"), { ...named, retention, tag });
}

export async function showDisclosures(request: PageRequest): Promise<PageView> {
  const { call, at, t, times } = request;
  const { record } = await readPerson(request);
  const disclosures = await call("listDisclosuresOfPerson", { query: { limit: mostDisclosures } });
  return makePage("disclosures", t("disclosures.title"), {
    base: at(person),
    fullName: callName(record, request),
    recordedSince: disclosures[0]?.recordedSince ?? null,
    apps: describeDisclosures(disclosures, { t, times }),
  });
}

export async function showUses(request: PageRequest): Promise<PageView> {
  const { call, at, t } = request;
  const query = { limit: mostUses };
  const { record } = await readPerson(request);
  const [apps, sessions, consents, links] = await Promise.all([
    call("listAppsOfPerson"),
    record.isGuest ? [] : call("listSessions", { query }),
    record.isGuest ? [] : call("listConsents", { query }),
    record.isGuest ? [] : call("listUpstreamLinksOfPerson", { query }),
  ]);
  return makePage("uses", t("words.sessions"), {
    base: at(person),
    fullName: callName(record, request),
    apps,
    sessions,
    consents,
    links,
    isGuest: record.isGuest,
  });
}
