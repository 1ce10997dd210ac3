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

type Coded = {
  connectionId: RosterConnectionId;
  trigger: RunTrigger;
  outcome: RunOutcome;
  failure: RunFailure | null;
  counts: RunCounts | null;
  importId: ImportId | null;
  replacedImportId: ImportId | null;
};
const omit = { notice: true, noticeDueAt: true, noticeTries: true, noticeTold: true } as const;

export type RosterRun = Omit<Prisma.RosterRunModel, keyof Coded | keyof typeof omit> & Coded;

/** Latest first. */
export async function listRosterRuns(
  { prisma }: RecordStore,
  { connectionId, limit, after }: { connectionId: RosterConnectionId; limit: number; after?: string | undefined },
): Promise<RosterRun[]> {
  const rows = await prisma.rosterRun.findMany({
    where: { connectionId, ...(after !== undefined && { id: { lt: after } }) },
    orderBy: { id: "desc" },
    take: limit,
    omit,
  });
  return rows as RosterRun[];
}

export const getRosterRun = async ({ prisma }: RecordStore, id: string): Promise<RosterRun> =>
  (await prisma.rosterRun.findUniqueOrThrow({ where: { id }, omit })) as RosterRun;

/** The last run that has an import, and the state of that; null if there is none. */
export async function findLastImport({ prisma }: RecordStore, connectionId: string) {
  const run = await prisma.rosterRun.findFirst({
    where: { connectionId, importId: { not: null } },
    orderBy: { id: "desc" },
    select: { importId: true },
  });
  if (run === null) return null;
  const row = await prisma.import.findUnique({ where: { id: run.importId! }, select: { state: true } });
  return row === null ? null : { id: run.importId as ImportId, state: row.state };
}
