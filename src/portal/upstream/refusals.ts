import {
  makePage,
  exceptFor,
  callName,
  pickable,
  refuseField,
  type PageRequest,
  type Redirect,
} from "../frame/index.ts";
import { readConnection } from "./connection.ts";

/** The accounts that were not let in. `search` has people for one of them. */
export async function showRefusals(
  request: PageRequest,
  search: { refusalId: string; people: ReturnType<typeof pickable>[] } | null = null,
) {
  const { call, list, t, field, typed } = request;
  const { record } = await readConnection(request);
  const [page, guests] = await Promise.all([
    list("listUpstreamRefusals"),
    call("listUpstreamRefusals", { query: { limit: 100, code: "WAITS_FOR_STAFF" } }),
  ]);
  return makePage("refusals", t("refusals.title", { name: record.name }), {
    connection: record,
    refusals: page.items,
    guests,
    chosen: typed["guest"] ?? [],
    found: search,
    search: field("search"),
    more: page.more,
  });
}

/** Finds the people at home in the school whom the account may belong to. */
export async function searchPerson(request: PageRequest) {
  const { call, path, field } = request;
  const search = field("search");
  const query = { school: path.schoolId, search, limit: 10 };
  const results = search === "" ? [] : await call("listPeople", { query });
  const people = results.filter(({ isGuest }) => !isGuest).map((person) => pickable(person, request));
  return showRefusals(request, { refusalId: path.refusalId, people });
}

/** Accepts the chosen accounts as guests, all or none, or takes them off the list. */
export async function decideGuests({ call, base, typed, field }: PageRequest): Promise<Redirect> {
  const refusalIds = [...(typed["guest"] ?? [])];
  if (refusalIds.length === 0) throw refuseField("refusalIds", "guests_missing");
  if (field("act") === "accept") {
    await call("acceptUpstreamGuests", { body: { refusalIds } });
    return { to: base, done: "guestsAccepted" };
  }
  // A colleague may have been faster.
  for (const refusalId of refusalIds)
    await call("withdrawUpstreamRefusal", { path: { refusalId } }).catch(exceptFor("upstream_refusal_not_found"));
  return { to: base, done: "guestsDeclined" };
}

export async function showLinks(request: PageRequest) {
  const { list, t } = request;
  const { record } = await readConnection(request);
  const { items, more } = await list("listUpstreamLinks", { query: { limit: 100 } });
  return makePage("links", t("links.title", { name: record.name }), {
    links: items.map((link) => ({ ...link, shownName: callName(link, request) })),
    more,
  });
}
