import { targetOfRole, type AdminSchemas } from "../../admin/index.ts";
import { makeChoices, mostChoices, readChosen, searchOf, take, takePage } from "../frame/index.ts";
import type { Choices, Gone, Shown, Visit } from "../frame/index.ts";
import { nameOf, staffOf, type RoleName } from "./place.ts";

type NewStaffRole = AdminSchemas["NewStaffRole"];

/** First the person is found, then the role is chosen. */
export const showNewRole = (visit: Visit): Promise<Shown> =>
  visit.query("person") === "" && visit.field("person") === "" ? showSearch(visit) : showForm(visit);

/** Finds people; what was searched for stands in the address so that only the reader can read it. */
export function findHolder(visit: Visit): Promise<Gone> {
  const search = new URLSearchParams({ q: visit.hide(visit.field("search")) });
  return Promise.resolve({ to: `${staffOf(visit).address}/new?${search.toString()}` });
}

async function showSearch(visit: Visit): Promise<Shown> {
  const { api, query, reveal, t } = visit;
  const { schoolId, address, page } = staffOf(visit);
  const search = reveal(query("q"));
  const asked = { search, status: "ACTIVE" as const, limit: 20, ...(schoolId !== null && { school: schoolId }) };
  const found = search === "" ? null : await takePage(api.GET("/admin/v1/people", { params: { query: asked } }));
  const people = found?.items.map((person) => ({ ...person, fullName: nameOf(person.name, visit) })) ?? null;
  const model = { address, search, people, isMore: found !== null && found.next !== null };
  return { title: t("give.title"), view: "search", model, page };
}

async function showForm(visit: Visit): Promise<Shown> {
  const { api, field, query, t } = visit;
  const { address, page, given } = staffOf(visit);
  const personId = field("person") || query("person");
  const [person, choices] = await Promise.all([
    take(api.GET("/admin/v1/people/{personId}", { params: { path: { personId } } })),
    findChoices(visit),
  ]);
  const model = { address, formAddress: `${address}/new`, person, name: nameOf(person.name, visit), given, ...choices };
  return { title: t("give.title"), view: "give", model, page };
}

/** What a role can be for: what is searched for, and what of it was chosen before. */
export async function findChoices(visit: Visit): Promise<{ choices: Record<"school" | "app", Choices> | null }> {
  const { api } = visit;
  if (staffOf(visit).schoolId !== null) return { choices: null };
  const asked = (name: string) => {
    const search = searchOf(visit, name);
    return { params: { query: { limit: mostChoices + 1, ...(search !== "" && { search }) } } };
  };
  const [schools, apps] = await Promise.all([
    take(api.GET("/admin/v1/schools", asked("school"))),
    take(api.GET("/admin/v1/apps", asked("app"))),
  ]);
  const ids = apps.map(({ clientId, name }) => ({ id: clientId, name }));
  const choose = (name: string, found: typeof ids) =>
    makeChoices(searchOf(visit, name), found, readChosen(visit, name));
  return { choices: { school: choose("school", schools), app: choose("app", ids) } };
}

/** Whether the form was sent to search in it, not to do what it is for. */
export const isSearch = ({ field }: Pick<Visit, "field">): boolean => field("step") === "search";

/** The role as it stands in the form. */
export function readRole(visit: Visit): Omit<NewStaffRole, "holder"> {
  const { field, times } = visit;
  const { schoolId } = staffOf(visit);
  const [role, reason] = [field("role") as RoleName, field("reason")];
  const endsAt = times.startOf(field("endsOn"), 1);
  const schoolIds = schoolId === null ? readChosen(visit, "school") : [schoolId];
  const clientIds = readChosen(visit, "app");
  return {
    role,
    ...(targetOfRole(role) === "schools" && schoolIds.length > 0 && { schoolIds }),
    ...(targetOfRole(role) === "apps" && clientIds.length > 0 && { clientIds }),
    ...(reason !== "" && { reason }),
    ...(endsAt !== null && { endsAt }),
  };
}

export async function giveRole(visit: Visit): Promise<Gone | Shown> {
  if (isSearch(visit)) return showForm(visit);
  const { api, field, once } = visit;
  const { address } = staffOf(visit);
  const body: NewStaffRole = { holder: { personId: field("person") }, ...readRole(visit) };
  await take(api.POST("/admin/v1/staff-roles", { params: { header: { "Idempotency-Key": once } }, body }));
  return { to: address, done: "roleGiven" };
}
