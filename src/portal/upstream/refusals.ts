import {
  aboutOf,
  nameOf,
  postAndRedirect,
  Refused,
  refuseField,
  unwrap,
  unwrapPage,
  type PageRequest,
} from "../frame/index.ts";
import type { PageView, Redirect } from "../frame/index.ts";
import { connectionAddress, one, readConnection } from "./connection.ts";

const most = 50;
const mostGuests = 100;
const addressOf = (request: PageRequest): string => `${connectionAddress(request)}/refusals`;

/** The accounts that were not let in. `found` are people for one of them. */
async function show(request: PageRequest, found: { refusalId: string; people: Person[] } | null): Promise<PageView> {
  const { api, path, t, cursor, may } = request;
  const { record } = await readConnection(request);
  const list = (query: object) => unwrapPage(api.GET(`${one}/refusals`, { params: { path, query } }));
  const [page, guests] = await Promise.all([
    list({ limit: most, ...cursor }),
    list({ limit: mostGuests, code: "WAITS_FOR_STAFF" }),
  ]);
  const address = addressOf(request);
  const model = {
    address,
    back: connectionAddress(request),
    connection: record,
    refusals: page.items,
    guests: guests.items,
    chosen: request.typed["guest"] ?? [],
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
      about: aboutOf(person, request),
    }));
  return show(request, { refusalId: path.refusalId, people });
}

export const linkByHand = postAndRedirect("accountLinked", addressOf, ({ api, path, field }) =>
  api.POST(`${one}/refusals/{refusalId}/link`, { params: { path }, body: { personId: field("person") } }),
);

export const dismissRefusal = postAndRedirect("refusalDismissed", addressOf, ({ api, path }) =>
  api.DELETE(`${one}/refusals/{refusalId}`, { params: { path } }),
);

/** Accepts the chosen accounts as guests, all or none, or takes them off the list. */
export async function decideGuests(request: PageRequest): Promise<Redirect> {
  const { api, path, typed, field, idempotencyKey } = request;
  const refusalIds = [...(typed["guest"] ?? [])];
  if (refusalIds.length === 0) throw refuseField("refusalIds", "guests_missing");
  const to = addressOf(request);
  if (field("act") === "accept") {
    const params = { path, header: { "Idempotency-Key": idempotencyKey } };
    await unwrap(api.POST(`${one}/guests`, { params, body: { refusalIds } }));
    return { to, done: "guestsAccepted" };
  }
  for (const refusalId of refusalIds)
    await unwrap(api.DELETE(`${one}/refusals/{refusalId}`, { params: { path: { ...path, refusalId } } })).catch(
      (error: unknown) => {
        // A colleague was faster.
        if (!(error instanceof Refused) || error.code !== "upstream_refusal_not_found") throw error;
      },
    );
  return { to, done: "guestsDeclined" };
}
