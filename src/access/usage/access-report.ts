import type { AccessReportType } from "../../../generated/prisma/enums.ts";
import type { PersonId, SchoolId } from "../../directory/index.ts";
import { makeUuid } from "../../platform/crypto/ids.ts";
import type { RecordStore } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import {
  checkLimit,
  insert,
  lockName,
  makeFind,
  makeFindOne,
  makeRun,
  sql,
  table,
} from "../../platform/database/sql.ts";
import type { Columns, Parameters, Queryable, Sql } from "../../platform/database/sql.ts";
import type { ClientId } from "../token.ts";
import { makeListBySchool, firstDayOf } from "./by-school.ts";
import { schoolOfSignOn } from "./seats.ts";

export type { AccessReportType };

/** What an app says of the licence through which a person uses it; `identifier` is its own name of the licence. */
export type AccessReport = {
  clientId: ClientId;
  personId: PersonId;
  type: AccessReportType;
  identifier: string | null;
  since: Date | null;
  until: Date | null;
  trial: boolean;
};

type Params = AccessReport & { id: string; at: Date; schoolId: SchoolId };

const r = table("accessReport", "r");
const p = table("person", "p");

const findSchool = makeFind<{ schoolId: SchoolId | null }, AccessReport>("access.findSchoolOfReport")`
  SELECT (${({ clientId }) => schoolOfSignOn(clientId, p)}) AS "schoolId" FROM ${p} WHERE ${p.id} = ${"personId"}
    FOR KEY SHARE OF ${sql`p`}`;

/** A part of a row or of parameters: what makes two reports of a month the same. */
const content = (of: Columns<"schoolId" | "type" | "identifier" | "since" | "until" | "trial">): Sql =>
  sql`${of.schoolId}, ${of.type}, ${of.identifier}, ${of.since}, ${of.until}, ${of.trial}`;
const contentOf = ({ schoolId, type, identifier, since, until, trial }: Parameters<Params>): Sql =>
  sql`${schoolId}::uuid, ${type}::access_report_type, ${identifier}::text, ${since}::timestamptz, ${until}::timestamptz,
    ${trial}::boolean`;
const isSame = (params: Parameters<Params>): Sql => sql`((${content(r)}) IS NOT DISTINCT FROM (${contentOf(params)}))`;
const isOfPerson = ({ clientId, personId, at }: Parameters<Params>): Sql =>
  sql`${r.clientId} = ${clientId} AND ${r.personId} = ${personId} AND ${r.month} = ${firstDayOf(at)}`;

const countOthers = makeFindOne<{ count: number }, Params>("access.countAccessReports")`
  SELECT count(*)::int AS count FROM ${r} WHERE ${isOfPerson} AND NOT ${isSame}`;

const write = makeRun<Params>(
  (params) => sql`
  WITH repeated AS (
    UPDATE ${r} SET reported_at = ${params.at}, is_newest = true WHERE ${isOfPerson(params)} AND ${isSame(params)}
    RETURNING ${r.id}),
  replaced AS (
    UPDATE ${r} SET is_newest = false
    WHERE ${isOfPerson(params)} AND ${r.schoolId} = ${params.schoolId} AND ${r.isNewest} AND NOT ${isSame(params)})
  ${insert(
    "accessReport",
    {
      id: params.id,
      clientId: params.clientId,
      personId: params.personId,
      month: firstDayOf(params.at),
      reportedAt: params.at,
      isNewest: sql`true`,
      schoolId: params.schoolId,
      type: sql`${params.type}::access_report_type`,
      identifier: params.identifier,
      since: params.since,
      until: params.until,
      trial: params.trial,
    },
    sql`WHERE NOT EXISTS (SELECT FROM repeated)`,
  )}`,
  "access.writeAccessReport",
);

const mostReports = 100;

/**
 * Records what an app reports of a person; the same again in a month only moves its time. Errors: not_found
 * school_not_found for a person at no school that lets them in; conflict access_report_limit.
 */
export async function recordAccessReport(tx: Queryable, report: AccessReport, at: Date): Promise<void> {
  const [{ schoolId } = { schoolId: null }] = await findSchool(tx, report);
  if (schoolId === null) throw new AppError("not_found", "school_not_found", "The person is at no school of this app.");
  const params = { ...report, schoolId, at, id: makeUuid(at) };
  await checkLimit({
    lock: () => lockName(tx, { name: `access reports ${report.clientId} ${report.personId}` }),
    count: async () => (await countOthers(tx, params)).count,
    most: mostReports,
    full: () => new AppError("conflict", "access_report_limit", tooMany),
  });
  await write(tx, params);
}

const tooMany =
  `A person has at most ${mostReports} different access reports in a month. ` +
  "Repeat one of these, or wait for the next month.";

/** By app and school in a month: the people by their newest report. */
export type AccessReportCounts = Record<"school" | "group" | "singleUser" | "none" | "trial", number>;

const count = (condition: Sql) => sql`count(*) FILTER (WHERE ${condition})::int`;

export const listAccessReports = makeListBySchool<AccessReportCounts, { month: Date }>("access.listAccessReports", {
  of: r,
  counts: () => ({
    school: count(sql`${r.type} = 'SCHOOL'`),
    group: count(sql`${r.type} = 'GROUP'`),
    singleUser: count(sql`${r.type} = 'SINGLE_USER'`),
    none: count(sql`${r.type} = 'NONE'`),
    trial: count(r.trial),
  }),
  from: ({ month }) => sql`FROM ${r} WHERE ${r.month} = ${firstDayOf(month)} AND ${r.isNewest}`,
});

/** What apps reported of a person, oldest first. */
export const listReportsOf = ({ prisma }: RecordStore, personId: PersonId) =>
  prisma.accessReport.findMany({ where: { personId }, orderBy: [{ reportedAt: "asc" }, { id: "asc" }] });
