import { unwrapPage, type PageView, type PageRequest } from "../frame/index.ts";
import { wordsOf } from "./grant-texts.ts";

const granted: Record<string, boolean> = { yes: true, no: false };

export async function listCatalogue(request: PageRequest): Promise<PageView> {
  const { api, query, path, t } = request;
  const [search, chosen] = [query("search"), query("granted")];
  const asked = {
    ...(search !== "" && { search }),
    ...(granted[chosen] !== undefined && { granted: granted[chosen] }),
    ...request.cursor,
  };
  const { items, more } = await unwrapPage(
    api.GET("/admin/v1/schools/{schoolId}/catalogue", { params: { path, query: { limit: 50, ...asked } } }),
  );
  const address = `/admin/schools/${path.schoolId}/apps`;
  const model = {
    address,
    search,
    chosen,
    apps: items,
    words: wordsOf(request),
    more: more(address, { search, granted: chosen }),
  };
  return { title: t("frame.pages.apps"), view: "catalogue", model };
}
