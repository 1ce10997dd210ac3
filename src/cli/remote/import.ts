import { openAsBlob } from "node:fs";
import { basename } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { SchoolId } from "../../directory/index.ts";
import type { ImportFault, ImportId, ImportRecord, Samples } from "../../imports/index.ts";
import { bodyOf, dateOf, firstEntries, given, once, type Remote, type Schemas } from "../admin-api.ts";

const oneImport = "/admin/v1/imports/{importId}";
const of = (importId: string) => ({ params: { path: { importId } } });

/** Shape: fields in the order in which they are printed. */
const recordOf = (record: Schemas["Import"]): ImportRecord => {
  const { id, format, mode, state, fileName, schoolYear, errorCount, notes, createdAt, appliedAt } = record;
  return {
    id: id as ImportId,
    format,
    mode,
    state,
    fileName,
    schoolYear: schoolYear ?? "",
    errorCount,
    notes: notes as ImportRecord["notes"],
    createdAt: new Date(createdAt),
    appliedAt: dateOf(appliedAt),
    schools: record.schools.map(({ id: schoolId, name, state: at, kept, people, groups, memberships, before }) => ({
      id: schoolId as SchoolId,
      name,
      state: at,
      counts: { kept, before, groups, people, memberships },
    })),
  };
};

const labels = {
  WAITING: "Waiting",
  READING: "Reading",
  CHECKING: "Checking",
  COMPARING: "Comparing",
  APPLYING: "Applying",
};
const [shortestWaitMs, longestWaitMs] = [100, 2000];

/** Waits until the service has read or applied a roster, and shows how far it is. */
async function waitFor(remote: Remote, first: Schemas["Import"]): Promise<Schemas["Import"]> {
  let [record, waitMs] = [first, shortestWaitMs];
  while (record.progress !== null || record.state === "READING") {
    if (record.progress !== null) {
      const { phase, percent, place } = record.progress;
      const label = place === null ? labels[phase] : `${labels[phase]} at place ${place} of the queue`;
      remote.showProgress({ label, done: percent, total: 100, unit: "percent" });
    }
    await wait(waitMs);
    waitMs = Math.min(longestWaitMs, waitMs * 1.5);
    record = await bodyOf(remote.api.GET(oneImport, of(first.id)));
  }
  return record;
}

type Wanted = {
  path: string;
  schoolId: SchoolId | undefined;
  mode: "BULK" | "DELTA" | undefined;
  carryOvers: ReadonlyMap<string, string>;
  schoolYear: string | undefined;
};

/** Uploads a roster, which the service reads and compares. */
export async function previewImport(remote: Remote, wanted: Wanted): Promise<ImportRecord> {
  const { path, schoolId, mode, carryOvers, schoolYear } = wanted;
  const file = await openAsBlob(path);
  const lines = [...carryOvers].map(([next, previous]) => `${previous}=${next}`);
  const query = {
    "file-name": basename(path),
    "in-background": true,
    ...given({ school: schoolId, mode, "school-year": schoolYear }),
    ...(lines.length > 0 && { "carry-over": lines.join("\n") }),
  };
  const made = await bodyOf(
    remote.api.POST("/admin/v1/imports", {
      params: { query, ...once() },
      // The contract's binary text is the bytes of the file.
      body: file as unknown as string,
      bodySerializer: (body) => body,
      headers: { "Content-Type": "application/octet-stream" },
    }),
  );
  return recordOf(await waitFor(remote, made));
}

/**
 * Applies an import. Shape: `confirmed` says that what it removes is meant.
 *
 * Errors: those of the service, also where the work behind its answer ended without an import that is applied.
 */
export async function applyImport(remote: Remote, id: ImportId, confirmed: boolean): Promise<ImportRecord> {
  const { leavers, state } = await bodyOf(remote.api.GET(oneImport, of(id)));
  const apply = (inBackground: boolean) =>
    bodyOf(
      remote.api.POST(`${oneImport}/application`, {
        params: { ...of(id).params, query: { "in-background": inBackground } },
        body: confirmed ? { confirmLeavers: leavers } : {},
      }),
    );
  const isRefused = state === "HELD" && !confirmed;
  const ended = await waitFor(remote, await apply(!isRefused));
  // Asked again in the foreground, the service says why it is not applied.
  return recordOf(ended.state === "APPLIED" ? ended : await apply(false));
}

export const getImport = async ({ api }: Remote, id: ImportId): Promise<ImportRecord> =>
  recordOf(await bodyOf(api.GET(oneImport, of(id))));

export async function cancelImport({ api }: Remote, id: ImportId): Promise<void> {
  await api.POST(`${oneImport}/cancellation`, of(id));
}

type Asked = { schoolId: SchoolId | undefined; limit: number };

export async function listImports({ api }: Remote, { schoolId, limit }: Asked): Promise<ImportRecord[]> {
  const query = given({ school: schoolId });
  const read = (page: object) => api.GET("/admin/v1/imports", { params: { query: { ...query, ...page } } });
  return (await firstEntries(read, { limit })).map(recordOf);
}

export async function listFaults({ api }: Remote, id: ImportId, limit: number): Promise<ImportFault[]> {
  const read = (page: object) => api.GET(`${oneImport}/faults`, { params: { ...of(id).params, query: page } });
  const faults = await firstEntries(read, { limit });
  return faults.map(({ file, line, column, field, code, message, text }) => ({
    file,
    line,
    column,
    field,
    code,
    message,
    text,
  }));
}

const samplesOfEach = 5;

/** A few of the groups that an import changes, and of those who leave. */
export async function sampleImport({ api }: Remote, record: ImportRecord): Promise<Map<SchoolId, Samples>> {
  const samples = new Map<SchoolId, Samples>();
  if (record.state !== "READY" && record.state !== "HELD") return samples;
  for (const { id: school, state } of record.schools) {
    if (state === "APPLIED") continue;
    const at = (page: object) => ({ params: { ...of(record.id).params, query: { school, ...page } } });
    const groups = await firstEntries((page) => api.GET(`${oneImport}/changes`, at(page)), { limit: 1000 });
    const leavers = await firstEntries((page) => api.GET(`${oneImport}/leavers`, at(page)), { limit: samplesOfEach });
    samples.set(school, [
      ...leavers.map(({ name, sourceSystemIdentifier, losesAccess }) => ({
        kind: "person" as const,
        change: losesAccess ? "removed" : "left",
        sourceId: sourceSystemIdentifier ?? "",
        name: name === null ? null : `${name.firstFull} ${name.last}`,
        previousSourceId: null,
      })),
      ...groups
        .filter(({ step }) => step !== "NONE")
        .slice(0, samplesOfEach)
        .map(({ name, step, sourceSystemIdentifier }) => ({
          kind: "group" as const,
          change: step.toLowerCase(),
          sourceId: sourceSystemIdentifier ?? "",
          name,
          previousSourceId: null,
        })),
    ]);
  }
  return samples;
}
