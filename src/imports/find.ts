import { versionOfSchool } from "../access/index.ts";
import type { SchoolId } from "../directory/index.ts";
import type { Store } from "../platform/database/db.ts";
import {
  findRows,
  makeFind,
  sql,
  statement,
  table,
  type Parameters,
  type Queryable,
} from "../platform/database/sql.ts";
import { findApplying } from "./lease.ts";
import { findQueue } from "./queue.ts";
import { listRecords, type ImportId, type ImportRecord } from "./record.ts";
import { importNotFound, type ImportState } from "./states.ts";

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

/** SQL: the imports of a list. */
const listed = ({ id, schoolIds, state, isWaiting, isAll, reached, actorId, after }: Parameters<StatusQuery>) => sql`
  ${i} WHERE (${id}::uuid IS NULL OR ${i.id} = ${id}) AND (${after}::uuid IS NULL OR ${i.id} < ${after})
    AND (${schoolIds}::uuid[] IS NULL OR ${i.namedSchoolIds} && ${schoolIds})
    AND (${state}::text IS NULL OR ${shownState} = ${state})
    AND (${isWaiting}::boolean IS NULL OR (${shownState} IN ('UNMAPPED', 'READY', 'HELD')) = ${isWaiting})
    AND (${isAll} OR ${i.namedSchoolIds} <@ ${reached}::uuid[]
      AND (cardinality(${i.namedSchoolIds}) > 0 OR ${i.actorId} = ${actorId}))`;

const select = statement<StatusQuery>(
  (given) => sql`
  SELECT ${i.id}, ${shownState} AS state, ${i.namedSchoolIds} AS "namedSchoolIds", ${i.progressPhase} AS phase,
    ${i.progressPercent} AS percent
  FROM ${listed(given)}
  ORDER BY ${i.id} DESC LIMIT ${given.limit}`,
);

const queryOf = ({ among, ...filter }: ImportFilter & Pick<StatusFilter, "id">): StatusQuery => ({
  ...filter,
  isAll: among === undefined,
  reached: among?.schoolIds ?? [],
  actorId: among?.actorId ?? "",
});

type Brief = Pick<ImportRecord, "id" | "fileName" | "state" | "createdAt">;

const selectBrief = statement<StatusQuery>(
  (given) => sql`
  SELECT ${i.id}, ${i.fileName} AS "fileName", ${shownState} AS state, ${i.createdAt} AS "createdAt",
    (count(*) OVER ())::int AS total
  FROM ${listed(given)} ORDER BY ${i.id} DESC LIMIT ${given.limit}`,
);

/** How many imports a list has, and the newest of them. */
export async function findSomeImports(db: Queryable, filter: ImportFilter): Promise<{ count: number; first: Brief[] }> {
  const found = await findRows<Brief & { total: number }, StatusQuery>(db, selectBrief, queryOf(filter));
  return { count: found[0]?.total ?? 0, first: found.map(({ total: _total, ...one }) => one) };
}

const s = table("importSchool", "s");

const findOutdated = makeFind<{ key: string }, { ids: readonly ImportId[] }>(
  ({ ids }) => sql`
  SELECT ${s.importId} || ' ' || ${s.schoolId} AS key FROM ${s} JOIN ${i} ON ${i.id} = ${s.importId}
  WHERE ${i.id} = ANY (${ids}::uuid[]) AND ${i.state} IN ('READY', 'HELD') AND ${s.state} IN ('READY', 'HELD')
    AND ${s.directoryVersion} IS DISTINCT FROM ${versionOfSchool(s.schoolId)}`,
);

export async function listImportsOf(
  db: Store,
  filter: StatusFilter & Pick<ImportFilter, "among">,
): Promise<ImportStatus[]> {
  const found = await findRows<StatusRow, StatusQuery>(db, select, queryOf(filter));
  const ids = found.map(({ id: found }) => found);
  const records = new Map((await listRecords(db, ids)).map((record) => [record.id, record]));
  const applying = await findApplying(db, ids);
  const { places, changing } = await findQueue(db, ids);
  const outdated = new Set((await findOutdated(db, { ids })).map(({ key }) => key));
  return found.flatMap((row) => {
    const record = records.get(row.id);
    if (record === undefined) return [];
    // A turn begins before its lease, and ends after it.
    const isApplying = applying.has(row.id) || changing.has(row.id);
    return [present(record, row, { isApplying, place: places.get(row.id) ?? null, outdated })];
  });
}

export async function findImport(db: Store, id: ImportId, among: ImportReach | undefined): Promise<ImportStatus> {
  const [found] = await listImportsOf(db, { id, among, limit: 1 });
  if (found === undefined) throw importNotFound();
  return found;
}

function present(
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
