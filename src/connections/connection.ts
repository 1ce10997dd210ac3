import type { Prisma } from "../../generated/prisma/client.ts";
import type { SchoolId } from "../directory/index.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { makeRowLock } from "../platform/database/sql.ts";
import { AppError } from "../platform/errors.ts";
import { nextRunAfter, type RunFailure, type Day, type Schedule } from "./schedule.ts";
import type { SourceKind } from "./sources/index.ts";
import type { SourceSettings } from "./sources/source.ts";

export type RosterConnectionId = string & { readonly __rosterConnectionId: true };

export type RosterApplies = "PREVIEW" | "UNLESS_HELD";

export type RosterConnection = Schedule & {
  id: RosterConnectionId;
  name: string;
  kind: SourceKind;
  schoolIds: SchoolId[];
  settings: SourceSettings;
  hasSecret: boolean;
  applies: RosterApplies;
  notifyAddresses: string[];
  state: "ON" | "OFF";
  nextRunAt: Date | null;
  failingSince: Date | null;
  lastFailure: RunFailure | null;
  createdAt: Date;
  updatedAt: Date;
};

export const withSchools = { schools: { select: { schoolId: true }, orderBy: { schoolId: "asc" } } } as const;
export type ConnectionRow = Prisma.RosterConnectionGetPayload<{ include: typeof withSchools }>;

const dayText = (day: Date | null): string | null => day?.toISOString().slice(0, 10) ?? null;

export const scheduleOf = (row: ConnectionRow): Schedule => ({
  times: row.times,
  daysOff: row.daysOff as Day[],
  pauseFrom: dayText(row.pauseFrom),
  pauseUntil: dayText(row.pauseUntil),
});

export const nextRunOf = (row: ConnectionRow, after: Date): Date | null =>
  row.state === "ON" ? nextRunAfter(scheduleOf(row), after) : null;

export const schoolIdsOf = ({ schools }: ConnectionRow): SchoolId[] =>
  schools.map(({ schoolId }) => schoolId as SchoolId);

const present = (row: ConnectionRow): RosterConnection => ({
  ...scheduleOf(row),
  id: row.id as RosterConnectionId,
  name: row.name,
  kind: row.kind as SourceKind,
  schoolIds: schoolIdsOf(row),
  settings: row.settings as SourceSettings,
  hasSecret: row.secret !== null,
  applies: row.applies as RosterApplies,
  notifyAddresses: row.notifyAddresses,
  state: row.state as "ON" | "OFF",
  nextRunAt: row.nextRunAt,
  failingSince: row.failingSince,
  lastFailure: row.lastFailure as RunFailure | null,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});

export const rosterConnectionNotFound = () =>
  new AppError("not_found", "roster_connection_not_found", "There is no such roster connection.");

export const lockRosterConnection = makeRowLock("rosterConnection", "id", "connections.lock");

/** Errors: not_found roster_connection_not_found. */
export async function getConnectionRow({ prisma }: RecordStore, id: string): Promise<ConnectionRow> {
  const row = await prisma.rosterConnection.findUnique({ where: { id }, include: withSchools });
  if (row === null) throw rosterConnectionNotFound();
  return row;
}

/** Errors: not_found roster_connection_not_found. */
export const getRosterConnection = async (db: RecordStore, id: string): Promise<RosterConnection> =>
  present(await getConnectionRow(db, id));

/** `among`: connections all of whose schools are these; `atSchools`: those with one of these. */
type ConnectionFilter = {
  among?: readonly SchoolId[] | undefined;
  atSchools?: readonly SchoolId[] | undefined;
  isFailing?: boolean | undefined;
};

const matching = ({ among, atSchools, isFailing }: ConnectionFilter): Prisma.RosterConnectionWhereInput => ({
  AND: [
    among === undefined ? {} : { schools: { some: {}, every: { schoolId: { in: [...among] } } } },
    atSchools === undefined ? {} : { schools: { some: { schoolId: { in: [...atSchools] } } } },
    isFailing === undefined ? {} : { failingSince: isFailing ? { not: null } : null },
  ],
});

/** Oldest first. */
export async function listRosterConnections(
  { prisma }: RecordStore,
  { limit, after, ...filter }: ConnectionFilter & { limit: number; after?: string | undefined },
): Promise<RosterConnection[]> {
  const rows = await prisma.rosterConnection.findMany({
    where: { ...matching(filter), ...(after !== undefined && { id: { gt: after } }) },
    include: withSchools,
    orderBy: { id: "asc" },
    take: limit,
  });
  return rows.map(present);
}

/** Finds failing connections that are on; the longest failure comes first. */
export async function findSomeFailing(
  { prisma }: RecordStore,
  { limit, ...filter }: ConnectionFilter & { limit: number },
): Promise<{ count: number; first: RosterConnection[] }> {
  const where = { ...matching({ ...filter, isFailing: true }), state: "ON" };
  const orderBy = [{ failingSince: "asc" as const }, { id: "asc" as const }];
  const [count, rows] = await Promise.all([
    prisma.rosterConnection.count({ where }),
    prisma.rosterConnection.findMany({ where, include: withSchools, orderBy, take: limit }),
  ]);
  return { count, first: rows.map(present) };
}
