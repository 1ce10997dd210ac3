import { unwrapPage, type PageView, type PageRequest } from "../frame/index.ts";
import { wordsOf } from "./grant-texts.ts";

const granted: Record<string, boolean> = { yes: true, no: false };

export async function listCatalogue(request: PageRequest): Promise<PageView> {
  const { api, query, param, t } = request;
  const schoolId = param("schoolId");
  const [search, chosen, cursor] = [query("search"), query("granted"), query("cursor")];
  const asked = {
    ...(search !== "" && { search }),
    ...(granted[chosen] !== undefined && { granted: granted[chosen] }),
    ...(cursor !== "" && { cursor }),
  };
  const { items, next } = await unwrapPage(
    api.GET("/admin/v1/schools/{schoolId}/catalogue", {
      params: { path: { schoolId }, query: { limit: 50, ...asked } },
    }),
  );
  const address = `/admin/schools/${schoolId}/apps`;
  const following = next === null ? null : new URLSearchParams({ search, granted: chosen, cursor: next });
  const model = {
    address,
    search,
    chosen,
    apps: items,
    words: wordsOf(request),
    more: following && `${address}?${following.toString()}`,
  };
  return { title: t("apps.title"), view: "catalogue", model };
}
