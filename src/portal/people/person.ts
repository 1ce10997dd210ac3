import type { AdminSchemas } from "../../admin/index.ts";
import { listGroups, listLoginCards, nameOf, unwrapIfFound, unwrapPage } from "../frame/index.ts";
import type { PageRequest, PageView } from "../frame/index.ts";
import { addressOf, readPerson } from "./record.ts";
import { listMoments } from "./timeline.ts";
import { classesOf, handOverAddress, hasOtherSchools, stateOf } from "./presentation.ts";

type Line = AdminSchemas["AuditLine"];
type Login = AdminSchemas["Login"];

const mostLines = 50;

/** The newest audit lines about a person; none if the reader may not read them. */
async function listLines(request: PageRequest): Promise<Line[]> {
  const { api, param } = request;
  if (!request.may("listAudit")) return [];
  const query = { school: param("schoolId"), person: param("personId"), limit: mostLines };
  return (await unwrapPage(api.GET("/admin/v1/audit", { params: { query } }))).items;
}

type SignIn = { login: Login | null; factors: AdminSchemas["SecondFactor"][]; cards: AdminSchemas["LoginCard"][] };

/** For a guest, whose home school has the data. */
const nothing: SignIn = { login: null, factors: [], cards: [] };

async function readSignIn(request: PageRequest): Promise<SignIn> {
  const { api, path } = request;
  const params = { path };
  const [login, factors, cards] = await Promise.all([
    unwrapIfFound(api.GET("/admin/v1/people/{personId}/login", { params })),
    unwrapPage(api.GET("/admin/v1/people/{personId}/second-factors", { params })),
    listLoginCards(request),
  ]);
  return { login, factors: factors.items, cards };
}

export async function showPerson(request: PageRequest): Promise<PageView> {
  const { api, t, path } = request;
  const mayChange = request.may("updatePerson");
  const query = { limit: mostLines };
  const { record: person, tag } = await readPerson(request);
  const [groups, lines, imports, { login, factors, cards }] = await Promise.all([
    listGroups(request),
    listLines(request),
    unwrapPage(api.GET("/admin/v1/people/{personId}/imports", { params: { path, query } })),
    person.isGuest ? nothing : readSignIn(request),
  ]);
  const byId = new Map(groups.map((group) => [group.id, group]));
  const memberships = person.groups.filter(({ id, status }) => status === "ACTIVE" && byId.has(id));
  const isMember = new Set(memberships.map(({ id }) => id));
  const others = groups.filter(({ id }) => !isMember.has(id));
  const classIds = new Map([...byId].filter(([, { type }]) => type === "KLASSE"));
  const moments = listMoments({ person, lines, imports: imports.items, groups: byId, login, isMember }, request);
  const model = {
    schoolId: path.schoolId,
    base: addressOf(request),
    person,
    tag,
    login,
    memberships,
    others,
    moments,
    factors,
    cards,
    mayQuit: person.isGuest && mayChange,
    fullName: nameOf(person, request),
    state: stateOf(person),
    classes: classesOf(person, classIds),
    isClass: (id: string) => classIds.has(id),
    handOver: handOverAddress(request, person),
    manySchools: hasOtherSchools(request, person),
    mayChange,
    mayKeep: !person.isGuest && mayChange,
    mayAnswer: !person.isGuest && request.may("listDataRequests"),
    mayDelete: !person.isGuest && request.may("deletePerson"),
  };
  return { title: t("frame.difference.property.personId"), view: "person", model };
}
