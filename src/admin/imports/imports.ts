import { recordAudit } from "../../events/index.ts";
import {
  findImport,
  listImportFaults as listFaults,
  listImportsOf,
  listPersonImports as listOfPerson,
  type ImportId,
  type PersonImport,
} from "../../imports/index.ts";
import { leavingSignal, startExport, TemporaryFile } from "../../platform/http/index.ts";
import { exportRoster, rosterFormats } from "../../connections/index.ts";
import { storeOf, withPrismaTransaction } from "../../platform/database/db.ts";
import type { Reach } from "../../staff/index.ts";
import { answerRecord, tagOf } from "../change.ts";
import { present, type AdminHandler } from "../handler.ts";
import { invalidRequest } from "../page.ts";
import { getReachedPerson } from "../reached.ts";
import { changeByDifference } from "./import-record.ts";
import { importReach, presentFault, presentImport } from "./import-record.ts";

const importsPath = "/admin/v1/imports";

export const createImport: AdminHandler<"createImport"> = async ({ db, imports }, request) => {
  const { body, query, reach, origin, keep } = request;
  const id = await imports.read(
    {
      fileName: readFileName(query["file-name"]),
      schoolId: query.school,
      format: query.format,
      mode: query.mode,
      people: query.people,
      schoolYear: query["school-year"],
      carryOvers: readCarryOvers(query["carry-over"]),
      among: reach.all ? undefined : reach.schoolIds,
      choosesColumns: query["choose-columns"] === true,
      // Last, because a fault above leaves the file to the request, which removes it.
      path: body.keep(),
    },
    origin,
    { inBackground: query["in-background"] === true },
  );
  const made = await findImport(storeOf(db), id, undefined);
  const presented = presentImport(made);
  const answer = {
    status: 201 as const,
    body: presented,
    headers: { Location: `${importsPath}/${id}`, ETag: tagOf(presented) },
  };
  const record = withPrismaTransaction(db, async (tx) => {
    const [only, ...others] = made.namedSchoolIds;
    await recordAudit(tx, {
      ...origin,
      action: "import_handed_in",
      detail: { importId: id },
      schoolId: others.length === 0 ? only : undefined,
    });
    await keep(tx, answer);
  });
  await record.catch(async (error: unknown) => {
    await imports.forget(id);
    throw error;
  });
  return answer;
};

export const getRoster: AdminHandler<"getRoster"> = async (deps, { schoolId, query, origin, connection }) => {
  const { format } = query;
  const inTurn = startExport({ by: origin.actorId, caller: connection });
  const { path, digest } = await changeByDifference(deps, { connection, origin }, (db) =>
    exportRoster(db, { schoolId, format, now: origin.at }, { inTurn, signal: leavingSignal(connection) }),
  );
  const body = new TemporaryFile(path);
  await withPrismaTransaction(deps.db, (tx) =>
    recordAudit(tx, { ...origin, action: "roster_exported", detail: { format }, schoolId }),
  ).catch(async (error: unknown) => {
    await body.remove();
    throw error;
  });
  const fileName = `roster-${format}.${rosterFormats[format].extension}`;
  return {
    status: 200,
    body,
    headers: { ETag: `"${digest}"`, "Content-Disposition": `attachment; filename="${fileName}"` },
  };
};

function readFileName(text: string | undefined): string {
  const name = (text ?? "").replace(/^.*[/\\]/, "").trim();
  if (/[\p{C}]/u.test(name)) throw invalidRequest("The file name is not readable.");
  return name === "" ? "roster" : name;
}

/** Reads lines of `old=new`. Errors: invalid if two groups would become the same. */
function readCarryOvers(lines: string | undefined): Map<string, string> {
  const carryOvers = new Map<string, string>();
  for (const text of lines?.split("\n") ?? []) {
    const [previous, next] = text.split("=").map((part) => part.trim()) as [string, string];
    if (carryOvers.has(next)) throw invalidRequest("Two groups are carried over to the same group.");
    carryOvers.set(next, previous);
  }
  return carryOvers;
}

export const getImport: AdminHandler<"getImport"> = async ({ db }, request) =>
  answerRecord(presentImport(await findImport(storeOf(db), request.importId, importReach(request))));

export const listImports: AdminHandler<"listImports"> = async (deps, request) => {
  const { school, state, waiting: isWaiting } = request.query;
  const { range, answer } = request.page;
  const imports = await listImportsOf(storeOf(deps.db), {
    ...(school !== undefined && { schoolIds: [school] }),
    state,
    isWaiting,
    among: importReach(request),
    limit: range.limit,
    after: range.after as ImportId | undefined,
  });
  return answer(imports, presentImport);
};

export const listImportFaults: AdminHandler<"listImportFaults"> = async (deps, request) => {
  const { range, skip, answerAfterSkip } = request.page;
  const id = request.importId;
  const { state } = await findImport(storeOf(deps.db), id, importReach(request));
  const faults = state === "BROKEN" ? await listFaults(deps.db, id, { limit: range.limit, skip }) : [];
  return answerAfterSkip(faults, presentFault);
};

export const presentPersonImport = ({ classes, ...imported }: PersonImport) =>
  present("PersonImport", {
    ...imported,
    classesBefore: classes?.before ?? null,
    classesAfter: classes?.after ?? null,
  });

/** The schools whose imports a caller may see; undefined for all. */
export const schoolsOf = ({ all, schoolIds }: Reach) => (all ? undefined : [...schoolIds]);

export const listPersonImports: AdminHandler<"listPersonImports"> = async (deps, request) => {
  const { personId, reach, page } = request;
  await getReachedPerson(deps.db, reach, personId);
  const imports = await listOfPerson(deps.db, { personId, schoolIds: schoolsOf(reach), ...page.range });
  return page.answer(imports, presentPersonImport);
};
