import type { IdKind } from "../../access/index.ts";
import type { components } from "../../../generated/openapi/oneroster.ts";
import { jsonCode, jsonObject, type JsonSql } from "../../platform/database/json-sql.ts";
import { literal, sql, type Parameters, type Sql, type Value } from "../../platform/database/sql.ts";
import type { Visible } from "../../platform/database/visible-sql.ts";
import { rfc3339 } from "../../platform/http/index.ts";
import type { ReferenceType, Version } from "../contract.ts";
import type { SchoolYear } from "../school-year.ts";

/** The values of every statement; the last ones as far as the operation or the page has them. */
export type Params = { client: string; base: string } & SchoolYear & {
    id?: string;
    groupId?: string;
    personId?: string;
    schoolId?: string;
    courseId?: string;
    limit?: number;
    offset?: number;
    after?: string;
    afterGroup?: string;
    changedSince?: string;
  };

/** The reader of a statement. Lists that are read as a whole omit records last changed before `since`. */
export type Reader = Parameters<Params> & { ids: IdKind; version: Version; since: Value | undefined };

/** What filters compare and lists are sorted by; `many` is an array of texts. */
export type FieldValue = { kind: "text" | "time" | "many"; of: Sql };

export type RecordFields = {
  json: Readonly<Record<string, JsonSql<unknown>>>;
  values: Readonly<Record<string, FieldValue>>;
};

/** Every property of a contract's schema. */
export type JsonOf<T> = { readonly [Name in keyof T]-?: JsonSql<Exclude<T[Name], undefined>> };

/** Where an operation finds its records. */
export type Source = {
  /** FROM that binds what `fields` of the inner statement need, in the order of the ids. */
  from: Sql;
  where: readonly Sql[];
  visible: readonly Visible[];
  id: Sql;
  order: Sql;
  /** Whether `from` already returns the rows in order; PostgreSQL would sort them all again. */
  comesInOrder?: boolean;
  /** When the record last changed, where `from` found it by that. */
  changedAt?: Sql;
  /** SQL condition: the record comes after the last one of the page before. */
  isAfter: Sql;
};

/** What an operation's address names, beside `id` of a single record. */
export type Way = {
  one?: true;
  school?: true;
  group?: true;
  person?: true;
  course?: true;
  role?: "STUDENT" | "TEACHER";
  session?: "term" | "gradingPeriod";
};

/**
 * A page that follows another, where `isAfter` holds; or the list as a whole, in any order: `read` with what `fields`
 * need, the `keys` alone, or only `counted`.
 */
export type Part = "first" | "next" | "read" | "keys" | "counted";

/** Whether the list has all people or enrollments of the app, in one of the last three parts. */
export const isEverybody = ({ one, school, group }: Way, part: Part): boolean =>
  !one && !school && !group && part !== "first" && part !== "next";

export type Resource = {
  plural: string;
  single: string;
  fields(reader: Reader, id: Sql): RecordFields;
  source(reader: Reader, way: Way, part: Part): Source;
  /** The columns of the rows of a page, `listed` unless named otherwise; joins for the tables of the fields. */
  keys: Sql;
  listedAs?: Sql;
  records: (reader: Reader) => Sql;
  /** For each row of a page: the id that `fields` takes, and the text after which the next page begins. */
  listedId: Sql;
  position: Sql;
};

export const text = (of: Sql): FieldValue => ({ kind: "text", of });
export const many = (of: Sql): FieldValue => ({ kind: "many", of });

const folders = {
  academicSession: "academicSessions",
  class: "classes",
  course: "courses",
  org: "orgs",
  user: "users",
} satisfies Record<ReferenceType, string>;

type Reference = components["schemas"]["OneRosterReference"];

export const reference = ({ base }: Reader, type: ReferenceType, id: Value): JsonSql<Reference> =>
  jsonObject<Reference>()({
    href: jsonCode(sql`${base}::text || ${literal(`/${folders[type]}/`)} || ${id}`),
    sourcedId: jsonCode(id),
    type: jsonCode<ReferenceType>(literal(type)),
  });

/** SQL value: the moment at which the school year begins. */
export const yearBegins = ({ starts }: Reader): Sql => sql`(${starts}::text || 'T00:00:00Z')::timestamptz`;

/** Coarse, because exact times would show which people two apps share. Rounded up, so that no change is missed. */
export const roundedTime = ({ ids }: Reader, at: Sql): Sql =>
  ids === "own" ? sql`date_trunc('minute', ${at} + interval '59.999 seconds')` : at;

/** The fields that every record has. */
export function baseFields(reader: Reader, { id, isActive, at }: { id: Sql; isActive: Sql; at: Sql }) {
  const status = sql`CASE WHEN ${isActive} THEN 'active' ELSE 'tobedeleted' END`;
  const modified = roundedTime(reader, at);
  return {
    json: {
      sourcedId: jsonCode(id),
      status: jsonCode<components["schemas"]["OneRosterStatus"]>(status),
      dateLastModified: jsonCode(rfc3339(modified)),
    },
    values: {
      sourcedId: text(sql`(${id})::text`),
      status: text(status),
      dateLastModified: { kind: "time" as const, of: modified },
    },
  };
}
