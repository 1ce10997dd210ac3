import type { Queryable } from "../platform/db.ts";
import { makeUuid } from "../platform/ids.ts";

/** When a change was asked for, by whom and in which request. The actor is a program or an operator, never somebody in the directory. */
export type Origin = { at: Date; actorId?: string | undefined; requestId?: string | undefined };

export type AuditLine = Origin & {
  /** Past tense in snake_case: `signed_in`, `consent_given`. */
  action: string;
  clientId?: string | undefined;
  personId?: string | undefined;
  schoolId?: string | undefined;
  /** Ids and codes only: never names, addresses or tokens. */
  detail?: Record<string, unknown> | undefined;
};

const insertAudit = `
  INSERT INTO audit (id, at, action, actor_id, client_id, person_id, school_id, request_id, detail)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

/** The audit line as a statement, for those who write it together with their own. */
export function makeAuditStatement(line: AuditLine): { text: string; values: unknown[] } {
  return {
    text: insertAudit,
    values: [
      makeUuid(line.at),
      line.at,
      line.action,
      line.actorId,
      line.clientId,
      line.personId,
      line.schoolId,
      line.requestId,
      JSON.stringify(line.detail ?? {}),
    ],
  };
}

/** SQL that records one audit line for each row of a relation with the columns id (a UUIDv7), at, client_id, person_id and request_id. */
export const recordAuditFrom = (relation: string, action: string): string => `
  INSERT INTO audit (id, at, action, client_id, person_id, request_id)
  SELECT id, at, '${action}', client_id, person_id, request_id FROM ${relation}`;

export async function recordAudit(tx: Queryable, line: AuditLine): Promise<void> {
  await tx.query({ name: "events.recordAudit", ...makeAuditStatement(line) });
}

/**
 * Takes a person's id out of every line about them; part of deleting the person for good.
 *
 * What stays says that something was done at a school or for an app, and when. Who deleted a person is found by the
 * time of the tombstone.
 */
export async function forgetInAudit(tx: Queryable, personId: string): Promise<void> {
  await tx.query({
    name: "events.forgetInAudit",
    text: "UPDATE audit SET person_id = NULL WHERE person_id = $1",
    values: [personId],
  });
}
