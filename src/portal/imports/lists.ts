import type { PageView, PageRequest } from "../frame/index.ts";
import { leavingOf } from "../frame/index.ts";
import { describeChange, describeFault, ofSchool, one, readImport } from "./import-record.ts";

/** The address of a list with its filters; empty filters are left out. */
export function addressOfList(request: PageRequest, name: string, filters: Record<string, string | null>): string {
  const filled = Object.entries(filters).filter((filter): filter is [string, string] => Boolean(filter[1]));
  return `${request.at(one)}/${name}?${new URLSearchParams(filled).toString()}`;
}

export function showList(
  request: PageRequest,
  name: string,
  { next, ...model }: { next?: string | null; [key: string]: unknown },
): PageView {
  const base = request.at(one);
  const more = next ? addressOfList(request, name, { cursor: next }) : null;
  return {
    title: request.t(`lists.title.${name}`),
    view: "part",
    model: { ...model, name, base, more },
  };
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
