import { setImmediate } from "node:timers/promises";
import { stringify } from "csv-stringify/sync";
import { leftOutHeading } from "../../admin/index.ts";
import { csvFile } from "../../platform/text/csv.ts";
import type { Download, PageRequest, PageView } from "../frame/index.ts";
import { describeFault, readImport } from "./import-record.ts";
import { showList } from "./lists.ts";

/** Of long rows, more would keep others waiting. */
const pageSize = 200;

export async function showLeftOut(request: PageRequest): Promise<PageView> {
  const { items, next } = await request.list("listImportFaultyRows");
  const rows = items.map(({ line, fields, faults }) => ({
    line,
    text: fields.map(({ value }) => value).join("; "),
    reasons: faults.map((fault) => describeFault(fault, request).wrong),
  }));
  const { format } = await readImport(request);
  return showList(request, "left-out", { rows, next, isTable: format === "PLAIN" });
}

/** The rows as they were kept, each with its reasons in a last column, by which a corrected file is an addition. */
export async function handOutLeftOut(request: PageRequest): Promise<Download> {
  const { t, locale } = request;
  const { fileName } = await readImport(request);
  const table: string[][] = [];
  let headings: string[] = [];
  for (const { fields, faults } of await request.listAll("listImportFaultyRows", { limit: pageSize })) {
    const labels = fields.map(({ heading }) => heading);
    if (labels.length > headings.length) headings = labels;
    const reasons = faults.map(
      (fault) => (fault.field ? `${fault.field}: ` : "") + describeFault(fault, request).wrong,
    );
    table.push([...fields.map(({ value }) => value), reasons.join(" ")]);
  }
  const rows = table.map((row) => [...row.slice(0, -1), ...headings.slice(row.length - 1).map(() => ""), row.at(-1)!]);
  const file = await stringifyInTurns([[...headings, await leftOutHeading(locale)], ...rows], csvFile(locale));
  const name = `${fileName.replace(/\.[^.]*$/, "")} - ${t("leftOut.file")}.csv`;
  return { file, type: "text/csv; charset=utf-8", name };
}

/** As many rows in each turn of the event loop as are read at once. */
async function stringifyInTurns(rows: string[][], options: ReturnType<typeof csvFile>): Promise<string> {
  const parts: string[] = [];
  for (let from = 0; from < rows.length; from += pageSize) {
    const bom = options.bom && from === 0;
    parts.push(stringify(rows.slice(from, from + pageSize), { ...options, header: false, bom }));
    await setImmediate();
  }
  return parts.join("");
}
