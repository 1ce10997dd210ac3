import { Prisma } from "../../generated/prisma/client.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { insert, literal, sql, type Sql } from "../platform/database/sql.ts";

/**
 * When a change was asked for, by whom and in which request.
 *
 * Shape: `actorId` is the name of a program, or `person:` or `app:` with the id of who called the admin API;
 *        `actorRole` is the staff role in which they did.
 */
export type Origin = {
  at: Date;
  actorId?: string | undefined;
  actorRole?: string | undefined;
  requestId?: string | undefined;
};

/** Names a person of the staff as an actor. */
export const personActor = (personId: string): string => `person:${personId}`;

export type AuditLine = Origin & {
  /** Past tense in snake_case: `signed_in`, `consent_given`. */
  action: string;
  clientId?: string | undefined;
  personId?: string | undefined;
  schoolId?: string | null | undefined;
  /** Ids and codes only: never names, addresses or tokens. */
  detail?: Record<string, unknown> | undefined;
};

type AuditRow = Omit<Required<Prisma.AuditCreateManyInput>, "before" | "after">;

const rowOf = (line: AuditLine): AuditRow => ({
  id: makeUuid(line.at),
  at: line.at,
  action: line.action,
  actorId: line.actorId ?? null,
  actorRole: line.actorRole ?? null,
  clientId: line.clientId ?? null,
  personId: line.personId ?? null,
  schoolId: line.schoolId ?? null,
  requestId: line.requestId ?? null,
  detail: (line.detail ?? {}) as Prisma.InputJsonObject,
});

/**
 * Adds what changed to the lines that a change recorded, in its transaction.
 *
 * Shape: the lines of one request; `before` and `after` hold the properties that differ, and no secrets.
 */
export async function recordDifference(
  { prisma }: RecordStore,
  { at, requestId }: { at: Date; requestId: string },
  { before, after }: { before: object | null; after: object | null },
): Promise<void> {
  const data = {
    ...(before !== null && { before: before as Prisma.InputJsonObject }),
    ...(after !== null && { after: after as Prisma.InputJsonObject }),
  };
  await prisma.audit.updateMany({ where: { at, requestId }, data });
}

/** Records an audit line, in the transaction of what it says. */
export async function recordAudit({ prisma }: RecordStore, line: AuditLine): Promise<void> {
  await prisma.audit.createMany({ data: [rowOf(line)] });
}

/** Records several audit lines, in the transaction of what they say. */
export async function recordAuditLines({ prisma }: RecordStore, lines: readonly AuditLine[]): Promise<void> {
  await prisma.audit.createMany({ data: lines.map(rowOf) });
}

/**
 * SQL that records one audit line for each row of a relation.
 *
 * Shape: the relation has the columns id (a UUIDv7), at, client_id, person_id and request_id.
 */
export const recordAuditFrom = (relation: Sql, action: string): Sql =>
  insert(
    "audit",
    {
      id: sql`line.id`,
      at: sql`line.at`,
      action: literal(action),
      clientId: sql`line.client_id`,
      personId: sql`line.person_id`,
      requestId: sql`line.request_id`,
    },
    sql`FROM ${relation} line`,
  );

/**
 * Takes a person's id out of every line about them and by them, and what changed of them; part of deleting the person
 * for good.
 *
 * Shape: what stays says that something was done at a school or for an app, and when. Who deleted a person is found by
 *        the time of the tombstone.
 */
export async function forgetInAudit(tx: RecordStore, personId: string): Promise<void> {
  const nothing = { before: Prisma.DbNull, after: Prisma.DbNull };
  // What people did to their own record in no role stands under both ids; the index of actors has roles only.
  await tx.prisma.audit.updateMany({
    where: { personId, actorId: personActor(personId) },
    data: { actorId: "person" },
  });
  await tx.prisma.audit.updateMany({ where: { personId }, data: { personId: null, ...nothing } });
  await tx.prisma.audit.updateMany({
    where: { actorId: personActor(personId), actorRole: { not: null } },
    data: { actorId: "person" },
  });
}
