import type { Prisma } from "../../../generated/prisma/client.ts";
import type { SchoolId } from "../../directory/index.ts";
import type { RecordStore, Store } from "../../platform/database/db.ts";
import { makeFind, sql, table, type Queryable, type Parameters } from "../../platform/database/sql.ts";
import type { ImportFormat, ImportMode, ImportPeople, Subject } from "../formats/format.ts";
import { importNotFound, type ImportState, type SchoolState } from "./states.ts";
import { versionOfSchool } from "../../access/index.ts";
import { findApplying } from "./lease.ts";
import { findQueue } from "./queue.ts";

/** Numbers of rows; `withoutId` counts the faulty ones of which nobody can tell whose they are. */
export type RowCounts = { readable: number; faulty: number; withoutId: number };

/** `left` are guests, `leftHome` get another home; `before` counts active people of this home and groups. */
export type Counts = {
  people: Record<"created" | "changed" | "restored" | "removed" | "joined" | "left" | "leftHome", number>;
  groups: Record<"created" | "changed" | "carriedOver" | "restored" | "removed", number>;
  memberships: Record<"created" | "changed" | "removed", number>;
  before: Record<"people" | "groups", number>;
  kept?: number;
  lists?: ListCounts;
};

/** How long the lists are that no other number of the preview tells. */
export type ListCounts = Record<
  "renamed" | "classesChanged" | "groupsChanged" | "withoutClass" | "losingClasses",
  number
>;

export const holdReasons = [
  "LEAVERS",
  "GROUPS_ENDED",
  "NAMES_CHANGED",
  "CLASSES_LEFT",
  "CLASSES_ENDED",
  "OTHER_SCHOOL",
] as const;
export type HoldReason = (typeof holdReasons)[number];

/**
 * Something unusual that somebody must confirm before an import is applied to a school.
 *
 * Shape: `names` are those of classes or of the other school; people are listed elsewhere, and not kept here.
 */
export type Hold = { reason: HoldReason; count: number; of: number; names: string[] };
export type HoldCount = Pick<Hold, "reason" | "count">;

export type ImportId = string & { readonly __importId: true };

// The database types codes and JSON as text.
type Coded = {
  id: ImportId;
  format: ImportFormat;
  mode: ImportMode;
  people: ImportPeople;
  state: ImportState;
  notes: Record<string, number>;
  speaksOf: Subject[];
  schools: {
    id: SchoolId;
    name: string;
    state: SchoolState;
    counts: Counts;
    holds: Hold[];
    comparedAt: Date | null;
    undoUntil: Date | null;
  }[];
  rows: RowCounts | null;
};

type Row = Prisma.ImportGetPayload<{ select: typeof recordFields }>;

export type ImportRecord = Omit<Row, keyof Coded> & Coded;

export type ImportFault = Omit<Prisma.ImportErrorModel, "importId" | "row" | "record" | "lineText"> & {
  text: string | null;
};

const recordFields = {
  id: true,
  format: true,
  mode: true,
  people: true,
  speaksOf: true,
  state: true,
  fileName: true,
  schoolYear: true,
  errorCount: true,
  notes: true,
  rows: true,
  headings: true,
  warningCount: true,
  createdAt: true,
  appliedAt: true,
  undoneAt: true,
  schools: {
    select: {
      schoolId: true,
      school: { select: { name: true } },
      state: true,
      counts: true,
      holds: true,
      comparedAt: true,
      undoUntil: true,
    },
    orderBy: { schoolId: "asc" },
  },
} as const;

const present = ({ schools, ...row }: Row) =>
  ({
    ...row,
    schools: schools.map(({ schoolId, school, ...rest }) => ({ id: schoolId, name: school.name, ...rest })),
  }) as ImportRecord;

export async function getImport({ prisma }: RecordStore, id: ImportId): Promise<ImportRecord> {
  const row = await prisma.import.findUnique({ where: { id }, select: recordFields });
  if (row === null) throw importNotFound();
  return present(row);
}

export async function listImportFaults(
  { prisma }: RecordStore,
  importId: ImportId,
  { limit = 1000, skip = 0 } = {},
): Promise<ImportFault[]> {
  const faults = await prisma.importError.findMany({
    where: { importId },
    orderBy: [{ file: "asc" }, { line: "asc" }, { column: { sort: "asc", nulls: "first" } }, { row: "asc" }],
    take: limit,
    skip,
    omit: { importId: true, row: true, record: true },
  });
  return faults.map(({ lineText, ...fault }) => ({ ...fault, text: lineText }));
}

export type SchoolPart = {
  importId: string;
  schoolId: SchoolId;
  schools: readonly SchoolId[];
  format: ImportFormat;
  mode: ImportMode;
  people: ImportPeople;
  speaksOf: readonly Subject[];
  schoolYear: string;
  now: Date;
  /** Only for display, with a shorter timeout. */
  isShown?: boolean;
  /** Nobody is removed whom this actor, or the uploader, may not remove. */
  appliedBy?: string | undefined;
};

export function makePart(
  { id, format, mode, people, speaksOf, schoolYear, schools }: ImportRecord,
  schoolId: SchoolId,
  now: Date,
): SchoolPart {
  const all = schools.map((school) => school.id);
  return { importId: id, schoolId, schools: all, format, mode, people, speaksOf, schoolYear, now };
}

/** Imports of these schools only; of imports without schools, those of the actor. */
export type ImportReach = { schoolIds: readonly SchoolId[]; actorId: string };

export type ImportStatus = Omit<ImportRecord, "schools"> & {
  /** `isOutdated`: people or groups of the school have changed since the numbers of the waiting import were made. */
  schools: (ImportRecord["schools"][number] & { isOutdated: boolean })[];
  progress: {
    phase: "WAITING" | "READING" | "CHECKING" | "COMPARING" | "APPLYING" | "UNDOING";
    percent: number;
    place: number | null;
  } | null;
  namedSchoolIds: SchoolId[];
};

type ImportFilter = {
  /** At least one of these. */
  schoolIds?: readonly SchoolId[] | undefined;
  state?: ImportState | undefined;
  isWaiting?: boolean | undefined;
  among?: ImportReach | undefined;
  after?: ImportId | undefined;
  limit: number;
};

const i = table("import", "i");

/** SQL: READING until everything has been compared. */
const shownState = sql`CASE WHEN ${i.progressPhase} IS NULL OR ${i.state} = 'CANCELLED' THEN ${i.state} ELSE 'READING' END`;

type StatusRow = Pick<ImportStatus, "id" | "state" | "namedSchoolIds"> & {
  phase: "READING" | "CHECKING" | "COMPARING" | null;
  percent: number | null;
};
type StatusFilter = Omit<ImportFilter, "among"> & { id?: ImportId | undefined };
type StatusQuery = StatusFilter & { isAll: boolean; reached: readonly SchoolId[]; actorId: string };

const listed = ({ id, schoolIds, state, isWaiting, isAll, reached, actorId, after }: Parameters<StatusQuery>) => sql`
  ${i} WHERE (${id}::uuid IS NULL OR ${i.id} = ${id}) AND (${after}::uuid IS NULL OR ${i.id} < ${after})
    AND (${schoolIds}::uuid[] IS NULL OR ${i.namedSchoolIds} && ${schoolIds})
    AND (${state}::text IS NULL OR ${shownState} = ${state})
    AND (${isWaiting}::boolean IS NULL OR (${shownState} IN ('UNMAPPED', 'READY', 'HELD')) = ${isWaiting})
    AND (${isAll} OR ${i.namedSchoolIds} <@ ${reached}::uuid[]
      AND (cardinality(${i.namedSchoolIds}) > 0 OR ${i.actorId} = ${actorId}))`;

const select = makeFind<StatusRow, StatusQuery>()`
  SELECT ${i.id}, ${shownState} AS state, ${i.namedSchoolIds} AS "namedSchoolIds", ${i.progressPhase} AS phase,
    ${i.progressPercent} AS percent
  FROM ${listed}
  ORDER BY ${i.id} DESC LIMIT ${"limit"}`;

const queryOf = ({ among, ...filter }: ImportFilter & Pick<StatusFilter, "id">): StatusQuery => ({
  ...filter,
  isAll: among === undefined,
  reached: among?.schoolIds ?? [],
  actorId: among?.actorId ?? "",
});

type Brief = Pick<ImportRecord, "id" | "fileName" | "state" | "createdAt">;

const selectBrief = makeFind<Brief & { total: number }, StatusQuery>()`
  SELECT ${i.id}, ${i.fileName} AS "fileName", ${shownState} AS state, ${i.createdAt} AS "createdAt",
    (count(*) OVER ())::int AS total
  FROM ${listed} ORDER BY ${i.id} DESC LIMIT ${"limit"}`;

/** How many imports a list has, and the newest of them. */
export async function findSomeImports(db: Queryable, filter: ImportFilter): Promise<{ count: number; first: Brief[] }> {
  const briefs = await selectBrief(db, queryOf(filter));
  return { count: briefs[0]?.total ?? 0, first: briefs.map(({ total: _total, ...one }) => one) };
}

const s = table("importSchool", "s");

const findOutdated = makeFind<{ key: string }, { ids: readonly ImportId[] }>()`
  SELECT ${s.importId} || ' ' || ${s.schoolId} AS key FROM ${s} JOIN ${i} ON ${i.id} = ${s.importId}
  WHERE ${i.id} = ANY (${"ids"}::uuid[]) AND ${i.state} IN ('READY', 'HELD') AND ${s.state} IN ('READY', 'HELD')
    AND ${s.directoryVersion} IS DISTINCT FROM ${versionOfSchool(s.schoolId)}`;

export async function listImportsOf(db: Store, filter: StatusFilter & Pick<ImportFilter, "among">) {
  const all = await select(db, queryOf(filter));
  const ids = all.map(({ id: one }) => one);
  const rows = await db.prisma.import.findMany({ where: { id: { in: ids } }, select: recordFields });
  const records = new Map(rows.map((row) => [row.id, present(row)]));
  const applying = await findApplying(db, ids);
  const { places, changing } = await findQueue(db, ids);
  const outdated = new Set((await findOutdated(db, { ids })).map(({ key }) => key));
  return all.flatMap((row) => {
    const record = records.get(row.id);
    if (record === undefined) return [];
    // A turn begins before its lease, and ends after it.
    const isApplying = applying.has(row.id) || changing.has(row.id);
    return [presentStatus(record, row, { isApplying, place: places.get(row.id) ?? null, outdated })];
  });
}

export async function findImport(db: Store, id: ImportId, among: ImportReach | undefined): Promise<ImportStatus> {
  const [status] = await listImportsOf(db, { id, among, limit: 1 });
  if (status === undefined) throw importNotFound();
  return status;
}

function presentStatus(
  record: ImportRecord,
  { state, namedSchoolIds, phase, percent }: StatusRow,
  { isApplying, place, outdated }: { isApplying: boolean; place: number | null; outdated: ReadonlySet<string> },
): ImportStatus {
  const { schools } = record;
  const [work, ended] =
    record.state === "APPLIED" ? (["UNDOING", "UNDONE"] as const) : (["APPLYING", "APPLIED"] as const);
  const done = schools.filter((school) => school.state === ended).length;
  const progress = isApplying
    ? { phase: work, percent: Math.floor((100 * done) / Math.max(1, schools.length)), place: null }
    : place !== null
      ? { phase: "WAITING" as const, percent: 0, place }
      : state === "READING" && phase !== null
        ? { phase, percent: percent ?? 0, place: null }
        : null;
  const compared = schools
    .filter(({ counts }) => "people" in counts)
    .map((school) => ({ ...school, isOutdated: outdated.has(`${record.id} ${school.id}`) }));
  return { ...record, state, namedSchoolIds, progress, schools: state === "READING" ? [] : compared };
}
