import type { SchoolId } from "../../directory/index.ts";
import { fields, makeFind, sql, table } from "../../platform/database/sql.ts";
import type { Columns, Parameters, Queryable, Sql, Value } from "../../platform/database/sql.ts";
import type { ClientId } from "../token.ts";

type Pair = { clientId: ClientId; appName: string; schoolId: SchoolId; schoolName: string; place: string };

export type SchoolPosition = { place: string; lastSchool: SchoolId; lastApp: ClientId };

export type BySchoolFilter = {
  clientId: ClientId | undefined;
  schoolId: SchoolId | undefined;
  /** Null means all. */
  amongSchools: readonly SchoolId[] | null;
  amongApps: readonly ClientId[] | null;
  limit: number;
};

type Counted<Counts, Params extends object> = {
  of: Columns<"clientId" | "schoolId">;
  counts: (params: Parameters<Params>) => { readonly [Name in keyof Counts]-?: Sql };
  /** FROM and WHERE. */
  from: (params: Parameters<Params>) => Sql;
};

const app = table("app", "app");
const s = table("school", "s");

/** Lists what is counted for each app and school, in the order of the schools; `after` is the last entry before. */
export function makeListBySchool<Counts extends object, Params extends object>(
  name: string,
  { of, counts, from }: Counted<Counts, Params>,
) {
  type Query = Params & BySchoolFilter;
  const list = makeFind<Counts & Pair, Query & Partial<SchoolPosition>>((params) => {
    const filter = params as Parameters<BySchoolFilter & SchoolPosition>;
    const own = params as Parameters<Params>;
    return sql`
  SELECT counted.*, ${app.name} AS "appName", ${s.name} AS "schoolName", ${s.sortKey} AS place
  FROM (
    SELECT ${of.clientId} AS "clientId", ${of.schoolId} AS "schoolId", ${fields<Counts>(counts(own))}
    ${from(own)} AND (${filter.clientId}::text IS NULL OR ${of.clientId} = ${filter.clientId})
      AND (${filter.schoolId}::uuid IS NULL OR ${of.schoolId} = ${filter.schoolId})
      AND (${filter.amongSchools}::uuid[] IS NULL OR ${of.schoolId} = ANY (${filter.amongSchools})
        OR ${of.clientId} = ANY (${filter.amongApps}::text[]))
    GROUP BY 1, 2) AS counted
  JOIN ${app} ON ${app.clientId} = counted."clientId" JOIN ${s} ON ${s.id} = counted."schoolId"
  WHERE ${filter.place}::text IS NULL
    OR (${s.sortKey}, ${s.id}, ${app.clientId}) > (${filter.place}, ${filter.lastSchool}::uuid, ${filter.lastApp}::text)
  ORDER BY ${s.sortKey}, ${s.id}, ${app.clientId} LIMIT ${filter.limit}`;
  }, name);
  return (db: Queryable, { after, ...filter }: Query & { after: SchoolPosition | undefined }) =>
    list(db, { ...filter, ...after } as unknown as Query & Partial<SchoolPosition>);
}

export const monthOf = (at: Value): Sql => sql`date_trunc('month', ${at}::timestamptz, 'UTC')`;

export const firstDayOf = (at: Value): Sql => sql`(${monthOf(at)} AT TIME ZONE 'UTC')::date`;
