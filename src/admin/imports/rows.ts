import { findImport, leaveOutFaultyRows, listFaultyRows, listWarnings } from "../../imports/index.ts";
import { present } from "../../platform/contract-types.ts";
import { storeOf } from "../../platform/database/db.ts";
import type { AdminHandler, Schemas } from "../handler.ts";
import { changeByDifference, showDifference } from "./differences.ts";
import { importReach, presentFault } from "./import-record.ts";

export const listImportFaultyRows: AdminHandler<"listImportFaultyRows"> = async (deps, request) => {
  const { range, answer } = request.page;
  const { id, headings } = await findImport(storeOf(deps.db), request.importId, importReach(request));
  const after = range.after === undefined ? undefined : Number(range.after);
  const found = await listFaultyRows(deps.db, id, { after, limit: range.limit });
  return answer(
    found,
    ({ line, fields, sourceId, faults }) =>
      present<Schemas["ImportFaultyRow"]>({
        line,
        isIdReadable: sourceId !== null,
        fields: fields.map((value, index) =>
          present<Schemas["ImportField"]>({ heading: headings[index]?.trim() ?? "", value }),
        ),
        faults: faults.map(presentFault),
      }),
    ({ line }) => String(line),
  );
};

export const listImportWarnings: AdminHandler<"listImportWarnings"> = async (deps, request) => {
  const { range, skip, answerAfterSkip } = request.page;
  const status = await findImport(storeOf(deps.db), request.importId, importReach(request));
  const found = await showDifference(deps, request, (db) =>
    listWarnings(db.pool, status, { skip, limit: range.limit }),
  );
  return answerAfterSkip(found, (warning) => present<Schemas["ImportWarning"]>(warning));
};

export const leaveOutImportRows: AdminHandler<"leaveOutImportRows"> = async (deps, request) => {
  const { db, imports } = deps;
  const status = await findImport(storeOf(db), request.importId, importReach(request));
  const { origin } = request;
  await changeByDifference(deps, request, (ofImports) =>
    leaveOutFaultyRows(ofImports, status, imports.holdShare, origin),
  );
  return { status: 204 };
};
