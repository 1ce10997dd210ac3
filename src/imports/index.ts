/*
 * imports: brings rosters of other programs into the directory.
 *
 * Nouns:      import (one uploaded roster), staged row (a record as read from the file), fault (an error with its
 *             position), difference (the effect on a school), preview, hold, carry-over (a group that gets a new id).
 * Invariants: a roster with a fault changes nothing, unless its faulty rows are left out, whose people stay; preview
 *             and import compute the difference with the same statements; a school changes in one transaction;
 *             applying the same roster again changes nothing and writes no audit entry; status changes follow the
 *             directory's transitions; an import removes only people whom both the uploader and the applier may
 *             remove, and never the last operator; it never changes people and groups without a source id; carried-over
 *             people and groups keep their ids; memory does not grow with the file.
 * Never knows: HTTP, sign-on, who may upload a roster.
 */
export { applyImport, confirmImport } from "./apply/apply.ts";
export { sumHolds } from "./difference/holds.ts";
export { listGroupChanges, type GroupChange } from "./difference/listed-groups.ts";
export {
  chooseSchool,
  joinGroups,
  leaveOutFaultyRows,
  refreshImport,
  setGroupMoves,
  withDifference,
} from "./preview/waiting.ts";
export { listFaultyRows, type FaultyRow } from "./rows/faulty-rows.ts";
export { lookAhead } from "./apply/part.ts";
export { listCarriedOver, listGroupMoves, listLookAlikes } from "./difference/look-alikes.ts";
export type { GroupMove } from "./difference/look-alikes.ts";
export { listPeopleOfImport, type PersonOfImport } from "./difference/listed-people.ts";
export { chooseScope, type ImportFormat, type ImportMode, type ImportPeople, schoolYearOf } from "./formats/format.ts";
export { listPersonImports, makePersonImportSweep, type PersonImport } from "./apply/of-person.ts";
export { groupColumns, idsHeading, joinList, plainTemplate, reasonHeadings } from "./formats/plain.ts";
export { columnUses } from "./formats/words.ts";
export { type NewImport } from "./preview/begin.ts";
export { previewImport } from "./preview/read-import.ts";
export {
  findImport,
  findSomeImports,
  getImport,
  holdReasons,
  listImportFaults,
  listImportsOf,
  type Counts,
  type HoldCount,
  type ImportFault,
  type ImportId,
  type ImportReach,
  type ImportRecord,
  type ImportStatus,
} from "./state/record.ts";
export { remedyOf } from "./rows/fault-lines.ts";
export { makeImportRequests, type ImportRequests } from "./requests.ts";
export { maxFaults } from "./formats/staging.ts";
export { listWarnings } from "./rows/warnings.ts";
export { makeImportSweep } from "./sweep.ts";
export { confirmUndo, listUndo, previewUndo, undoImport } from "./undo/undo.ts";
export type { UndoEntry } from "./undo/plan.ts";
export { deleteColumnMapping, getUpload, listColumnMappings, shownEncoding } from "./preview/unmapped.ts";
export type { KeptMapping, Upload } from "./preview/unmapped.ts";
export { separators, type SeparatorName } from "./read/csv.ts";
export { readJsonRecords } from "./read/json.ts";
