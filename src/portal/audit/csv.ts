import { handCsv, type CsvRow, type Download, type PageRequest } from "../frame/index.ts";
import { describeLine, queryOf, type Line } from "./describe-line.ts";

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
