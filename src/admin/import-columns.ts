import { findImport, getUpload, listColumnMappings as list, type KeptMapping, type Upload } from "../imports/index.ts";
import { present } from "../platform/contract-types.ts";
import { storeOf } from "../platform/database/db.ts";
import type { AdminHandler, Schemas } from "./handler.ts";
import { importReach, presentImport } from "./import-record.ts";
import { refuseUnknownSchool } from "./reached.ts";

function presentColumns({ table, sheet, sheets }: Upload): Schemas["ImportColumns"] {
  const { encoding, separator, headingLine, headings, samples, mapping } = table;
  const { uses, role, className, idFromName, mode } = mapping;
  return present<Schemas["ImportColumns"]>({
    sheet,
    sheets: [...sheets],
    encoding,
    separator,
    headingLine,
    columns: headings.map((heading, index) =>
      present<Schemas["ImportColumn"]>({ heading, use: uses[index] ?? null, samples: [...(samples[index] ?? [])] }),
    ),
    role,
    className,
    idFromName,
    mode,
  });
}

export const getImportColumns: AdminHandler<"getImportColumns"> = async ({ db }, request) => {
  const { id } = await findImport(storeOf(db), request.importId, importReach(request));
  return { status: 200, body: presentColumns(await getUpload(db, id)) };
};

export const putImportColumns: AdminHandler<"putImportColumns"> = async ({ db, imports }, request) => {
  const { importId, query, body, reach, origin } = request;
  const find = () => findImport(storeOf(db), importId, importReach(request));
  await find();
  const among = reach.all ? undefined : reach.schoolIds;
  await imports.map(importId, body, among, origin, { inBackground: query["in-background"] === true });
  return { status: 200, body: presentImport(await find()) };
};

function presentMapping({ headings, uses, role, idFromName, mode, usedAt }: KeptMapping): Schemas["ColumnMapping"] {
  const columns = headings.map((heading, index) =>
    present<Schemas["MappedColumn"]>({ heading, use: uses[index] ?? null }),
  );
  return present<Schemas["ColumnMapping"]>({ columns, role, idFromName, mode, usedAt });
}

export const listColumnMappings: AdminHandler<"listColumnMappings"> = async ({ db }, request) => {
  const { schoolId, reach } = request;
  await refuseUnknownSchool(db, reach, schoolId);
  return { status: 200, body: (await list(db, schoolId)).map(presentMapping) };
};
