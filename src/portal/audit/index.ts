import { handCsv, listGroups, makeArea, nameActions } from "../frame/index.ts";
import type { CsvRow, Download, Names, PageRequest } from "../frame/index.ts";
import { describeLine, type Line, queryOf, readFilters } from "./describe-line.ts";

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

const pageSize = 250;

const columns = ["at", "what", "action", "by", "role", "whom", "app", "before", "after", "requestId"] as const;

export const handAuditCsv = (request: PageRequest): Promise<Download> =>
  handCsv(request, {
    name: request.t("audit.fileName"),
    columns: columns.map((key) => ({ key, header: request.t(`audit.column.${key}`) })),
    async readPage(cursor) {
      const query = { ...queryOf(request), limit: pageSize, cursor };
      const { items, next } = await request.list("listAudit", { query });
      return { rows: items.map((line) => writeRow(line, request)), next };
    },
  });

function writeRow(line: Line, request: PageRequest): CsvRow {
  const { what, by, role, whom, through } = describeLine(line, request, new Map());
  return {
    at: line.at,
    what,
    action: line.action,
    by,
    role,
    whom,
    app: through,
    before: line.before === null ? "" : JSON.stringify(line.before),
    after: line.after === null ? "" : JSON.stringify(line.after),
    requestId: line.requestId ?? "",
  };
}
