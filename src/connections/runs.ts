import type { Prisma } from "../../generated/prisma/client.ts";
import type { HoldCount, ImportId } from "../imports/index.ts";
import type { RecordStore } from "../platform/database/db.ts";
import type { RosterConnectionId } from "./connection.ts";
import type { RunFailure } from "./schedule.ts";

export type RunTrigger = "SCHEDULE" | "HAND" | "ARRIVAL" | "TEST";
export type RunOutcome = "RUNNING" | "APPLIED" | "WAITING" | "HELD" | "UNCHANGED" | "TESTED" | "FAILED";

export type RunCounts = Record<
  | ("peopleNow" | "peopleCreated" | "peopleChanged" | "leavers")
  | ("groupsNow" | "groupsCreated" | "groupsRemoved" | "faults" | "warnings"),
  number
> & { holds: HoldCount[] };

export type RosterRun = {
  id: string;
  connectionId: RosterConnectionId;
  trigger: RunTrigger;
  outcome: RunOutcome;
  failure: RunFailure | null;
  detail: string | null;
  counts: RunCounts | null;
  importId: ImportId | null;
  replacedImportId: ImportId | null;
  startedAt: Date;
  endedAt: Date | null;
};

const present = (row: Prisma.RosterRunModel): RosterRun => ({
  id: row.id,
  connectionId: row.connectionId as RosterConnectionId,
  trigger: row.trigger as RunTrigger,
  outcome: row.outcome as RunOutcome,
  failure: row.failure as RunFailure | null,
  detail: row.detail,
  counts: row.counts as RunCounts | null,
  importId: row.importId as ImportId | null,
  replacedImportId: row.replacedImportId as ImportId | null,
  startedAt: row.startedAt,
  endedAt: row.endedAt,
});

/** Latest first. */
export async function listRosterRuns(
  { prisma }: RecordStore,
  { connectionId, limit, after }: { connectionId: RosterConnectionId; limit: number; after?: string | undefined },
): Promise<RosterRun[]> {
  const rows = await prisma.rosterRun.findMany({
    where: { connectionId, ...(after !== undefined && { id: { lt: after } }) },
    orderBy: { id: "desc" },
    take: limit,
  });
  return rows.map(present);
}

export const getRosterRun = async ({ prisma }: RecordStore, id: string): Promise<RosterRun> =>
  present(await prisma.rosterRun.findUniqueOrThrow({ where: { id } }));

/** The last run that has an import, and the state of that; null if there is none. */
export async function findLastImport(
  { prisma }: RecordStore,
  connectionId: string,
): Promise<{ id: ImportId; state: string } | null> {
  const run = await prisma.rosterRun.findFirst({
    where: { connectionId, importId: { not: null } },
    orderBy: { id: "desc" },
    select: { importId: true },
  });
  if (run === null) return null;
  const row = await prisma.import.findUnique({ where: { id: run.importId! }, select: { state: true } });
  return row === null ? null : { id: run.importId as ImportId, state: row.state };
}
