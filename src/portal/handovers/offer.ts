import type { AdminSchemas } from "../../admin/index.ts";
import { aboutOf, listGroups, nameOf, onlyClasses, unwrap } from "../frame/index.ts";
import type { PageRequest, PageView, Redirect } from "../frame/index.ts";
import { listAddress } from "./handover.ts";

const most = 200;

type Pupil = { id: string; name: string; about: string };

/** The pupils to choose from: one person, or the members of a class. */
async function listPupils(request: PageRequest): Promise<Pupil[]> {
  const { api, query, field, path } = request;
  const present = (person: AdminSchemas["AdminPerson"]) => ({
    id: person.id,
    name: nameOf(person, request),
    about: aboutOf(person, request),
  });
  const [personId, groupId] = [query("person") || field("of-person"), query("group") || field("of-group")];
  if (personId !== "") {
    const person = await unwrap(api.GET("/admin/v1/people/{personId}", { params: { path: { personId } } }));
    return [present(person)];
  }
  if (groupId === "") return [];
  const asked = { school: path.schoolId, group: groupId, status: "ACTIVE", role: "STUDENT", limit: most } as const;
  const found = await unwrap(api.GET("/admin/v1/people", { params: { query: asked } }));
  return found.filter(({ isGuest }) => !isGuest).map(present);
}

export async function showOffer(request: PageRequest): Promise<PageView> {
  const { api, path, query, field, typed, t } = request;
  const search = field("search");
  const asked = { params: { path, query: { search, limit: 20 } } };
  const [pupils, groups, schools] = await Promise.all([
    listPupils(request),
    listGroups(request),
    search.length < 2 ? null : unwrap(api.GET("/admin/v1/schools/{schoolId}/receiving-schools", asked)),
  ]);
  const model = {
    base: listAddress(request),
    ofPerson: query("person") || field("of-person"),
    ofGroup: query("group") || field("of-group"),
    pupils,
    isWhole: query("all") !== "",
    isChosen: (id: string) => typed["person"]?.includes(id) ?? (pupils.length === 1 || query("all") !== ""),
    classes: onlyClasses(groups),
    search,
    schools: schools?.filter(({ id }) => id !== path.schoolId) ?? null,
    school: field("school"),
  };
  return { title: t("offer.title"), view: "offer", model };
}

export async function offer(request: PageRequest): Promise<Redirect | PageView> {
  const { api, path, field, typed, idempotencyKey } = request;
  const [toSchoolId, personIds] = [field("school"), [...new Set(typed["person"] ?? [])]];
  if (field("step") === "search" || toSchoolId === "" || personIds.length === 0) return showOffer(request);
  const params = { path, header: { "Idempotency-Key": idempotencyKey } };
  const body = { toSchoolId, personIds };
  const made = await unwrap(api.POST("/admin/v1/schools/{schoolId}/handovers", { params, body }));
  return { to: `${listAddress(request)}/${made.id}`, done: "offered", count: made.offered };
}
