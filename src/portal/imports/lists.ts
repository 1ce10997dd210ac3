import { leavingOf, makeFile, makePage, type PageView, type PageRequest, type Download } from "../frame/index.ts";
import { describeChange, describeFault, ofSchool, readImport } from "./import-record.ts";
import { setImmediate } from "node:timers/promises";
import { stringify } from "csv-stringify/sync";
import { loadRosters } from "../../admin/index.ts";
import { csvFile } from "../../platform/text/csv.ts";

/** The address of a list with its filters; empty filters are left out. */
export function addressOfList(request: PageRequest, name: string, filters: Record<string, string | null>): string {
  const filled = Object.entries(filters).filter((filter): filter is [string, string] => Boolean(filter[1]));
  return `${request.base}/${name}?${new URLSearchParams(filled).toString()}`;
}

export function showList(
  request: PageRequest,
  name: string,
  { next, ...model }: { next?: string | null; [key: string]: unknown },
): PageView {
  const more = next ? addressOfList(request, name, { cursor: next }) : null;
  return makePage("part", request.t(`lists.title.${name}`), { ...model, name, more });
}

export async function showFaults(request: PageRequest): Promise<PageView> {
  const [read, { items, next }] = await Promise.all([readImport(request), request.list("listImportFaults")]);
  const faults = items.map((fault) => ({ ...fault, ...describeFault(fault, request) }));
  return showList(request, "faults", { faults, next, count: read.errorCount });
}

export async function showChanges(request: PageRequest): Promise<PageView> {
  const [search, isLosing] = [request.query("search"), request.query("losing") === "yes"];
  const query = { ...ofSchool(request), search, "loses-members": isLosing || null };
  const { items, next } = await request.list("listImportChanges", { query, signal: leavingOf(request) });
  const changes = items.map((change) => ({ ...change, words: describeChange(change, request).join(", ") }));
  const moreFound = next && addressOfList(request, "changes", { search, losing: isLosing ? "yes" : "", cursor: next });
  return showList(request, "changes", { changes, search, isLosing, moreFound });
}

export async function showLookAlikes(request: PageRequest): Promise<PageView> {
  const signal = leavingOf(request);
  const { items, next } = await request.list("listImportLookAlikes", { query: ofSchool(request), signal });
  return showList(request, "look-alikes", { pairs: items, next });
}

export async function showViewChanges(request: PageRequest): Promise<PageView> {
  const signal = leavingOf(request);
  return showList(request, "apps", {
    changes: await request.call("previewImport", { query: ofSchool(request), signal }),
  });
}

export async function showWarnings(request: PageRequest): Promise<PageView> {
  const { items, next } = await request.list("listImportWarnings");
  return showList(request, "warnings", { kinds: Map.groupBy(items, ({ kind }) => kind), next });
}

/** More long rows on one page would delay other requests. */
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
  const { reasonHeadings } = await loadRosters();
  const file = await stringifyInTurns([[...headings, reasonHeadings[locale]], ...rows], csvFile(locale));
  return makeFile(file, `${fileName.replace(/\.[^.]*$/, "")} - ${t("leftOut.file")}`, "csv");
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
