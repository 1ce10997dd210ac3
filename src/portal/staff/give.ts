import { targetOfRole, type AdminSchemas } from "../../admin/index.ts";
import {
  aboutOf,
  makeChoices,
  mostChoices,
  nameOf,
  readChosen,
  redirectToSearch,
  searchOf,
  unwrap,
  unwrapPage,
} from "../frame/index.ts";
import type { Choices, Redirect, PageView, PageRequest } from "../frame/index.ts";
import { staffOf, type RoleName } from "./staff-page.ts";

type NewStaffRole = AdminSchemas["StaffRoleInput"];

export const showNewRole = (request: PageRequest): Promise<PageView> =>
  request.query("person") === "" && request.field("person") === "" ? showSearch(request) : showForm(request);

export const findHolder = redirectToSearch((request) => `${staffOf(request).address}/new`);

async function showSearch(request: PageRequest): Promise<PageView> {
  const { api, query, reveal, t } = request;
  const { schoolId, address, page } = staffOf(request);
  const search = reveal(query("q"));
  const asked = { search, status: "ACTIVE" as const, limit: 20, ...(schoolId !== null && { school: schoolId }) };
  const found = search === "" ? null : await unwrapPage(api.GET("/admin/v1/people", { params: { query: asked } }));
  const people =
    found?.items.map((person) => ({ ...person, fullName: nameOf(person, request), about: aboutOf(person, request) })) ??
    null;
  const model = { address, search, people, isMore: found !== null && found.next !== null };
  return { title: t("give.title"), view: "search", model, page };
}

async function showForm(request: PageRequest): Promise<PageView> {
  const { api, field, query, t } = request;
  const { address, page, given } = staffOf(request);
  const personId = field("person") || query("person");
  const [person, choices] = await Promise.all([
    unwrap(api.GET("/admin/v1/people/{personId}", { params: { path: { personId } } })),
    findChoices(request),
  ]);
  const model = {
    address,
    formAddress: `${address}/new`,
    person,
    name: nameOf(person, request),
    about: aboutOf(person, request),
    given,
    ...choices,
  };
  return { title: t("give.title"), view: "give", model, page };
}

/** The schools or apps found for a role, and those chosen before. */
export async function findChoices(
  request: PageRequest,
): Promise<{ choices: Record<"school" | "app", Choices> | null }> {
  const { api } = request;
  if (staffOf(request).schoolId !== null) return { choices: null };
  const asked = (name: string) => {
    const search = searchOf(request, name);
    return { params: { query: { limit: mostChoices + 1, ...(search !== "" && { search }) } } };
  };
  const [schools, apps] = await Promise.all([
    unwrap(api.GET("/admin/v1/schools", asked("school"))),
    unwrap(api.GET("/admin/v1/apps", asked("app"))),
  ]);
  const ids = apps.map(({ clientId, name }) => ({ id: clientId, name }));
  const choose = (name: string, found: typeof ids) =>
    makeChoices(searchOf(request, name), found, readChosen(request, name));
  return { choices: { school: choose("school", schools), app: choose("app", ids) } };
}

export const isSearch = ({ field }: Pick<PageRequest, "field">): boolean => field("step") === "search";

export function readRole(request: PageRequest): Omit<NewStaffRole, "holder"> {
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
  const { api, field, idempotencyKey } = request;
  const { address } = staffOf(request);
  const body: NewStaffRole = { holder: { personId: field("person") }, ...readRole(request) };
  await unwrap(api.POST("/admin/v1/staff-roles", { params: { header: { "Idempotency-Key": idempotencyKey } }, body }));
  return { to: address, done: "roleGiven" };
}
