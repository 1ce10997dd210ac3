import type { AdminSchemas } from "../../admin/index.ts";
import { take, takePage, type Gone, type Shown, type Visit } from "../frame/index.ts";
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
  const { schoolId, address, place } = staffOf(visit);
  const search = reveal(query("q"));
  const asked = { search, status: "ACTIVE" as const, limit: 20, ...(schoolId !== null && { school: schoolId }) };
  const found = search === "" ? null : await takePage(api.GET("/admin/v1/people", { params: { query: asked } }));
  const people = found?.items.map((person) => ({ ...person, fullName: nameOf(person.name, visit) })) ?? null;
  const model = { address, search, people, isMore: found !== null && found.next !== null };
  return { title: t("give.title"), view: "search", model, place };
}

async function showForm(visit: Visit): Promise<Shown> {
  const { api, field, query, t } = visit;
  const { address, place, given } = staffOf(visit);
  const personId = field("person") || query("person");
  const [person, choices] = await Promise.all([
    take(api.GET("/admin/v1/people/{personId}", { params: { path: { personId } } })),
    findChoices(visit),
  ]);
  const model = { address, person, name: nameOf(person.name, visit), given, ...choices };
  return { title: t("give.title"), view: "give", model, place };
}

/** What a role can be for, and what of it was chosen before. */
export async function findChoices(visit: Visit) {
  const { api, typed } = visit;
  const { schoolId } = staffOf(visit);
  const limit = 1000;
  const [schools, apps] = await Promise.all([
    schoolId === null ? take(api.GET("/admin/v1/schools", { params: { query: { limit } } })) : [],
    schoolId === null ? take(api.GET("/admin/v1/apps", { params: { query: { limit } } })) : [],
  ]);
  return { schools, apps, chosen: { schools: typed["school"] ?? [], apps: typed["app"] ?? [] } };
}

/** The role as it stands in the form. */
export function readRole(visit: Visit): Omit<NewStaffRole, "holder"> {
  const { field, times, typed } = visit;
  const { schoolId } = staffOf(visit);
  const [role, reason] = [field("role") as RoleName, field("reason")];
  const endsAt = times.startOf(field("endsOn"), 1);
  const schoolIds = schoolId === null ? [...(typed["school"] ?? [])] : [schoolId];
  const clientIds = [...(typed["app"] ?? [])];
  return {
    role,
    ...(role !== "OPERATOR" && role !== "PARTNER" && schoolIds.length > 0 && { schoolIds }),
    ...(role === "PARTNER" && clientIds.length > 0 && { clientIds }),
    ...(reason !== "" && { reason }),
    ...(endsAt !== null && { endsAt }),
  };
}

export async function giveRole(visit: Visit): Promise<Gone> {
  const { api, field, once } = visit;
  const { address } = staffOf(visit);
  const body: NewStaffRole = { holder: { personId: field("person") }, ...readRole(visit) };
  await take(api.POST("/admin/v1/staff-roles", { params: { header: { "Idempotency-Key": once } }, body }));
  return { to: address, done: "roleGiven" };
}
