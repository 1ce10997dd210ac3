import {
  deleteColumnMapping as remove,
  findImport,
  getUpload,
  listColumnMappings as list,
  separators,
  shownEncoding,
  type KeptMapping,
  type SeparatorName,
  type Upload,
} from "../../imports/index.ts";
import { storeOf } from "../../platform/database/db.ts";
import { present, type AdminHandler, type Schemas } from "../handler.ts";
import { answerRecord, commitDone, refuseStale } from "../change.ts";
import { importReach, presentImport } from "./import-record.ts";

const separatorNames = Object.keys(separators) as SeparatorName[];

function presentColumns({ table, sheet, sheets }: Upload): Schemas["ImportColumns"] {
  const { separator, headingLine, headings, samples, mapping } = table;
  const { uses, role, className, idFromName, mode, people = "ALL" } = mapping;
  return present("ImportColumns", {
    sheet,
    sheets,
    encoding: shownEncoding(table.encoding),
    possibleEncodings: (table.possibleEncodings ?? []).map(({ encoding, samples }) => ({
      encoding: shownEncoding(encoding),
      samples,
    })),
    separator: separatorNames.find((name) => separators[name] === separator)!,
    headingLine,
    columns: headings.map((heading, index) => ({
      heading,
      use: uses[index] ?? "IGNORED",
      samples: samples[index] ?? [],
    })),
    role: role ?? "COLUMN",
    className,
    idFromName,
    mode,
    people,
  });
}

const readMapping = ({ uses, role, ...others }: Schemas["ImportColumnsInput"]) => ({
  ...others,
  uses: uses.map((use) => (use === "IGNORED" ? null : use)),
  role: role === "COLUMN" ? null : role,
});

export const getImportColumns: AdminHandler<"getImportColumns"> = async ({ db }, request) => {
  const { id } = await findImport(storeOf(db), request.importId, importReach(request));
  return answerRecord(presentColumns(await getUpload(db, id)));
};

export const putImportColumns: AdminHandler<"putImportColumns"> = async ({ db, imports }, request) => {
  const { importId, query, headers, body, reach, origin } = request;
  const find = () => findImport(storeOf(db), importId, importReach(request));
  const { id } = await find();
  if (headers["If-Match"] !== undefined) refuseStale(headers, presentColumns(await getUpload(db, id)));
  const among = reach.all ? undefined : reach.schoolIds;
  const separator = body.separator && separators[body.separator];
  await imports.map(importId, { ...readMapping(body), separator }, among, origin, {
    inBackground: query["in-background"] === true,
  });
  return { status: 200, body: presentImport(await find()) };
};

function presentMapping({ headings, uses, role, people = "ALL", ...mapping }: KeptMapping) {
  const columns = headings.map((heading, index) => ({ heading, use: uses[index] ?? ("IGNORED" as const) }));
  return present("ColumnMapping", { ...mapping, columns, role: role ?? "COLUMN", people });
}

export const listColumnMappings: AdminHandler<"listColumnMappings"> = async (deps, request) => {
  const { schoolId, page } = request;
  return page.answerAfterSkip(page.cut(await list(deps.db, schoolId)), presentMapping);
};

export const deleteColumnMapping: AdminHandler<"deleteColumnMapping"> = (deps, request) =>
  commitDone(deps, request, async (tx) => {
    const { schoolId, columnMappingId, headers, origin } = request;
    const mapping = (await list(tx, schoolId)).find(({ id }) => id === columnMappingId);
    refuseStale(headers, mapping === undefined ? null : presentMapping(mapping));
    if (mapping !== undefined) await remove(tx, schoolId, mapping, origin);
  });
