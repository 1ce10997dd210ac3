import type { SchoolId } from "../directory/index.ts";
import { fields, findRows, sql, statement, table } from "../platform/database/sql.ts";
import type { Columns, Queryable, Sql, Value } from "../platform/database/sql.ts";
import { erasureAskedAt } from "./erasure-record.ts";
import type { ClientId } from "./token.ts";

export type ErasureCounts = {
  clientId: ClientId;
  appName: string;
  schoolId: SchoolId;
  schoolName: string;
  open: number;
  openSince: Date | null;
  overdue: number;
  waiting: number;
  erased: number;
  kept: number;
};

export type ErasurePosition = { place: string; lastSchool: SchoolId; lastApp: ClientId };

type Counting = {
  clientId: ClientId | null;
  schoolId: SchoolId | null;
  /** Null means all. */
  amongSchools: readonly SchoolId[] | null;
  amongApps: readonly ClientId[] | null;
  now: Date;
  overdueBefore: Date;
  waitDays: number;
  limit: number;
};

const e = table("erasure", "e");
const app = table("app", "app");
const s = table("school", "s");

type Counted = ErasureCounts & { place: string };

const countAll = statement<Counting & { [Name in keyof ErasurePosition]: ErasurePosition[Name] | null }>((given) => {
  const askedAt = erasureAskedAt(e, given.waitDays);
  const count = (condition: Sql) => sql`count(*) FILTER (WHERE ${condition})::int`;
  const isOpen = sql`${e.state} = 'open' AND ${askedAt} <= ${given.now}`;
  return sql`
  SELECT ${fields<Counted>({
    clientId: app.clientId,
    appName: app.name,
    schoolId: s.id,
    schoolName: s.name,
    open: sql`counted.open`,
    openSince: sql`counted.open_since`,
    overdue: sql`counted.overdue`,
    waiting: sql`counted.waiting`,
    erased: sql`counted.erased`,
    kept: sql`counted.kept`,
    place: s.sortKey,
  })}
  FROM (
    SELECT ${e.clientId}, ${e.schoolId}, ${count(isOpen)} AS open,
      min(${askedAt}) FILTER (WHERE ${isOpen}) AS open_since,
      ${count(sql`${e.state} = 'open' AND ${askedAt} <= ${given.overdueBefore}`)} AS overdue,
      ${count(sql`${e.state} = 'open' AND ${askedAt} > ${given.now}`)} AS waiting,
      ${count(sql`${e.state} = 'erased'`)} AS erased, ${count(sql`${e.state} = 'kept'`)} AS kept
    FROM ${e}
    WHERE (${given.clientId}::text IS NULL OR ${e.clientId} = ${given.clientId})
      AND (${given.schoolId}::uuid IS NULL OR ${e.schoolId} = ${given.schoolId})
      AND (${given.amongSchools}::uuid[] IS NULL OR ${e.schoolId} = ANY (${given.amongSchools})
        OR ${e.clientId} = ANY (${given.amongApps}::text[]))
    GROUP BY ${e.clientId}, ${e.schoolId}) AS counted
  JOIN ${app} ON ${app.clientId} = counted.client_id JOIN ${s} ON ${s.id} = counted.school_id
  WHERE ${given.place}::text IS NULL
    OR (${s.sortKey}, ${s.id}, ${app.clientId}) > (${given.place}, ${given.lastSchool}::uuid, ${given.lastApp}::text)
  ORDER BY ${s.sortKey}, ${s.id}, ${app.clientId} LIMIT ${given.limit}`;
}, "access.countErasures");

const fromStart = { place: null, lastSchool: null, lastApp: null };

/** By app and school, in the order of their schools. `after` is the last entry of the page before. */
export const countErasures = (
  db: Queryable,
  { after, ...asked }: Counting & { after: ErasurePosition | undefined },
): Promise<Counted[]> => findRows(db, countAll, { ...asked, ...(after ?? fromStart) });

const overdue = table("erasure", "v_overdue");

/** FROM: apps that did not confirm erasures in time, each with `open_since`; `where` limits the rows of `v_overdue`. */
export const fromOverdueApps = (
  { waitDays, overdueBefore }: { waitDays: Value; overdueBefore: Value },
  where: (of: Columns<"schoolId" | "clientId">) => Sql,
): Sql => sql`
  ${app} CROSS JOIN LATERAL (
    SELECT ${erasureAskedAt(overdue, waitDays)} AS open_since FROM ${overdue}
    WHERE ${overdue.clientId} = ${app.clientId} AND ${overdue.state} = 'open'
      AND ${erasureAskedAt(overdue, waitDays)} <= ${overdueBefore} AND (${where(overdue)})
    ORDER BY ${overdue.since} LIMIT 1) AS open_erasure`;
