import { leavingOf, unwrap, unwrapPage, type PageView, type PageRequest } from "../frame/index.ts";
import { describeChange, describeFault, importAddress, paramsOf, readImport } from "./import-record.ts";

export const listSize = 50;

/** The address of a list with its filters; those that are empty are left out. */
export function addressOfList(request: PageRequest, name: string, filters: Record<string, string | null>): string {
  const filled = Object.entries(filters).filter((filter): filter is [string, string] => Boolean(filter[1]));
  return `${importAddress(request)}/${name}?${new URLSearchParams(filled).toString()}`;
}

export function showList(
  request: PageRequest,
  name: string,
  { next, ...model }: { next?: string | null; [key: string]: unknown },
): PageView {
  const base = importAddress(request);
  const more = next ? addressOfList(request, name, { cursor: next }) : null;
  return {
    title: request.t(`lists.${name}.title`),
    view: "part",
    model: { ...model, name, base, more, mayImport: request.may("applyImport") },
  };
}

export function pageOf(request: PageRequest) {
  const { path, query } = paramsOf(request);
  return { path, query: { ...query, limit: listSize, ...request.cursor } };
}

export async function showFaults(request: PageRequest): Promise<PageView> {
  const params = { path: request.path, query: { limit: listSize, ...request.cursor } };
  const [read, { items, next }] = await Promise.all([
    readImport(request),
    unwrapPage(request.api.GET("/admin/v1/imports/{importId}/faults", { params })),
  ]);
  const faults = items.map((fault) => ({ ...fault, ...describeFault(fault, request) }));
  return showList(request, "faults", { faults, next, count: read.errorCount });
}

export async function showChanges(request: PageRequest): Promise<PageView> {
  const { path, query } = pageOf(request);
  const [search, isLosing] = [request.query("search"), request.query("losing") === "yes"];
  const filters = { ...(search !== "" && { search }), ...(isLosing && { "loses-members": true }) };
  const { items, next } = await unwrapPage(
    request.api.GET("/admin/v1/imports/{importId}/changes", {
      params: { path, query: { ...query, ...filters } },
      signal: leavingOf(request),
    }),
  );
  const changes = items.map((change) => ({ ...change, words: describeChange(change, request).join(", ") }));
  const moreFound = next && addressOfList(request, "changes", { search, losing: isLosing ? "yes" : "", cursor: next });
  return showList(request, "changes", { changes, search, isLosing, moreFound });
}

export async function showLookAlikes(request: PageRequest): Promise<PageView> {
  const params = pageOf(request);
  const { items, next } = await unwrapPage(
    request.api.GET("/admin/v1/imports/{importId}/look-alikes", { params, signal: leavingOf(request) }),
  );
  return showList(request, "look-alikes", { pairs: items, next });
}

export async function showViewChanges(request: PageRequest): Promise<PageView> {
  const params = paramsOf(request);
  const changes = await unwrap(
    request.api.GET("/admin/v1/imports/{importId}/view-changes", { params, signal: leavingOf(request) }),
  );
  return showList(request, "apps", { changes });
}
