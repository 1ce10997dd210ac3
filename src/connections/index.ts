/*
 * connections: fetches rosters from other programs, at set times, and imports them.
 *
 * Nouns:      roster connection (where the roster of schools comes from, when, and how far it goes by itself), source
 *             (a kind of program that a roster comes from), run (one fetch with its outcome and its import).
 * Invariants: a run is an import like an upload, with its preview, holds and undo; a source that cannot be read, or
 *             sends a part, nothing or another school changes nothing; a secret is sent to the address that it was
 *             typed for alone; every request is guarded and has limits of time and size; a connection runs once at a
 *             time, in any of the processes, and once for all the runs that it missed; memory does not grow with the
 *             roster.
 * Never knows: HTTP requests of ours, pages, who may set a connection up.
 */
export {
  createRosterConnectionIn,
  deleteConnectionsOf,
  deleteRosterConnectionIn,
  forgetLostRosterSecrets,
  reEncryptRosterSecrets,
  updateRosterConnectionIn,
} from "./change-connection.ts";
export {
  findSomeFailing,
  getRosterConnection,
  listRosterConnections,
  lockRosterConnection,
  rosterConnectionNotFound,
  type RosterConnection,
  type RosterConnectionId,
} from "./connection.ts";
export { describeRosterDrop, openRosterDrop } from "./drop/roster-drop.ts";
export { exportRoster, rosterFormats, type RosterFormat } from "./export/formats.ts";
export { makeRosterMail } from "./mail.ts";
export { makeRosterRuns, type RosterRuns } from "./roster-runs.ts";
export { listRosterRuns, type RosterRun } from "./runs.ts";
export { checkAddresses, settingNames } from "./settings.ts";
export { makeSources, type SourceKind } from "./sources/index.ts";
export type { SettingName } from "./sources/source.ts";
