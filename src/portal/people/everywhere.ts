import { aboutOf, nameOf, redirectToSearch, unwrapPage, type PageRequest, type PageView } from "../frame/index.ts";
import { stateOf } from "./presentation.ts";

const address = "/admin/people";

export const searchEverywhere = redirectToSearch(() => address);

/** Finds people at all schools of the reader. Only sent searches are asked for, because each is recorded. */
export async function showEverywhere(request: PageRequest): Promise<PageView> {
  const { api, query, reveal, cursor, t } = request;
  const search = reveal(query("q"));
  const asked = { search, limit: 50, ...cursor };
  const { items, more } =
    search === ""
      ? { items: [], more: null }
      : await unwrapPage(api.GET("/admin/v1/people", { params: { query: asked } }));
  const people = items.map((person) => {
    const school = person.homeSchool ?? person.schools[0] ?? null;
    const href = school && `/admin/schools/${school.id}/people/${person.id}`;
    return {
      ...person,
      fullName: nameOf(person, request),
      about: aboutOf(person, request),
      school,
      href,
      state: stateOf(person),
    };
  });
  const model = { people, search, more: more?.(address, { q: query("q") }) ?? null };
  return { title: t("everywhere.title"), view: "everywhere", model, page: "operator_people" };
}
