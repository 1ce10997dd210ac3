import { loadRosters, type AdminSchemas } from "../../admin/index.ts";
import { makeFile, makePage, hasManySchools, refuseField, leavingOf } from "../frame/index.ts";
import type { Redirect, Download, PageView, PageRequest } from "../frame/index.ts";
import { imports } from "./import-record.ts";

type Scope = Pick<AdminSchemas["Import"], "mode" | "people">;

const scopes = {
  BULK: { mode: "BULK", people: "ALL" },
  STUDENTS: { mode: "BULK", people: "STUDENTS" },
  TEACHERS: { mode: "BULK", people: "TEACHERS" },
  DELTA: { mode: "DELTA", people: "ALL" },
} as const satisfies Record<string, Scope>;

type ScopeChoice = keyof typeof scopes;

/** What a file may list, as a form lets people choose: the whole school, all students, all teachers, a part. */
export const scopeChoices = Object.keys(scopes) as ScopeChoice[];

export const readScope = (text: string): Scope | undefined =>
  scopeChoices.filter((choice) => choice === text).map((choice) => scopes[choice])[0];

export const scopeChoiceOf = ({ mode, people }: Scope): ScopeChoice =>
  mode === "DELTA" || people === "ALL" ? mode : people;

const formats: readonly AdminSchemas["ImportFormat"][] = ["PLAIN", "ONEROSTER", "SCHULCONNEX"];

export async function showImports(request: PageRequest): Promise<PageView> {
  const { call, list, path, query, t } = request;
  const isWaiting = query("waiting") !== "";
  const [{ items, more }, saved] = await Promise.all([
    list("listImports", { query: { school: path.schoolId, waiting: isWaiting || null } }),
    call("listColumnMappings"),
  ]);
  const mappings = saved.map((mapping) => ({ ...mapping, scope: scopeChoiceOf(mapping) }));
  return makePage("list", t("frame.pages.imports"), {
    isWaiting,
    isFirst: query("cursor") === "" && !isWaiting,
    imports: items,
    more,
    mappings,
    hasManySchools: hasManySchools(request),
    formats,
    scopeChoices,
    // Without a choice, a file with known headings is read as the last one with them.
    isRemembered: mappings.some(({ scope }) => scope !== "BULK"),
  });
}

export async function handIn(request: PageRequest): Promise<Redirect> {
  const { call, at, field, path, now, upload } = request;
  if (upload === null) throw refuseField("file", "no_file_chosen");
  const isForMany = field("schools") === "many" && hasManySchools(request);
  const { schoolYearOf } = await loadRosters();
  const { id, state } = await call("createImport", {
    query: {
      school: isForMany ? null : path.schoolId,
      format: formats.find((one) => one === field("format")),
      ...readScope(field("mode")),
      "school-year": schoolYearOf(now),
      "file-name": upload.fileName.replace(/\p{C}/gu, "").slice(-255),
      "choose-columns": field("chooseColumns") !== "" || null,
    },
    body: upload.stream,
  });
  return { to: `${at(imports)}/${id}${state === "UNMAPPED" ? "/columns" : ""}` };
}

/** An empty roster, for a school whose software exports none of the formats. */
export const handOutTemplate = async ({ t }: PageRequest) =>
  makeFile((await loadRosters()).plainTemplate(), t("upload.templateName"), "csv");

const listFormats = async () =>
  Object.entries((await loadRosters()).rosterFormats).map(([name, format]) => ({
    ...format,
    name: name as AdminSchemas["RosterFormat"],
  }));

export async function showExport({ t, call }: PageRequest): Promise<PageView> {
  await call("getSchool");
  return makePage("export", t("export.title"), { formats: await listFormats() });
}

export async function handOutExport(request: PageRequest): Promise<Download> {
  const { call, field, t } = request;
  const format = (await listFormats()).find(({ name }) => name === field("format"));
  if (format === undefined) throw refuseField("format", "invalid_request");
  const file = await call("getRoster", { query: { format: format.name }, signal: leavingOf(request) });
  return { file, type: "application/octet-stream", name: `${t("export.fileName")}.${format.extension}` };
}
