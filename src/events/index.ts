/*
 * events: facts that happened, written in the transaction of the change that they tell of.
 *
 * Nouns:      audit line (who did what, when), origin (who and what a change comes from).
 * Invariants: a fact commits or vanishes with its change; lines are only added, and hold ids and codes only.
 * Never knows: what a school, an app or a session is; names, addresses and tokens of anybody.
 */
export { makeAuditStatement, recordAudit } from "./audit.ts";
export type { AuditLine, Origin } from "./audit.ts";
