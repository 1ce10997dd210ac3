import type { Prisma } from "../../generated/prisma/client.ts";
import type { Queryable, RecordStore } from "../platform/db.ts";
import { makeUuid } from "../platform/ids.ts";
import { insert, run, statement } from "../platform/sql.ts";

/**
 * When a change was asked for, by whom and in which request. The actor is a program or an operator, never somebody in
 * the directory.
 */
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

type AuditRow = Required<Prisma.AuditCreateManyInput>;

const rowOf = (line: AuditLine): AuditRow => ({
  id: makeUuid(line.at),
  at: line.at,
  action: line.action,
  actorId: line.actorId ?? null,
  clientId: line.clientId ?? null,
  personId: line.personId ?? null,
  schoolId: line.schoolId ?? null,
  requestId: line.requestId ?? null,
  detail: (line.detail ?? {}) as Prisma.InputJsonObject,
});

const insertAudit = statement<AuditRow>(
  ({ id, at, action, actorId, clientId, personId, schoolId, requestId, detail }) =>
    insert("audit", { id, at, action, actorId, clientId, personId, schoolId, requestId, detail }),
  "events.recordAudit",
);

/** An audit line as a statement, for work that runs it together with statements of its own. */
export function makeAuditStatement(line: AuditLine): { text: string; values: unknown[] } {
  return { text: insertAudit.text, values: insertAudit.values(rowOf(line)) };
}

/** Records an audit line: through Prisma Client in a change, by a named statement in work that has none. */
export async function recordAudit(tx: RecordStore | Queryable, line: AuditLine): Promise<void> {
  if ("prisma" in tx) await tx.prisma.audit.createMany({ data: [rowOf(line)] });
  else await run(tx, insertAudit, rowOf(line));
}

/**
 * SQL that records one audit line for each row of a relation with the columns id (a UUIDv7), at, client_id, person_id
 * and request_id.
 */
export const recordAuditFrom = (relation: string, action: string): string => `
  INSERT INTO audit (id, at, action, client_id, person_id, request_id)
  SELECT id, at, '${action}', client_id, person_id, request_id FROM ${relation}`;

/**
 * Takes a person's id out of every line about them; part of deleting the person for good.
 *
 * Shape: what stays says that something was done at a school or for an app, and when. Who deleted a person is found by
 *        the time of the tombstone.
 */
export async function forgetInAudit(tx: RecordStore, personId: string): Promise<void> {
  await tx.prisma.audit.updateMany({ where: { personId }, data: { personId: null } });
}
