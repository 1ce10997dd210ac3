import { Prisma } from "../../generated/prisma/client.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { fields, insert, literal, makeFind, pick, sql, table } from "../platform/database/sql.ts";
import type { Part, Queryable, Sql } from "../platform/database/sql.ts";
import type { AuditAction } from "../../generated/openapi/audit-actions.ts";

/** `actorId` is a program's name, or `person:` or `app:` with the caller's id. */
export type Origin = {
  at: Date;
  actorId?: string | undefined;
  actorRole?: string | undefined;
  requestId?: string | undefined;
};

export const personActor = (personId: string): string => `person:${personId}`;

export type AuditLine = Origin & {
  action: AuditAction;
  clientId?: string | undefined;
  personId?: string | undefined;
  schoolId?: string | null | undefined;
  /** Ids and codes only: never names, addresses or tokens. */
  detail?: Record<string, unknown> | undefined;
  /** The line of the act that this line is part of. */
  actId?: string | undefined;
};

const rowsAtOnce = 100;

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
  actId: line.actId ?? null,
});

export async function recordDifference(
  { prisma }: RecordStore,
  { at, requestId, personId }: { at: Date; requestId: string; personId?: string | null },
  { before, after }: { before: object | null; after: object | null },
): Promise<void> {
  const data = {
    ...(before !== null && { before: before as Prisma.InputJsonObject }),
    ...(after !== null && { after: after as Prisma.InputJsonObject }),
  };
  const where = { at, requestId, ...(personId !== undefined && { personId }) };
  await prisma.audit.updateMany({ where, data });
}

export async function recordAudit({ prisma }: RecordStore, line: AuditLine): Promise<void> {
  await prisma.audit.createMany({ data: [rowOf(line)] });
}

export async function recordAuditLines({ prisma }: RecordStore, lines: readonly AuditLine[]): Promise<void> {
  await createRows(prisma, lines.map(rowOf));
}

/** Writes in parts, because Prisma holds the event loop for the time of each statement. */
async function createRows(prisma: RecordStore["prisma"], rows: readonly AuditRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    await prisma.audit.createMany({ data: rows.slice(at, at + rowsAtOnce) });
  }
}

/** Records what one act did to several people: the log shows `act`, and the history of each person their own lines. */
export async function recordAct({ prisma }: RecordStore, act: AuditLine, lines: readonly AuditLine[]): Promise<void> {
  if (new Set(lines.map(({ personId }) => personId)).size < 2) return recordAuditLines({ prisma }, lines);
  const whole = rowOf(act);
  await createRows(prisma, [whole, ...lines.map((line) => rowOf({ ...line, actId: whole.id }))]);
}

const written = table("audit", "line");

/** SQL; `relation` has id (a UUIDv7), at, client_id, person_id, request_id and the columns of `more`. */
export const recordAuditFrom = (relation: Sql, action: AuditAction, more: readonly ("schoolId" | "detail")[] = []) =>
  insert(
    "audit",
    { ...pick(written, "id", "at", "clientId", "personId", "requestId", ...more), action: literal(action) },
    sql`FROM ${relation} line`,
  );

export async function forgetInAudit(tx: RecordStore, personId: string): Promise<void> {
  const nothing = { before: Prisma.DbNull, after: Prisma.DbNull };
  // Changes of one's own record have both ids; the index on actor_id only covers lines with a role.
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

type AuditFilter = {
  personId?: string | undefined;
  actorId?: string | undefined;
  schoolId?: string | undefined;
  clientId?: string | undefined;
  action?: string | undefined;
  among?: { schoolIds: readonly string[]; clientIds: readonly string[] } | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  after?: { at: Date; id: string } | undefined;
  isOldestFirst?: boolean | undefined;
  limit: number;
};

export type RecordedAudit = Prisma.AuditModel;

type Reached = {
  onlySchool?: string | undefined;
  onlyApp?: string | undefined;
  amongSchools?: readonly string[] | undefined;
  amongApps?: readonly string[] | undefined;
};
type Query = Omit<AuditFilter, "among" | "after" | "isOldestFirst"> &
  Reached & {
    lastAt: Date | undefined;
    lastId: string | undefined;
  };

const a = table("audit", "a");
const ids = pick(a, "id", "actorId", "actorRole", "clientId", "personId", "schoolId", "requestId", "actId");
const line = fields<RecordedAudit>({ ...ids, ...pick(a, "at", "action", "detail", "before", "after") });

/** SQL condition: the column has the value, or the filter was left out. */
const matchesFilter = (column: Sql, value: Part): Sql => sql`(${value} IS NULL OR ${column} = ${value})`;

// Without statistics PostgreSQL takes one line in 200 for one without an act, and would sort all lines of an app to
// find some. It estimates that `num_nulls` is not 0 for nearly all lines.
const isNoPartOfAct = sql`num_nulls(${a.actId}) <> 0`;

const makeList = ([order, isBehind]: [order: Sql, isBehind: Sql]) =>
  makeFind<RecordedAudit, Query>(
    (params) => sql`
    SELECT ${line} FROM ${a}
    WHERE ${matchesFilter(a.personId, sql`${params.personId}::uuid`)} AND ${matchesFilter(a.schoolId, sql`${params.schoolId}::uuid`)}
      AND ${matchesFilter(a.clientId, sql`${params.clientId}::text`)} AND ${matchesFilter(a.actorId, sql`${params.actorId}::text`)}
      AND ${matchesFilter(a.action, sql`${params.action}::text`)}
      AND (${params.personId}::uuid IS NOT NULL OR ${isNoPartOfAct})
      AND (${params.since}::timestamptz IS NULL OR ${a.at} >= ${params.since})
      AND (${params.until}::timestamptz IS NULL OR ${a.at} < ${params.until})
      AND (${params.lastAt}::timestamptz IS NULL OR (${a.at}, ${a.id}) ${isBehind} (${params.lastAt}, ${params.lastId}))
      AND ${matchesFilter(a.schoolId, sql`${params.onlySchool}::uuid`)} AND ${matchesFilter(a.clientId, sql`${params.onlyApp}::text`)}
      AND (${params.amongSchools}::uuid[] IS NULL AND ${params.amongApps}::text[] IS NULL
        OR ${params.amongSchools} IS NOT NULL AND ${a.schoolId} = ANY (${params.amongSchools})
        OR ${params.amongApps} IS NOT NULL AND ${a.clientId} = ANY (${params.amongApps}))
    ORDER BY ${a.at} ${order}, ${a.id} ${order} LIMIT ${params.limit}`,
  );
const listOldest = makeList([sql`ASC`, sql`>`]);
const listNewest = makeList([sql`DESC`, sql`<`]);

/** Limits the list to the caller's reach. One school or app becomes an equality, so that its index has the order. */
function reachedBy({ schoolIds, clientIds }: NonNullable<AuditFilter["among"]>, filter: Partial<Query>): Reached {
  if (schoolIds.includes(filter.schoolId ?? "") || clientIds.includes(filter.clientId ?? "")) return {};
  if (clientIds.length === 0)
    return schoolIds.length === 1 ? { onlySchool: schoolIds[0] } : { amongSchools: schoolIds };
  if (schoolIds.length === 0) return clientIds.length === 1 ? { onlyApp: clientIds[0] } : { amongApps: clientIds };
  return { amongSchools: schoolIds, amongApps: clientIds };
}

/** Lines of people that are part of an act of several are listed only for their person. */
export function listAudit(
  db: Queryable,
  { among, after, isOldestFirst = false, ...filter }: AuditFilter,
): Promise<RecordedAudit[]> {
  const list = isOldestFirst ? listOldest : listNewest;
  const reached = among === undefined ? {} : reachedBy(among, filter);
  return list(db, { ...filter, ...reached, lastAt: after?.at, lastId: after?.id });
}
