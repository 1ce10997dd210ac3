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
export { applyImport, confirmImport } from "./apply.ts";
export type { Counts } from "./counts.ts";
export { holdReasons, sumHolds, type Hold, type HoldCount, type HoldReason } from "./holds.ts";
export { listGroupChanges, type GroupChange, type GroupStep } from "./listed-groups.ts";
export { setGroupMoves } from "./group-moves.ts";
export { joinGroups } from "./join-groups.ts";
export { leaveOutFaultyRows } from "./leave-out.ts";
export { listFaultyRows, type FaultyRow } from "./faulty-rows.ts";
export { lookAhead } from "./look-ahead.ts";
export {
  listCarriedOver,
  listGroupMoves,
  listLookAlikes,
  type ExistingGroup,
  type GroupMove,
  type RosterGroup,
} from "./look-alikes.ts";
export { refreshImport } from "./refresh.ts";
export { chooseSchool, withDifference } from "./listed.ts";
export { listPeopleOfImport, personKinds, type PersonKind, type PersonOfImport } from "./listed-people.ts";
export { findImport, findSomeImports, listImportsOf, type ImportReach, type ImportStatus } from "./find.ts";
export { chooseScope, type ImportFormat, type ImportMode, type ImportPeople } from "./formats/format.ts";
export { listPersonImports, makePersonImportSweep, type PersonImport } from "./of-person.ts";
export { columnUses } from "./formats/words.ts";
export { plainTemplate, reasonHeadings } from "./formats/plain.ts";
export { previewImport, type NewImport } from "./preview.ts";
export { getImport, listImportFaults, type ImportFault, type ImportId, type ImportRecord } from "./record.ts";
export type { ImportState } from "./states.ts";
export { remedyOf } from "./remedies.ts";
export { makeImportRequests, type ImportRequests } from "./requests.ts";
export { maxFaults } from "./staging.ts";
export { listWarnings, type WarningKind } from "./warnings.ts";
export { makeImportSweep } from "./sweep.ts";
export { confirmUndo, listUndo, previewUndo, undoImport } from "./undo.ts";
export type { UndoEntry, UndoReason, UndoStep } from "./undo-plan.ts";
export {
  deleteColumnMapping,
  getUpload,
  listColumnMappings,
  shownEncoding,
  type KeptMapping,
  type Upload,
} from "./unmapped.ts";
export { separators, type SeparatorName } from "./read/csv.ts";
