/*
 * events: facts that happened, written in the transaction of the change that they describe. Its public API.
 *
 * Nouns:      audit line (who did what, when), origin (who and what a change comes from), app event (what one app is
 *             notified of), position (its place in the one order in which events are read).
 * Invariants: a fact commits or is rolled back with its change; audit lines hold ids and codes only and do not change,
 *             except that they lose the id of a person who is deleted for good; they are removed after AUDIT_DAYS;
 *             positions are given after the commit, so that no reader passes an event by.
 * Never knows: what a school, an app or a session is; names, addresses and tokens of anybody.
 */
export {
  appendAppEvents,
  appEventChannel,
  eventProperties,
  listWrittenEvents,
  takeBackAppEvents,
} from "./app-event.ts";
export type { EventProperty, WrittenEvent } from "./app-event.ts";
export {
  forgetInAudit,
  personActor,
  recordAudit,
  recordAuditFrom,
  recordAuditLines,
  recordDifference,
} from "./audit.ts";
export type { AuditLine, Origin } from "./audit.ts";
export { listEvents } from "./feed.ts";
export type { AppEvent, AppEventAction, AppEventType, DeleteReason, Events } from "./feed.ts";
export { listAudit } from "./list-audit.ts";
export type { AuditFilter, RecordedAudit } from "./list-audit.ts";
export { listEventsOf } from "./of-subject.ts";
export { forgetEventsOf } from "./forget.ts";
export { restartFeed } from "./restart-feed.ts";
export { sequenceEvents, sequenceSome } from "./sequence.ts";
export { dropAuditPartitions, listAuditPartitions, makeAuditPartitions } from "./audit-partitions.ts";
export { makeAuditSweepJob, sweepAudit } from "./sweep-audit.ts";
export { makeEventSweepJob, sweepEvents } from "./sweep.ts";
