import type { SchoolId } from "../directory/index.ts";
import {
  confirmImport,
  findImport,
  joinGroups,
  lookAhead,
  setGroupMoves,
  type ImportStatus,
} from "../imports/index.ts";
import { storeOf } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import type { AdminDeps, AdminHandler, AdminRequest } from "./handler.ts";
import { changeByDifference, showDifference } from "./import-differences.ts";
import { countLeavers, importReach, presentImport } from "./import-record.ts";
import { refuseOtherSchool } from "./reached.ts";
import { presentViewChanges } from "./view-changes.ts";

export const applyImport: AdminHandler<"applyImport"> = async ({ db, imports }, request) => {
  const { importId: id, query, body, origin } = request;
  const find = () => findImport(storeOf(db), id, importReach(request));
  const before = await find();
  const { state, progress } = before;
  if (state === "APPLIED") return { status: 200, body: presentImport(before) };
  if (progress !== null && state !== "READING") return { status: 202, body: presentImport(before) };
  if (state === "READING") throw new AppError("conflict", "import_reading", "The file is still being read.");
  const { confirmLeavers } = body;
  if (confirmLeavers !== undefined && confirmLeavers !== countLeavers(before)) throw notConfirmed();
  if (state === "HELD" && confirmLeavers !== undefined) await confirmImport(db, id, origin);
  await imports.apply(id, origin, { inBackground: query["in-background"] === true });
  const after = await find();
  if (after.state === "APPLIED") return { status: 200, body: presentImport(after) };
  const going = { phase: "APPLYING" as const, percent: 0, place: null };
  return { status: 202, body: presentImport({ ...after, progress: after.progress ?? going }) };
};

const notConfirmed = () =>
  new AppError(
    "conflict",
    "leavers_not_confirmed",
    "The number of people who leave is another one. Look at the list of them and type how many they are.",
  );

export const cancelImport: AdminHandler<"cancelImport"> = async ({ db, imports }, request) => {
  const id = request.importId;
  await findImport(storeOf(db), id, importReach(request));
  await imports.cancel(id, request.origin);
  return { status: 204 };
};

async function findOfSchool(
  { db }: AdminDeps,
  request: Pick<AdminRequest<"previewImport">, "importId" | "query" | "reach" | "origin">,
): Promise<{ status: ImportStatus; schoolId: SchoolId | undefined }> {
  const { importId, query, reach } = request;
  const schoolId = query.school;
  const status = await findImport(storeOf(db), importId, importReach(request));
  if (schoolId !== undefined) refuseOtherSchool(reach, schoolId);
  return { status, schoolId };
}

export const joinImportGroups: AdminHandler<"joinImportGroups"> = async (deps, request) => {
  const { status, schoolId } = await findOfSchool(deps, request);
  const { sourceSystemIdentifier } = request.body;
  const groupId = request.body.groupId;
  const { holdShare } = deps.imports;
  const join = { schoolId, groupId, sourceSystemIdentifier, holdShare };
  await changeByDifference(deps, request, (db) => joinGroups(db, status, join, request.origin));
  return { status: 204 };
};

export const setImportGroupMoves: AdminHandler<"setImportGroupMoves"> = async (deps, request) => {
  const { status, schoolId } = await findOfSchool(deps, request);
  const { schoolYear, moves } = request.body;
  const { holdShare } = deps.imports;
  const given = { schoolId, schoolYear, moves, holdShare };
  await changeByDifference(deps, request, (db) => setGroupMoves(db, status, given, request.origin));
  return { status: 204 };
};

export const previewImport: AdminHandler<"previewImport"> = async (deps, request) => {
  const { status, schoolId } = await findOfSchool(deps, request);
  const given = { schoolId, restoreWindowDays: deps.restoreWindowDays };
  const body = await showDifference(deps, request, (db) =>
    lookAhead(db, status, given, request.origin, presentViewChanges),
  );
  return { status: 200, body };
};
