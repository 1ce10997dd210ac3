import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { paths } from "../../generated/openapi/admin.ts";
import { maxFaults } from "../imports/index.ts";
import { AppError } from "../platform/errors.ts";
import { bodyOf, listFirst, omitUndefined, withIdempotencyKey, type Schemas } from "./admin-api.ts";
import type { Service } from "./command.ts";
import { openFile, sendFile } from "./files.ts";

type Import = Schemas["Import"];

const oneImport = "/admin/v1/imports/{importId}";
const pathOf = (importId: string) => ({ params: { path: { importId } } });
const withQuery = <Query extends object>(importId: string, query: Query) => ({ params: { path: { importId }, query } });

const labels = {
  WAITING: "Waiting",
  READING: "Reading",
  CHECKING: "Checking",
  COMPARING: "Comparing",
  APPLYING: "Applying",
  UNDOING: "Undoing",
};
const [minWaitMs, maxWaitMs] = [100, 2000];

async function waitFor(service: Service, first: Import): Promise<Import> {
  let [record, waitMs] = [first, minWaitMs];
  while (record.progress !== null || record.state === "READING") {
    if (record.progress !== null) {
      const { phase, percent, place } = record.progress;
      showPercent(service, place === null ? labels[phase] : `${labels[phase]} at place ${place} of the queue`, percent);
    }
    await sleep(waitMs);
    waitMs = Math.min(maxWaitMs, waitMs * 1.5);
    record = await getImport(service, first.id);
  }
  return record;
}

const showPercent = ({ showProgress }: Service, label: string, done: number): void =>
  showProgress({ label, done, total: 100, unit: "percent" });

type NewImport = { [Name in keyof Query]?: Query[Name] | undefined };
type Query = NonNullable<paths["/admin/v1/imports"]["post"]["parameters"]["query"]>;

export async function previewImport(service: Service, path: string, request: NewImport): Promise<Import> {
  const file = await openFile(path);
  const query: Query = { "file-name": basename(path), "in-background": true, ...omitUndefined(request) };
  const created = await bodyOf(
    service.api.POST("/admin/v1/imports", { params: { query, ...withIdempotencyKey() }, ...sendFile(file) }),
  );
  const record = await waitFor(service, created);
  if (record.state === "READY" || record.state === "HELD") showPercent(service, labels.COMPARING, 100);
  return record;
}

export const getColumns = ({ api }: Service, id: string): Promise<Schemas["ImportColumns"]> =>
  bodyOf(api.GET(`${oneImport}/columns`, pathOf(id)));

export async function mapColumns(service: Service, id: string, body: Schemas["ImportColumnsInput"]): Promise<Import> {
  const looksAgain = (body.sheet ?? body.encoding ?? body.separator) !== undefined;
  // In the background, a wrong choice would get no error.
  const { params } = withQuery(id, { "in-background": !looksAgain });
  return waitFor(service, await bodyOf(service.api.PUT(`${oneImport}/columns`, { params, body })));
}

/** `confirmed` confirms the reasons of a hold. Errors: those of the service; conflict import_applied. */
export async function applyImport(service: Service, id: string, confirmed?: { holds: Schemas["ImportHoldCount"][] }) {
  const { leavers, state } = await getImport(service, id);
  if (state === "APPLIED") throw new AppError("conflict", "import_applied", "The import has been applied already.");
  if (state !== "HELD" && confirmed !== undefined)
    throw new AppError("conflict", "import_not_held", "The import is not held, so there is nothing to confirm.");
  const typed = (confirmed?.holds.length ?? 0) > 0 ? { confirmHolds: confirmed!.holds } : { confirmLeavers: leavers };
  const body = confirmed === undefined ? {} : typed;
  const apply = (query: { "in-background": boolean }) =>
    bodyOf(service.api.POST(`${oneImport}/application`, { ...withQuery(id, query), body }));
  const isRefused = state === "HELD" && confirmed === undefined;
  return workUntil(service, "APPLIED", apply, !isRefused);
}

/** Starts a long change and waits for its end. A call in the foreground is refused with the reason why it failed. */
async function workUntil(
  service: Service,
  state: Import["state"],
  work: (query: { "in-background": boolean }) => Promise<Import>,
  isInBackground = true,
): Promise<Import> {
  const ended = await waitFor(service, await work({ "in-background": isInBackground }));
  return ended.state === state ? ended : work({ "in-background": false });
}

export type UndoPreview = Schemas["ImportUndo"] & { entries: Schemas["ImportUndoEntry"][] };

/** What undoing brings back at each school, with everything that stays as it is. */
export async function previewUndo(service: Service, id: string): Promise<UndoPreview[]> {
  const { api } = service;
  const { schools } = await getImport(service, id);
  const previews: UndoPreview[] = [];
  const open = schools.filter(({ state }) => state !== "UNDONE");
  // The service refuses the preview of an import that is undone everywhere, with the reason.
  for (const { id: school } of open.length === 0 ? schools.slice(0, 1) : open) {
    const preview = await bodyOf(api.GET(`${oneImport}/undo`, withQuery(id, { school })));
    const list = (page: object) => api.GET(`${oneImport}/undo/entries`, withQuery(id, { school, kept: true, ...page }));
    previews.push({ ...preview, entries: await listFirst(list, { limit: maxGroups }) });
  }
  return previews;
}

/** Errors: those of the service; conflict undo_not_confirmed unless `keep` is the number of entries that stay. */
export const undoImport = (service: Service, id: string, keep: number | undefined): Promise<Import> =>
  workUntil(service, "UNDONE", (query) =>
    bodyOf(
      service.api.POST(`${oneImport}/undo`, { ...withQuery(id, query), body: omitUndefined({ confirmKept: keep }) }),
    ),
  );

/** Compares a waiting import again, with one of its schools or with all of them. */
export async function compareImport(service: Service, id: string, school: string | undefined): Promise<Import> {
  const { schools } = await getImport(service, id);
  const waiting = schools.filter(({ state }) => state !== "APPLIED").map((one) => one.id);
  for (const each of school === undefined && waiting.length > 0 ? waiting : [school])
    await service.api.POST(`${oneImport}/comparison`, withQuery(id, omitUndefined({ school: each })));
  return getImport(service, id);
}

export const getImport = ({ api }: Service, id: string): Promise<Import> => bodyOf(api.GET(oneImport, pathOf(id)));

export const listFaultyRows = ({ api }: Service, id: string): Promise<Schemas["ImportFaultyRow"][]> =>
  listFirst((page) => api.GET(`${oneImport}/faulty-rows`, withQuery(id, page)), { limit: maxFaults });

export const listWarnings = ({ api }: Service, id: string, limit: number): Promise<Schemas["ImportWarning"][]> =>
  listFirst((page) => api.GET(`${oneImport}/warnings`, withQuery(id, page)), { limit });

export const listFaults = ({ api }: Service, id: string, limit: number): Promise<Schemas["ImportFault"][]> =>
  listFirst((page) => api.GET(`${oneImport}/faults`, withQuery(id, page)), { limit });

/** Some of the people who leave a school and of the groups that change there. They contain names. */
export type Samples = { leavers: Schemas["ImportPerson"][]; groups: Schemas["ImportGroupChange"][] };

const samplesEach = 5;
const maxGroups = 1000;

export async function sampleImport({ api }: Service, { id, state, schools }: Import): Promise<Map<string, Samples>> {
  const samples = new Map<string, Samples>();
  if (state !== "READY" && state !== "HELD") return samples;
  for (const school of schools) {
    if (school.state === "APPLIED") continue;
    const at = (page: object) => withQuery(id, { school: school.id, ...page });
    const changes = await listFirst((page) => api.GET(`${oneImport}/changes`, at(page)), { limit: maxGroups });
    const leaving = (page: object) => api.GET(`${oneImport}/people`, at({ kind: "LEAVING", ...page }));
    const leavers = await listFirst(leaving, { limit: samplesEach });
    const groups = changes.filter(({ step }) => step !== "NONE").slice(0, samplesEach);
    samples.set(school.id, { leavers, groups });
  }
  return samples;
}
