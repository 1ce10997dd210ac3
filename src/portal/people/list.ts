import type { AdminSchemas } from "../../admin/index.ts";
import {
  makePage,
  aboutOf,
  listGroups,
  callName,
  onlyClasses,
  readForm,
  type PageRequest,
  type Redirect,
} from "../frame/index.ts";
import { classesOf, people, stateOf } from "./record.ts";

/** A filter of the page alone; as long as Today counts leavers. */
const justLeft = "JUST_LEFT";
const justLeftDays = 7;

const filterNames = ["group", "status", "role", "sign-in"] as const;
/** The filters in the address; "" if unset. */
type Filters = Record<"q" | (typeof filterNames)[number] | "sort", string>;

/** The first one is the default. */
const orders = ["name", "-name", "lastSignIn", "-lastSignIn"] as const;
const readOrder = (text: string): string => orders.slice(1).find((one) => one === text) ?? "";

const readFilters = (read: (name: string) => string, q: string): Filters => ({
  q,
  group: read("group"),
  status: read("status"),
  role: read("role"),
  "sign-in": read("sign-in"),
  sort: readOrder(read("sort")),
});

/** A sortable column; `href` sorts by it or reverses the order. */
type Column = { key: string; sorted: "ascending" | "descending" | null; href: string };

function listColumns(address: string, filters: Filters): Column[] {
  const current = filters.sort === "" ? "name" : filters.sort;
  const column = (key: string, [first, second]: [string, string]): Column => ({
    key,
    sorted: current === key ? "ascending" : current === `-${key}` ? "descending" : null,
    href: withFilters(address, { ...filters, sort: readOrder(current === first ? second : first) }),
  });
  return [column("name", ["name", "-name"]), column("lastSignIn", ["-lastSignIn", "lastSignIn"])];
}

const withFilters = (address: string, filters: Record<string, string>): string => {
  const filled = Object.entries(filters).filter(([, value]) => value !== "");
  return `${address}${filled.length > 0 ? "?" : ""}${new URLSearchParams(filled).toString()}`;
};

/** Redirects to the encrypted search; a search of another page (`from`) to the person, if it finds only one. */
export async function searchPeople({ call, at, field, hide, path }: PageRequest): Promise<Redirect> {
  const search = field("search");
  if (field("from") !== "" && search !== "") {
    const query = { school: path.schoolId, search, status: "ACTIVE", limit: 2 } as const;
    const [one, ...others] = await call("listPeople", { query });
    if (one !== undefined && others.length === 0) return { to: `${at(people)}/${one.id}` };
  }
  return { to: withFilters(at(people), readFilters(field, hide(search))) };
}

const queryOf = ({ group, status, role, "sign-in": signIn, sort }: Filters) => ({
  group,
  ...(status === justLeft && { status: "SOFT_DELETED" as const, "left-days": justLeftDays }),
  ...(status !== "ALL" && status !== justLeft && { status: (status || "ACTIVE") as AdminSchemas["PersonStatus"] }),
  role: role as AdminSchemas["SchoolRole"],
  "sign-in": signIn as AdminSchemas["SignInState"],
  sort: sort.replace("-", "") as AdminSchemas["PeopleSort"],
  ...(sort.startsWith("-") && { order: "desc" as const }),
});

export async function listPeople(request: PageRequest) {
  const { list, at, t, path, query, reveal } = request;
  const filters = readFilters(query, query("q"));
  const search = reveal(filters.q);
  const [{ items, next }, groups] = await Promise.all([
    list("listPeople", { query: { school: path.schoolId, search, ...queryOf(filters) } }),
    listGroups(request),
  ]);
  const classes = onlyClasses(groups);
  const classIds = new Set(classes.map(({ id }) => id));
  return makePage("people", t("frame.pages.people"), {
    people: items.map((person) => ({
      ...person,
      fullName: callName(person, request),
      classes: classesOf(person, classIds),
      state: stateOf(person),
    })),
    classes,
    filters,
    search,
    more: next && withFilters(at(people), { ...filters, cursor: next }),
    isFiltered: search !== "" || filterNames.some((name) => filters[name] !== ""),
    columns: new Map(listColumns(at(people), filters).map((one) => [one.key, one])),
  });
}

/** Finds people at all schools of the reader. Only sent searches are asked for, because each is recorded. */
export async function showEverywhere(request: PageRequest) {
  const { list, query, reveal, t } = request;
  const search = reveal(query("q"));
  const results = search === "" ? null : await list("listPeople", { query: { search } });
  const matches = results?.items.map((person) => {
    const school = person.homeSchool ?? person.schools[0] ?? null;
    return {
      ...person,
      fullName: callName(person, request),
      about: aboutOf(person, request),
      school,
      href: school && `/admin/schools/${school.id}/people/${person.id}`,
      state: stateOf(person),
    };
  });
  return makePage("everywhere", t("everywhere.title"), { people: matches ?? [], search, more: results?.more ?? null });
}

export async function showNewPerson(request: PageRequest) {
  return makePage("new", request.t("people.add"), { classes: onlyClasses(await listGroups(request)) });
}

/** All first names default to the preferred first name. */
const readName = ({ field }: PageRequest): NonNullable<AdminSchemas["PersonInput"]["name"]> => {
  const firstCall = field("firstCall");
  return { firstCall, firstFull: field("firstFull") || firstCall, last: field("last") };
};

export const readDetails = (request: PageRequest) => ({
  ...readForm(request, "updatePerson", ["role", ["sourceId", "sourceSystemIdentifier"]]),
  name: readName(request),
});

export async function addPerson(request: PageRequest): Promise<Redirect> {
  const { call, at, field, path } = request;
  const [group, source] = [field("group"), field("sourceId")];
  const made = await call("createPerson", {
    body: {
      schoolIds: [path.schoolId],
      role: field("role") as AdminSchemas["SchoolRole"],
      name: readName(request),
      ...(group !== "" && { groupIds: [group] }),
      ...(source !== "" && { sourceSystemIdentifier: source }),
    },
  });
  return { to: `${at(people)}/${"id" in made ? made.id : ""}`, done: "personAdded" };
}
