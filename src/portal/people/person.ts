import type { AdminSchemas } from "../../admin/index.ts";
import { listLoginCards, takeIfThere, takePage, type Shown, type Visit } from "../frame/index.ts";
import { listGroups } from "./groups.ts";
import { addressOf, pathOf, readPerson } from "./record.ts";
import { listMoments } from "./timeline.ts";
import { classesOf, hasOtherSchools, nameOf, stateOf } from "./words.ts";

type Line = AdminSchemas["AuditLine"];
type Login = AdminSchemas["Login"];

const mostLines = 50;

/** The newest lines of the audit log about a person; none for a role that does not read it. */
async function listLines(visit: Visit): Promise<Line[]> {
  const { api, part } = visit;
  if (!visit.may("listAudit")) return [];
  const query = { school: part("schoolId"), person: part("personId"), limit: mostLines };
  return (await takePage(api.GET("/admin/v1/audit", { params: { query } }))).items;
}

type SignIn = { login: Login | null; factors: AdminSchemas["SecondFactor"][]; cards: AdminSchemas["LoginCard"][] };

/** Of a guest, whose home school keeps it. */
const nothing: SignIn = { login: null, factors: [], cards: [] };

async function readSignIn(visit: Visit): Promise<SignIn> {
  const { api, part } = visit;
  const params = { path: pathOf(visit) };
  const [login, factors, cards] = await Promise.all([
    takeIfThere(api.GET("/admin/v1/people/{personId}/login", { params })),
    takePage(api.GET("/admin/v1/people/{personId}/second-factors", { params })),
    listLoginCards(visit, part("personId")),
  ]);
  return { login, factors: factors.items, cards };
}

/** All about one person, with what may be done. */
export async function showPerson(visit: Visit): Promise<Shown> {
  const { api, t, part, typed, field } = visit;
  const mayChange = visit.may("updatePerson");
  const query = { limit: mostLines };
  const { record: person, tag } = await readPerson(visit);
  const [groups, lines, imports, { login, factors, cards }] = await Promise.all([
    listGroups(visit),
    listLines(visit),
    takePage(api.GET("/admin/v1/people/{personId}/imports", { params: { path: pathOf(visit), query } })),
    person.isGuest ? nothing : readSignIn(visit),
  ]);
  const byId = new Map(groups.map((group) => [group.id, group]));
  const memberships = person.groups.filter(({ id, status }) => status === "ACTIVE" && byId.has(id));
  const isMember = new Set(memberships.map(({ id }) => id));
  const others = groups.filter(({ id }) => !isMember.has(id));
  const classIds = new Map([...byId].filter(([, { type }]) => type === "KLASSE"));
  const moments = listMoments({ person, lines, imports: imports.items, groups: byId, login, isMember }, visit);
  const model = {
    schoolId: part("schoolId"),
    base: addressOf(visit),
    person,
    tag,
    login,
    memberships,
    others,
    moments,
    factors,
    cards,
    mayQuit: person.isGuest && mayChange,
    fullName: nameOf(person, visit),
    state: stateOf(person),
    classes: classesOf(person, classIds),
    isClass: (id: string) => classIds.has(id),
    manySchools: hasOtherSchools(visit, person),
    mayChange,
    mayKeep: !person.isGuest && mayChange,
    mayDelete: !person.isGuest && visit.may("deletePerson"),
    /** What was typed into a form that was refused, else what there is. */
    fill: (name: string, value: string) => (typed[name] === undefined ? value : field(name)),
  };
  return { title: t("person.title"), view: "person", model };
}
