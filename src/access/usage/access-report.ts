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
import { makeListBySchool } from "./by-school.ts";
import { firstDayOf } from "./by-school.ts";
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

type Given = AccessReport & { id: string; at: Date; schoolId: SchoolId };

const r = table("accessReport", "r");
const p = table("person", "p");

const findSchool = makeFind<{ schoolId: SchoolId | null }, AccessReport>(
  ({ clientId, personId }) => sql`
  SELECT (${schoolOfSignOn(clientId, p)}) AS "schoolId" FROM ${p} WHERE ${p.id} = ${personId} FOR KEY SHARE OF ${sql`p`}`,
  "access.findSchoolOfReport",
);

/** A part of a row or of parameters: what makes two reports of a month the same. */
const content = (of: Columns<"schoolId" | "type" | "identifier" | "since" | "until" | "trial">): Sql =>
  sql`${of.schoolId}, ${of.type}, ${of.identifier}, ${of.since}, ${of.until}, ${of.trial}`;
const contentOf = ({ schoolId, type, identifier, since, until, trial }: Parameters<Given>): Sql =>
  sql`${schoolId}::uuid, ${type}::access_report_type, ${identifier}::text, ${since}::timestamptz, ${until}::timestamptz,
    ${trial}::boolean`;
const isSame = (given: Parameters<Given>): Sql => sql`((${content(r)}) IS NOT DISTINCT FROM (${contentOf(given)}))`;
const isOfPerson = ({ clientId, personId, at }: Parameters<Given>): Sql =>
  sql`${r.clientId} = ${clientId} AND ${r.personId} = ${personId} AND ${r.month} = ${firstDayOf(at)}`;

const countOthers = makeFindOne<{ count: number }, Given>(
  (given) => sql`SELECT count(*)::int AS count FROM ${r} WHERE ${isOfPerson(given)} AND NOT ${isSame(given)}`,
  "access.countAccessReports",
);

const write = makeRun<Given>(
  (given) => sql`
  WITH repeated AS (
    UPDATE ${r} SET reported_at = ${given.at}, is_newest = true WHERE ${isOfPerson(given)} AND ${isSame(given)}
    RETURNING ${r.id}),
  replaced AS (
    UPDATE ${r} SET is_newest = false
    WHERE ${isOfPerson(given)} AND ${r.schoolId} = ${given.schoolId} AND ${r.isNewest} AND NOT ${isSame(given)})
  ${insert(
    "accessReport",
    {
      id: given.id,
      clientId: given.clientId,
      personId: given.personId,
      month: firstDayOf(given.at),
      reportedAt: given.at,
      isNewest: sql`true`,
      schoolId: given.schoolId,
      type: sql`${given.type}::access_report_type`,
      identifier: given.identifier,
      since: given.since,
      until: given.until,
      trial: given.trial,
    },
    sql`WHERE NOT EXISTS (SELECT FROM repeated)`,
  )}`,
  "access.writeAccessReport",
);

/** Different reports of a person in a month. */
const mostReports = 100;

/**
 * Records what an app reports of a person; the same again in a month only moves its time. Errors: not_found
 * school_not_found for a person at no school that lets them in; conflict access_report_limit.
 */
export async function recordAccessReport(tx: Queryable, report: AccessReport, at: Date): Promise<void> {
  const [{ schoolId } = { schoolId: null }] = await findSchool(tx, report);
  if (schoolId === null) throw new AppError("not_found", "school_not_found", "The person is at no school of this app.");
  const given = { ...report, schoolId, at, id: makeUuid(at) };
  await checkLimit({
    lock: () => lockName(tx, { name: `access reports ${report.clientId} ${report.personId}` }),
    count: async () => (await countOthers(tx, given)).count,
    most: mostReports,
    full: () => new AppError("conflict", "access_report_limit", tooMany),
  });
  await write(tx, given);
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
