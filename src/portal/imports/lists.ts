import { leavingOf, unwrap, unwrapPage, type PageView, type PageRequest } from "../frame/index.ts";
import { describeChange, describeFault, importAddress, nameOf, paramsOf, readImport } from "./import-record.ts";

export const listSize = 50;

export function showList(
  request: PageRequest,
  name: string,
  { next, ...model }: { next?: string | null; [key: string]: unknown },
): PageView {
  const base = importAddress(request);
  const more = next ? `${base}/${name}?${new URLSearchParams({ cursor: next }).toString()}` : null;
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
  const params = pageOf(request);
  const { items, next } = await unwrapPage(
    request.api.GET("/admin/v1/imports/{importId}/changes", { params, signal: leavingOf(request) }),
  );
  const changes = items.map((change) => ({ ...change, words: describeChange(change, request).join(", ") }));
  return showList(request, "changes", { changes, next });
}

async function listLeavers(request: PageRequest, kept: boolean) {
  const { path, query } = pageOf(request);
  const params = { path, query: { ...query, kept } };
  const { items, next } = await unwrapPage(
    request.api.GET("/admin/v1/imports/{importId}/leavers", { params, signal: leavingOf(request) }),
  );
  const leavers = items.map((leaver) => ({ ...leaver, fullName: nameOf(leaver.name, request) }));
  return { leavers, next, people: `/admin/schools/${request.path.schoolId}/people` };
}

export const showLeavers = async (request: PageRequest): Promise<PageView> =>
  showList(request, "leavers", await listLeavers(request, false));

/** People who are missing from the file but stay because of their staff roles. */
export const showKept = async (request: PageRequest): Promise<PageView> =>
  showList(request, "kept", await listLeavers(request, true));

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
