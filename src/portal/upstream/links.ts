import { nameOf, postAndRedirect, unwrapPage, type PageRequest, type PageView } from "../frame/index.ts";
import { connectionAddress, one, readConnection } from "./connection.ts";

const most = 100;
const addressOf = (request: PageRequest): string => `${connectionAddress(request)}/links`;

/** The accounts at the provider and their people. */
export async function showLinks(request: PageRequest): Promise<PageView> {
  const { api, path, t, cursor, may } = request;
  const { record } = await readConnection(request);
  const page = await unwrapPage(api.GET(`${one}/links`, { params: { path, query: { limit: most, ...cursor } } }));
  const address = addressOf(request);
  const model = {
    address,
    back: connectionAddress(request),
    people: `/admin/schools/${path.schoolId}/people`,
    links: page.items.map((link) => ({ ...link, shownName: nameOf(link, request) })),
    more: page.more(address),
    mayChange: may("revokeUpstreamLink"),
  };
  return { title: t("links.title", { name: record.name }), view: "links", model };
}

export const unlink = postAndRedirect("accountUnlinked", addressOf, ({ api, path }) =>
  api.DELETE("/admin/v1/people/{personId}/upstream-links/{connectionId}", { params: { path } }),
);
