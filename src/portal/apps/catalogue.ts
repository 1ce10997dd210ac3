import { takePage, type Shown, type Visit } from "../frame/index.ts";
import { wordsOf } from "./words.ts";

const granted: Record<string, boolean> = { yes: true, no: false };

export async function listCatalogue(visit: Visit): Promise<Shown> {
  const { api, query, part, t } = visit;
  const schoolId = part("schoolId");
  const [search, chosen, cursor] = [query("search"), query("granted"), query("cursor")];
  const asked = {
    ...(search !== "" && { search }),
    ...(granted[chosen] !== undefined && { granted: granted[chosen] }),
    ...(cursor !== "" && { cursor }),
  };
  const { items, next } = await takePage(
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
    words: wordsOf(visit),
    more: following && `${address}?${following.toString()}`,
  };
  return { title: t("apps.title"), view: "catalogue", model };
}
