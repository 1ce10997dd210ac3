import { listGroups, makeArea, nameActions, type Names, type PageRequest } from "../frame/index.ts";
import { handAuditCsv } from "./csv.ts";
import { describeLine, queryOf, readFilters } from "./describe-line.ts";

const audit = "/admin/schools/:schoolId/audit";

/** `/admin/schools/:schoolId/audit`: who did what to whom, before and after. */
export const auditPages = makeArea({ folder: import.meta.dirname, page: "audit" }, (pages) => {
  pages.get(audit, listLines);
  pages.get(`${audit}/file`, handAuditCsv);
});

/** Without the actions of partners and of the service, which concern no school. */
const actionsAtSchools = /^(?!(?:app|client|lost|sandbox|scope|scopes|secrets|signing|token|webhook)_|.*_extended$)/;

async function listLines(request: PageRequest) {
  const { call, list, me, t, at } = request;
  const address = at(audit);
  const filters = readFilters(request);
  const [{ items, more }, apps, groups] = await Promise.all([
    list("listAudit", { query: queryOf(request) }),
    call("listCatalogue", { query: { granted: true, limit: 100 } }),
    listGroups(request),
  ]);
  const names: Names = new Map([...groups, ...me.schools].map(({ id, name }) => [id, name]));
  const model = {
    address,
    filters,
    withFilter: (name: string, value: string) =>
      `${address}?${new URLSearchParams({ ...filters, [name]: value }).toString()}`,
    apps,
    actions: nameActions(actionsAtSchools, request),
    lines: items.map((line) => ({ ...line, ...describeLine(line, request, names) })),
    file: `${address}/file?${new URLSearchParams(filters).toString()}`,
    more: more(address),
  };
  return { title: t("frame.pages.audit"), view: "list", model };
}
