import { targetOfRole, type AdminSchemas } from "../../admin/index.ts";
import { aboutOf, makeChoices, mostChoices, nameOf, pickable, readChosen, searchOf } from "../frame/index.ts";
import type { Choices, Redirect, PageView, PageRequest } from "../frame/index.ts";

type RoleName = AdminSchemas["StaffRoleName"];

/** The staff of one school, or of the whole service. */
type Staff = {
  schoolId: string | null;
  address: string;
  page: NonNullable<PageView["page"]>;
  given: readonly RoleName[];
};

export function staffOf({ permissions, param }: PageRequest): Staff {
  const schoolId = param("schoolId") || null;
  const given = permissions.rolesToGive(schoolId);
  if (schoolId === null) return { schoolId, address: "/admin/staff", page: "operator_staff", given };
  return { schoolId, address: `/admin/schools/${schoolId}/staff`, page: "staff", given };
}

export const showNewRole = (request: PageRequest): Promise<PageView> =>
  request.query("person") === "" && request.field("person") === "" ? showSearch(request) : showForm(request);

async function showSearch(request: PageRequest): Promise<PageView> {
  const { list, query, reveal, t } = request;
  const { schoolId, address, page } = staffOf(request);
  const search = reveal(query("q"));
  const filters = { search, status: "ACTIVE", limit: 20, school: schoolId } as const;
  const results = search === "" ? null : await list("listPeople", { query: filters });
  const people =
    results?.items.map((person) => ({ ...person, ...pickable(person, request), fullName: nameOf(person, request) })) ??
    null;
  const model = { address, search, people, isMore: results !== null && results.next !== null };
  return { title: t("give.title"), view: "search", model, page };
}

async function showForm(request: PageRequest): Promise<PageView> {
  const { call, field, query, t } = request;
  const { address, page, given } = staffOf(request);
  const personId = field("person") || query("person");
  const [person, choices] = await Promise.all([call("getPerson", { path: { personId } }), findChoices(request)]);
  const names = { name: nameOf(person, request), about: aboutOf(person, request) };
  const model = { address, formAddress: `${address}/new`, person, ...names, given, ...choices };
  return { title: t("give.title"), view: "give", model, page };
}

/** The schools or apps found for a role, and those chosen before. */
export async function findChoices(
  request: PageRequest,
): Promise<{ choices: Record<"school" | "app", Choices> | null }> {
  const { call } = request;
  if (staffOf(request).schoolId !== null) return { choices: null };
  const filters = (name: string) => ({ query: { limit: mostChoices + 1, search: searchOf(request, name) } });
  const [schools, apps] = await Promise.all([call("listSchools", filters("school")), call("listApps", filters("app"))]);
  const choose = (name: string, results: { id: string; name: string }[]) =>
    makeChoices(searchOf(request, name), results, readChosen(request, name));
  const named = apps.map(({ clientId, name }) => ({ id: clientId, name }));
  return { choices: { school: choose("school", schools), app: choose("app", named) } };
}

export const isSearch = ({ field }: Pick<PageRequest, "field">): boolean => field("step") === "search";

export function readRole(request: PageRequest): Omit<AdminSchemas["StaffRoleInput"], "holder"> {
  const { field, times } = request;
  const { schoolId } = staffOf(request);
  const [role, reason] = [field("role") as RoleName, field("reason")];
  const endsAt = times.startOf(field("endsOn"), 1);
  const schoolIds = schoolId === null ? readChosen(request, "school") : [schoolId];
  const clientIds = readChosen(request, "app");
  return {
    role,
    ...(targetOfRole(role) === "schools" && schoolIds.length > 0 && { schoolIds }),
    ...(targetOfRole(role) === "apps" && clientIds.length > 0 && { clientIds }),
    ...(reason !== "" && { reason }),
    ...(endsAt !== null && { endsAt }),
  };
}

export async function giveRole(request: PageRequest): Promise<Redirect | PageView> {
  if (isSearch(request)) return showForm(request);
  const body = { holder: { personId: request.field("person") }, ...readRole(request) };
  await request.call("giveStaffRole", { body });
  return { to: staffOf(request).address, done: "roleGiven" };
}
