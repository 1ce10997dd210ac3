import { auditActions } from "../../admin/index.ts";
import { describeAction, listGroups, unwrap, unwrapPage } from "../frame/index.ts";
import type { Names, PageView, PageRequest } from "../frame/index.ts";
import { queryOf, readFilters } from "./filters.ts";
import { describeLine } from "./describe-line.ts";

/** Without the actions of partners and of the service, which concern no school. */
const actionsAtSchools = auditActions.filter(
  (action) => !/^(app|client|lost|sandbox|scope|scopes|secrets|signing|token|webhook)_|_extended$/.test(action),
);

export async function listLines(request: PageRequest): Promise<PageView> {
  const { api, me, path, t, locale } = request;
  const { schoolId } = path;
  const address = `/admin/schools/${schoolId}/audit`;
  const filters = readFilters(request);
  const asked = { ...queryOf(request, filters), limit: 50, ...request.cursor };
  const [{ items, more }, apps, groups] = await Promise.all([
    unwrapPage(api.GET("/admin/v1/audit", { params: { query: asked } })),
    unwrap(
      api.GET("/admin/v1/schools/{schoolId}/catalogue", { params: { path, query: { granted: true, limit: 100 } } }),
    ),
    listGroups(request),
  ]);
  const names: Names = new Map([...groups, ...me.schools].map(({ id, name }) => [id, name]));
  const search = new URLSearchParams(filters).toString();
  const withFilter = (name: string, value: string) =>
    `${address}?${new URLSearchParams({ ...filters, [name]: value }).toString()}`;
  const actions = actionsAtSchools.map((id) => ({ id, name: describeAction(id, t) }));
  const model = {
    address,
    filters,
    withFilter,
    apps,
    actions: actions.sort((a, b) => a.name.localeCompare(b.name, locale)),
    lines: items.map((line) => ({ ...line, ...describeLine(line, request, names) })),
    file: `${address}/file?${search}`,
    more: more(address, filters),
  };
  return { title: t("frame.pages.audit"), view: "list", model };
}
