import {
  confirmImport,
  confirmUndo,
  findImport,
  joinGroups,
  listUndo,
  lookAhead,
  previewUndo,
  refreshImport,
  setGroupMoves,
  sumHolds,
  type ImportStatus,
  type UndoEntry,
} from "../../imports/index.ts";
import { storeOf } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { present, type AdminHandler } from "../handler.ts";
import { presentViewChanges } from "../view-changes.ts";
import { changeByDifference, showDifference } from "./import-record.ts";
import { countLeavers, findOfSchool, importReach, presentImport } from "./import-record.ts";

export const applyImport: AdminHandler<"applyImport"> = async ({ db, imports }, request) => {
  const { importId: id, query, body, origin } = request;
  const find = () => findImport(storeOf(db), id, importReach(request));
  const before = await find();
  const { state, progress } = before;
  if (state === "APPLIED") return { status: 200, body: presentImport(before) };
  if (progress !== null && state !== "READING") return { status: 202, body: presentImport(before) };
  if (state === "READING") throw new AppError("conflict", "import_reading", "The file is still being read.");
  const { confirmLeavers, confirmHolds } = body;
  if (confirmLeavers !== undefined && confirmLeavers !== countLeavers(before)) throw notConfirmed();
  const holds = sumHolds(before.schools);
  const isOfLeavers = holds.every(({ reason }) => reason === "LEAVERS" || reason === "GROUPS_ENDED");
  const confirmed = confirmHolds ?? (confirmLeavers !== undefined && isOfLeavers ? holds : undefined);
  if (state === "HELD" && confirmed !== undefined) await confirmImport(db, id, origin, confirmed);
  await imports.apply(id, origin, { inBackground: query["in-background"] === true });
  return answerRun(await find(), "APPLIED", "APPLYING");
};

function answerRun(after: ImportStatus, done: ImportStatus["state"], phase: "APPLYING" | "UNDOING") {
  if (after.state === done) return { status: 200 as const, body: presentImport(after) };
  const progress = after.progress ?? { phase, percent: 0, place: null };
  return { status: 202 as const, body: presentImport({ ...after, progress }) };
}

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

export const joinImportGroups: AdminHandler<"joinImportGroups"> = async (deps, request) => {
  const { status, schoolId } = await findOfSchool(deps, request);
  const join = { schoolId, ...request.body, holdShare: deps.imports.holdShare };
  await changeByDifference(deps, request, (db) => joinGroups(db, status, join, request.origin));
  return { status: 204 };
};

export const compareImport: AdminHandler<"compareImport"> = async (deps, request) => {
  const { status, schoolId } = await findOfSchool(deps, request);
  const options = { schoolId, holdShare: deps.imports.holdShare };
  await changeByDifference(deps, request, (db) => refreshImport(db, status, options, request.origin.at));
  return { status: 200, body: presentImport(await findImport(storeOf(deps.db), status.id, importReach(request))) };
};

export const setImportGroupMoves: AdminHandler<"setImportGroupMoves"> = async (deps, request) => {
  const { status, schoolId } = await findOfSchool(deps, request);
  const options = { schoolId, ...request.body, holdShare: deps.imports.holdShare };
  await changeByDifference(deps, request, (db) => setGroupMoves(db, status, options, request.origin));
  return { status: 204 };
};

export const previewImport: AdminHandler<"previewImport"> = async (deps, request) => {
  const { status, schoolId } = await findOfSchool(deps, request);
  const { restoreWindowDays, retentionRules } = deps;
  const options = { schoolId, restoreWindowDays, leftMonths: retentionRules.defaults.leftMonths };
  const body = await showDifference(deps, request, (db) =>
    lookAhead(db, status, options, request.origin, presentViewChanges),
  );
  return { status: 200, body };
};

export const previewImportUndo: AdminHandler<"previewImportUndo"> = async (deps, request) => {
  const { status, schoolId } = await findOfSchool(deps, request);
  const options = { schoolId, restoreWindowDays: deps.restoreWindowDays };
  const { preview, looked } = await showDifference(deps, request, (db) =>
    previewUndo(db, status, options, request.origin, presentViewChanges),
  );
  return { status: 200, body: present("ImportUndo", { ...preview, viewChanges: looked }) };
};

function presentEntry({ isPerson, name, classes, ...entry }: UndoEntry) {
  const [firstFull, firstCall, last] = Array.isArray(name) ? name : [null, null, null];
  const isNamed = firstFull !== null && firstCall !== null && last !== null;
  return present("ImportUndoEntry", {
    ...entry,
    kind: isPerson ? "PERSON" : "GROUP",
    personName: isNamed ? { firstFull, firstCall, last } : null,
    groupName: Array.isArray(name) ? null : name,
    classesNow: classes.now,
    classesThen: classes.then,
  });
}

export const listImportUndoEntries: AdminHandler<"listImportUndoEntries"> = async (deps, request) => {
  const { query, origin, page } = request;
  const { status, schoolId } = await findOfSchool(deps, request);
  const part = { after: page.position<[sortKey: string, id: string]>(), limit: page.range.limit, now: origin.at };
  const filter = { schoolId, isKept: query.kept === true, ...part };
  const entries = await showDifference(deps, request, (db) => listUndo(db, status, filter));
  return page.answer(entries, presentEntry, ({ sortKey, id }) => [sortKey, id]);
};

export const undoImport: AdminHandler<"undoImport"> = async (deps, request) => {
  const { importId: id, query, body, origin } = request;
  const find = () => findImport(storeOf(deps.db), id, importReach(request));
  const before = await find();
  if (before.progress !== null && before.state === "APPLIED") return { status: 202, body: presentImport(before) };
  const confirmation = { confirmed: body.confirmKept, now: origin.at };
  const keptCounts = await changeByDifference(deps, request, (db) => confirmUndo(db, id, confirmation));
  await deps.imports.undo(id, keptCounts, origin, { inBackground: query["in-background"] === true });
  return answerRun(await find(), "UNDONE", "UNDOING");
};
