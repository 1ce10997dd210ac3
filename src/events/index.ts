/*
 * events: facts, recorded in the transaction of the change that they describe. Its public API.
 *
 * Nouns:      audit entry (who did what, when), origin (who requested a change), app event (what one app is notified
 *             of), position (place in the order in which all readers read events).
 * Invariants: a fact commits or is rolled back with its change; audit entries contain ids and codes only, and change
 *             only when a person is deleted for good; positions are assigned after the commit, so that no reader
 *             misses an event.
 * Never knows: what a school, an app or a session is; names, addresses and tokens.
 */
export { appendAppEvents, appEventChannel, listWrittenEvents, takeBackAppEvents } from "./app-event.ts";
export type { WrittenEvent } from "./app-event.ts";
/** The actions of the audit log, which `openapi/schemas/AuditLine.yaml` lists. The pages have a text for each. */
export { auditActions, type AuditAction } from "../../generated/openapi/audit-actions.ts";
export {
  forgetInAudit,
  personActor,
  recordAct,
  recordAudit,
  recordAuditFrom,
  recordAuditLines,
  recordDifference,
  listAudit,
} from "./audit.ts";
export type { AuditLine, Origin, RecordedAudit } from "./audit.ts";
export { makeListEvents, listEventsOf } from "./feed.ts";
export type { AppEvent, AppEventAction, AppEventType, DeleteReason } from "./feed.ts";
export { restartFeed, sequenceEvents, sequenceSome, forgetEvents, makeEventSweepJob, sweepEvents } from "./sequence.ts";
export {
  dropAuditPartitions,
  listAuditPartitions,
  makeAuditPartitions,
  makeAuditSweepJob,
  sweepAudit,
} from "./audit-partitions.ts";
