import { take, takePage, type Names, type Shown, type Visit } from "../frame/index.ts";
import { queryOf, readFilters } from "./filters.ts";
import { actions, describeLine } from "./words.ts";

export async function listLines(visit: Visit): Promise<Shown> {
  const { api, query, part, t } = visit;
  const schoolId = part("schoolId");
  const address = `/admin/schools/${schoolId}/audit`;
  const filters = readFilters(visit);
  const cursor = query("cursor");
  const asked = { ...queryOf(visit, filters), limit: 50, ...(cursor !== "" && { cursor }) };
  const [{ items, next }, apps, groups] = await Promise.all([
    takePage(api.GET("/admin/v1/audit", { params: { query: asked } })),
    take(
      api.GET("/admin/v1/schools/{schoolId}/catalogue", {
        params: { path: { schoolId }, query: { granted: true, limit: 100 } },
      }),
    ),
    take(api.GET("/admin/v1/groups", { params: { query: { school: schoolId, limit: 1000 } } })),
  ]);
  const names: Names = new Map(groups.map(({ id, name }) => [id, name]));
  const search = new URLSearchParams(filters).toString();
  const withFilter = (name: string, value: string) =>
    `${address}?${new URLSearchParams({ ...filters, [name]: value }).toString()}`;
  const actionWords = actions.map((action) => ({ action, words: t(`audit.action.${action}`) }));
  const model = {
    address,
    filters,
    withFilter,
    apps,
    actions: actionWords.sort((a, b) => a.words.localeCompare(b.words)),
    lines: items.map((line) => ({ ...line, ...describeLine(line, visit, names) })),
    file: `${address}/file?${search}`,
    more: next === null ? null : `${address}?${new URLSearchParams({ ...filters, cursor: next }).toString()}`,
  };
  return { title: t("audit.title"), view: "list", model };
}
