/*
 * imports: brings rosters of other programs into the directory.
 *
 * Nouns:      import (one roster handed in), staged row (a record of the file as it was read), fault (what is wrong,
 *             with its place), difference (what the import would do to a school), preview, hold, carry-over (a group
 *             that goes on under a new id).
 * Invariants: a roster with one fault changes nothing; preview and import work out the difference with the same
 *             statements; a school changes in one transaction or not at all; the same roster twice changes nothing, and
 *             where nothing changes there is no audit line; what a status allows comes from the directory's
 *             transitions; nobody is removed whom those who hand a roster in and apply it may not remove, and never the
 *             last operator; people and groups without a source id were made here and are never touched; ids of people
 *             and groups that go on stay the same; memory does not grow with the file.
 * Never knows: HTTP, sign-on, who may hand in a roster.
 */
export type { ApplyRules } from "./apply-part.ts";
export { applyImport, confirmImport } from "./apply.ts";
export type { Counts, Samples } from "./counts.ts";
export { cancelImport } from "./cancel.ts";
export { listGroupChanges } from "./listed-groups.ts";
export type { GroupChange, GroupStep } from "./listed-groups.ts";
export { setGroupMoves } from "./group-moves.ts";
export { joinGroups } from "./join-groups.ts";
export { lookAhead } from "./look-ahead.ts";
export { listGroupMoves, listLookAlikes } from "./look-alikes.ts";
export type { ExistingGroup, GroupMove, LookAlike, RosterGroup } from "./look-alikes.ts";
export { listLeavers, withDifference } from "./listed.ts";
export type { Leaver } from "./listed.ts";
export { findImport, listImportsOf } from "./find.ts";
export type { ImportReach, ImportStatus } from "./find.ts";
export type { ImportFormat, ImportMode } from "./formats/format.ts";
export { listPersonImports, makePersonImportSweep } from "./of-person.ts";
export type { PersonImport } from "./of-person.ts";
export { previewImport, sampleImport } from "./preview.ts";
export type { NewImport } from "./preview.ts";
export type { OnProgress, Progress } from "./progress.ts";
export { getImport, listImportFaults, listImports, removeStaged } from "./record.ts";
export type { ImportFault, ImportId, ImportRecord, ImportState } from "./record.ts";
export { remedyOf } from "./remedies.ts";
export { makeImportRequests } from "./requests.ts";
export type { ImportRequests } from "./requests.ts";
export type { GiveUserNames } from "./roster-names.ts";
export { maxFaults } from "./staging.ts";
export { makeImportSweep } from "./sweep.ts";
export { plainTemplate } from "./template.ts";
