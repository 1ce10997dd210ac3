import { Readable } from "node:stream";
import { stringify } from "csv-stringify";
import { csvFile } from "../../platform/text/csv.ts";
import { startExport, type InTurn } from "../../platform/http/index.ts";
import { askedBy, type Download, type PageRequest } from "../frame/index.ts";
import { describeLine, queryOf, type Line } from "./describe-line.ts";

const pageSize = 250;
/** A longer file is cut, and its last line says so. */
const mostPages = 400;

const columns = ["at", "what", "action", "by", "role", "whom", "app", "before", "after", "requestId"] as const;

export async function handCsv(request: PageRequest): Promise<Download> {
  const { t, locale } = request;
  const inTurn = startExport(askedBy(request));
  const first = await inTurn(() => readPage(request, null));
  const rows = Readable.from(writeRows(request, first, inTurn));
  const file = stringify({
    ...csvFile(locale),
    columns: columns.map((key) => ({ key, header: t(`audit.column.${key}`) })),
  });
  rows.once("error", (error) => file.destroy(error));
  file.once("close", () => rows.destroy());
  return { file: rows.pipe(file), type: "text/csv; charset=utf-8", name: t("audit.fileName") };
}

type Row = Record<string, string>;
type Page = { rows: Row[]; next: string | null };

async function readPage(request: PageRequest, cursor: string | null): Promise<Page> {
  const query = { ...queryOf(request), limit: pageSize, cursor };
  const { items, next } = await request.list("listAudit", { query });
  return { rows: items.map((line) => writeRow(line, request)), next };
}

async function* writeRows(request: PageRequest, first: Page, inTurn: InTurn): AsyncGenerator<Row> {
  let page = first;
  for (let count = 1; ; count += 1) {
    yield* page.rows;
    if (page.next === null) return;
    if (count === mostPages) {
      yield { at: request.t("audit.cut") };
      return;
    }
    const { next } = page;
    page = await inTurn(() => readPage(request, next));
  }
}

function writeRow(line: Line, request: PageRequest): Row {
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
