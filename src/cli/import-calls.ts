import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
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

export type NewImport = {
  path: string;
  schoolId: string | undefined;
  mode: Import["mode"] | undefined;
  people: Import["people"] | undefined;
  carryOvers: ReadonlyMap<string, string>;
  schoolYear: string | undefined;
  choosesColumns: boolean | undefined;
};

export async function previewImport(service: Service, request: NewImport): Promise<Import> {
  const { path, schoolId, mode, people, carryOvers, schoolYear, choosesColumns } = request;
  const file = await openFile(path);
  const lines = [...carryOvers].map(([next, previous]) => `${previous}=${next}`);
  const query = {
    "file-name": basename(path),
    "in-background": true,
    ...omitUndefined({ school: schoolId, mode, people, "school-year": schoolYear, "choose-columns": choosesColumns }),
    ...(lines.length > 0 && { "carry-over": lines.join("\n") }),
  };
  const created = await bodyOf(
    service.api.POST("/admin/v1/imports", {
      params: { query, ...withIdempotencyKey() },
      ...sendFile(file),
    }),
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
export async function applyImport(
  service: Service,
  id: string,
  confirmed?: { holds: Schemas["ImportHoldCount"][] },
): Promise<Import> {
  const { leavers, state } = await getImport(service, id);
  if (state === "APPLIED") throw new AppError("conflict", "import_applied", "The import has been applied already.");
  if (state !== "HELD" && confirmed !== undefined)
    throw new AppError("conflict", "import_not_held", "The import is not held, so there is nothing to confirm.");
  const typed = (confirmed?.holds.length ?? 0) > 0 ? { confirmHolds: confirmed!.holds } : { confirmLeavers: leavers };
  const body = confirmed === undefined ? {} : typed;
  const apply = (inBackground: boolean) =>
    bodyOf(
      service.api.POST(`${oneImport}/application`, {
        ...withQuery(id, { "in-background": inBackground }),
        body,
      }),
    );
  const isRefused = state === "HELD" && confirmed === undefined;
  const ended = await waitFor(service, await apply(!isRefused));
  // A call in the foreground is refused with the reason why the import is not applied.
  return ended.state === "APPLIED" ? ended : apply(false);
}

export type UndoPreview = Schemas["ImportUndo"] & { entries: Schemas["ImportUndoEntry"][] };

/** What undoing brings back at each school, with everything that stays as it is. */
export async function previewUndo(service: Service, id: string): Promise<UndoPreview[]> {
  const { api } = service;
  const { schools } = await getImport(service, id);
  const found: UndoPreview[] = [];
  const open = schools.filter(({ state }) => state !== "UNDONE");
  // The service refuses the preview of an import that is undone everywhere, with the reason.
  for (const { id: school } of open.length === 0 ? schools.slice(0, 1) : open) {
    const preview = await bodyOf(api.GET(`${oneImport}/undo`, withQuery(id, { school })));
    const list = (page: object) => api.GET(`${oneImport}/undo/entries`, withQuery(id, { school, kept: true, ...page }));
    found.push({ ...preview, entries: await listFirst(list, { limit: maxGroups }) });
  }
  return found;
}

/** Errors: those of the service; conflict undo_not_confirmed unless `keep` is the number of entries that stay. */
export async function undoImport(service: Service, id: string, keep: number | undefined): Promise<Import> {
  const undo = (inBackground: boolean) =>
    bodyOf(
      service.api.POST(`${oneImport}/undo`, {
        ...withQuery(id, { "in-background": inBackground }),
        body: omitUndefined({ confirmKept: keep }),
      }),
    );
  const ended = await waitFor(service, await undo(true));
  // A call in the foreground is refused with the reason why the import is not undone.
  return ended.state === "UNDONE" ? ended : undo(false);
}

/** Compares a waiting import again, with one of its schools or with all of them. */
export async function compareImport(service: Service, id: string, school: string | undefined): Promise<Import> {
  const { schools } = await getImport(service, id);
  const waiting = schools.filter(({ state }) => state !== "APPLIED").map((one) => one.id);
  for (const each of school === undefined && waiting.length > 0 ? waiting : [school])
    await service.api.POST(`${oneImport}/comparison`, withQuery(id, omitUndefined({ school: each })));
  return getImport(service, id);
}

export async function leaveOutRows(service: Service, id: string): Promise<Import> {
  await service.api.POST(`${oneImport}/left-out-rows`, pathOf(id));
  return getImport(service, id);
}

export const listFaultyRows = ({ api }: Service, id: string): Promise<Schemas["ImportFaultyRow"][]> =>
  listFirst((page) => api.GET(`${oneImport}/faulty-rows`, withQuery(id, page)), { limit: maxFaults });

const warningsShown = 100;

/** The first warnings; none once the rows of the file are gone. */
export async function listWarnings({ api }: Service, record: Import): Promise<Schemas["ImportWarning"][]> {
  if (record.warningCount === 0) return [];
  return listFirst((page) => api.GET(`${oneImport}/warnings`, withQuery(record.id, page)), { limit: warningsShown });
}

export const getImport = ({ api }: Service, id: string): Promise<Import> => bodyOf(api.GET(oneImport, pathOf(id)));

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
    const groups = await listFirst((page) => api.GET(`${oneImport}/changes`, at(page)), { limit: maxGroups });
    const leaving = (page: object) => api.GET(`${oneImport}/people`, at({ kind: "LEAVING", ...page }));
    const leavers = await listFirst(leaving, { limit: samplesEach });
    samples.set(school.id, {
      leavers,
      groups: groups.filter(({ step }) => step !== "NONE").slice(0, samplesEach),
    });
  }
  return samples;
}
