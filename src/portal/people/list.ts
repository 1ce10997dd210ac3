import type { AdminSchemas } from "../../admin/index.ts";
import { listGroups, onlyClasses, nameOf, unwrapPage } from "../frame/index.ts";
import type { PageRequest, PageView, Redirect } from "../frame/index.ts";
import { classesOf, stateOf } from "./presentation.ts";

type Status = AdminSchemas["PersonStatus"];

const pageSize = 50;
/** A filter of the page alone; as long as Today counts leavers. */
const justLeft = "JUST_LEFT";
const justLeftDays = 7;
const addressOf = (schoolId: string): string => `/admin/schools/${schoolId}/people`;

/** The filters in the address; "" if unset. */
type Filters = { q: string; group: string; status: string; role: string; "sign-in": string; sort: string };

const filterNames = ["group", "status", "role", "sign-in"] as const;
type Named = Pick<Filters, (typeof filterNames)[number]>;

/** The first one is the default. */
const orders = ["name", "-name", "lastSignIn", "-lastSignIn"] as const;
const readOrder = (text: string): string => orders.slice(1).find((one) => one === text) ?? "";

/** A sortable column; `href` sorts by it or reverses the order. */
type Column = { key: string; sorted: "ascending" | "descending" | null; href: string };

function listColumns(schoolId: string, filters: Filters): Column[] {
  const current = filters.sort === "" ? "name" : filters.sort;
  const column = (key: string, [first, second]: [string, string]): Column => ({
    key,
    sorted: current === key ? "ascending" : current === `-${key}` ? "descending" : null,
    href: withFilters(schoolId, { ...filters, sort: readOrder(current === first ? second : first) }),
  });
  return [column("name", ["name", "-name"]), column("lastSignIn", ["-lastSignIn", "lastSignIn"])];
}

const withFilters = (schoolId: string, filters: Filters, cursor = ""): string => {
  const filled = Object.entries({ ...filters, cursor }).filter(([, value]) => value !== "");
  return `${addressOf(schoolId)}${filled.length > 0 ? "?" : ""}${new URLSearchParams(filled).toString()}`;
};

/**
 * Redirects to the search, which the address holds encrypted for the reader; a search of another page (`from`) to the
 * person, if it finds one only.
 */
export async function searchPeople({ api, field, hide, param }: PageRequest): Promise<Redirect> {
  const [schoolId, search] = [param("schoolId"), field("search")];
  if (field("from") !== "" && search !== "") {
    const query = { school: schoolId, search, status: "ACTIVE" as const, limit: 2 };
    const [one, ...others] = (await unwrapPage(api.GET("/admin/v1/people", { params: { query } }))).items;
    if (one !== undefined && others.length === 0) return { to: `${addressOf(schoolId)}/${one.id}` };
  }
  const named = Object.fromEntries(filterNames.map((name) => [name, field(name)])) as Named;
  return { to: withFilters(schoolId, { q: hide(search), ...named, sort: readOrder(field("sort")) }) };
}

const queryOf = ({ group, status, role, "sign-in": signIn, sort }: Filters, search: string) => ({
  ...(search !== "" && { search }),
  ...(group !== "" && { group }),
  ...(status === justLeft && { status: "SOFT_DELETED" as const, "left-days": justLeftDays }),
  ...(status !== "ALL" && status !== justLeft && { status: (status || "ACTIVE") as Status }),
  ...(role !== "" && { role: role as AdminSchemas["SchoolRole"] }),
  ...(signIn !== "" && { "sign-in": signIn as AdminSchemas["SignInState"] }),
  ...(sort !== "" && { sort: sort.replace("-", "") as AdminSchemas["PeopleSort"] }),
  ...(sort.startsWith("-") && { order: "desc" as const }),
});

export async function listPeople(request: PageRequest): Promise<PageView> {
  const { api, t, param, query, reveal } = request;
  const schoolId = param("schoolId");
  const named = Object.fromEntries(filterNames.map((name) => [name, query(name)])) as Named;
  const filters = { q: query("q"), ...named, sort: readOrder(query("sort")) };
  const search = reveal(query("q"));
  const asked = { school: schoolId, limit: pageSize, ...queryOf(filters, search), ...request.cursor };
  const [{ items, next }, groups] = await Promise.all([
    unwrapPage(api.GET("/admin/v1/people", { params: { query: asked } })),
    listGroups(request),
  ]);
  const classes = onlyClasses(groups);
  const byId = new Map(classes.map((group) => [group.id, group]));
  const people = items.map((person) => ({
    ...person,
    fullName: nameOf(person, request),
    classes: classesOf(person, byId),
    state: stateOf(person),
  }));
  const more = next === null ? null : withFilters(schoolId, filters, next);
  const isFiltered = search !== "" || Object.values(named).some((value) => value !== "");
  const model = {
    schoolId,
    people,
    classes,
    filters,
    search,
    more,
    isFiltered,
    mayChange: request.may("createPerson"),
    mayHandOver: request.may("listHandovers"),
    columns: new Map(listColumns(schoolId, filters).map((one) => [one.key, one])),
  };
  return { title: t("frame.pages.people"), view: "people", model };
}
