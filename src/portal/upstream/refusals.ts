import { nameOf, postAndRedirect, unwrapPage, type PageRequest, type PageView } from "../frame/index.ts";
import { connectionAddress, one, readConnection } from "./connection.ts";

const most = 50;
const addressOf = (request: PageRequest): string => `${connectionAddress(request)}/refusals`;

/** The accounts that were not let in. `found` are people for one of them. */
async function show(request: PageRequest, found: { refusalId: string; people: Person[] } | null): Promise<PageView> {
  const { api, path, t, cursor, may } = request;
  const { record } = await readConnection(request);
  const page = await unwrapPage(api.GET(`${one}/refusals`, { params: { path, query: { limit: most, ...cursor } } }));
  const address = addressOf(request);
  const model = {
    address,
    back: connectionAddress(request),
    connection: record,
    refusals: page.items,
    found,
    search: request.field("search"),
    more: page.more(address),
    mayChange: may("setUpstreamLink"),
  };
  return { title: t("refusals.title", { name: record.name }), view: "refusals", model };
}

export const showRefusals = (request: PageRequest): Promise<PageView> => show(request, null);

type Person = { id: string; name: string; about: string };

/** Finds the people at home in the school whom the account may belong to. */
export async function searchPerson(request: PageRequest): Promise<PageView> {
  const { api, path, field } = request;
  const search = field("search");
  const query = { school: path.schoolId, search, limit: 10 };
  const { items } =
    search === "" ? { items: [] } : await unwrapPage(api.GET("/admin/v1/people", { params: { query } }));
  const people = items
    .filter(({ isGuest }) => !isGuest)
    .map((person) => ({
      id: person.id,
      name: nameOf(person, request),
      about: [person.username, person.sourceSystemIdentifier].filter(Boolean).join(", "),
    }));
  return show(request, { refusalId: path.refusalId, people });
}

export const linkByHand = postAndRedirect("accountLinked", addressOf, ({ api, path, field }) =>
  api.POST(`${one}/refusals/{refusalId}/link`, { params: { path }, body: { personId: field("person") } }),
);

export const dismissRefusal = postAndRedirect("refusalDismissed", addressOf, ({ api, path }) =>
  api.DELETE(`${one}/refusals/{refusalId}`, { params: { path } }),
);
