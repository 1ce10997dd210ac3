import { findRows, insert, makeFindOne, run, sql, statement, update } from "../../platform/database/sql.ts";
import type { Part, Queryable, Sql, Table } from "../../platform/database/sql.ts";
import { makeDeletion, staged as tables } from "../formats/staging.ts";

type OfImport = { importId: string };

const { e, p, r, g, m, f } = tables;

const [fileOf, lineOf] = [sql`${f.fields}->>0`, sql`(${f.fields}->>1)::int`];
const [userOf, classOf] = [sql`${f.fields}->>2`, sql`${f.fields}->>3`];

const names = { users: sql`'users.csv'`, roles: sql`'roles.csv'`, classes: sql`'classes.csv'` };
const enrollments = sql`'enrollments.csv'`;
const files = sql`ARRAY[${names.users}, ${names.roles}, ${names.classes}, ${enrollments}]`;

const staged = (importId: Part) => sql`(
  SELECT ${names.users} AS file, ${p.line} AS line, ${p.sourceId} AS person, NULL AS class,
      ${p.firstFull} AS first, ${p.last} AS last
    FROM ${p} WHERE ${p.importId} = ${importId}
  UNION ALL SELECT ${names.roles}, ${r.line}, ${r.personSourceId}, NULL, NULL, NULL
    FROM ${r} WHERE ${r.importId} = ${importId}
  UNION ALL SELECT ${names.classes}, ${g.line}, NULL, ${g.sourceId}, NULL, NULL
    FROM ${g} WHERE ${g.importId} = ${importId}
  UNION ALL SELECT ${enrollments}, ${m.line}, ${m.personSourceId}, ${m.groupSourceId}, NULL, NULL
    FROM ${m} WHERE ${m.importId} = ${importId}) AS s`;
const isOfStaged = sql`s.file = ${e.file} AND s.line = ${e.line}`;

// A fault with a record was found while a row was read, so that it is that row's even where the row was skipped.
const findOtherFaults = statement<OfImport>()`
  SELECT FROM ${e} WHERE ${e.importId} = ${"importId"} AND (${e.code} = 'carried_over_twice'
    OR ${e.file} <> ALL (${files}))
  UNION ALL SELECT FROM ${e} WHERE ${e.importId} = ${"importId"} AND ${e.record} IS NULL
    AND NOT EXISTS (SELECT FROM ${({ importId }) => staged(importId)} WHERE ${isOfStaged})
  UNION ALL SELECT WHERE NOT EXISTS (SELECT FROM ${p} WHERE ${p.importId} = ${"importId"} AND ${p.line} NOT IN (
    SELECT ${e.line} FROM ${e} WHERE ${e.importId} = ${"importId"} AND ${e.file} = ${names.users}))
  LIMIT 1`;

const numberRows = statement<OfImport>()`
  ${update("importError", "e", { record: sql`numbered.number` })} FROM (
    SELECT ${e.row}, dense_rank() OVER (ORDER BY array_position(${files}, ${e.file}), ${e.line}) AS number
    FROM ${e} WHERE ${e.importId} = ${"importId"}) AS numbered
  WHERE ${e.importId} = ${"importId"} AND ${e.row} = numbered.row`;

// The id in a row with too few or too many fields may be another value.
const insertFaulty = statement<OfImport>(({ importId }) =>
  insert(
    "importFaultyRow",
    {
      importId: sql`DISTINCT ON (${e.record}) ${importId}::uuid`,
      line: e.record,
      fields: sql`jsonb_build_array(${e.file}, ${e.line}::text,
        coalesce(s.person, ''), coalesce(s.class, ''), coalesce(s.first, ''), coalesce(s.last, ''))`,
      // A class says whose it is by its members, who are listed elsewhere.
      sourceId: sql`CASE WHEN bool_or(${e.code} IN ('id_twice', 'field_count')) OVER (PARTITION BY ${e.record}) THEN NULL
        WHEN ${e.file} = ${names.classes} THEN CASE WHEN s.class <> '' THEN '' END
        ELSE nullif(s.person, '') END`,
      groupSourceIds: sql`'{}'::text[]`,
    },
    sql`FROM ${e} LEFT JOIN ${staged(importId)} ON ${isOfStaged}
      WHERE ${e.importId} = ${importId} ORDER BY ${e.record}`,
  ),
);

const isOfUser = sql`${fileOf} IN (${names.users}, ${names.roles})`;

const nameGroups = statement<OfImport>()`
  ${update("importFaultyRow", "f", { groupSourceIds: sql`named.ids` })} FROM (
    SELECT of_row.line, array_agg(DISTINCT one.id) AS ids
    FROM (
      SELECT ${f.line} AS line, ${m.groupSourceId} AS id FROM ${f}
        JOIN ${m} ON ${m.importId} = ${"importId"} AND ${m.personSourceId} = ${userOf}
        WHERE ${f.importId} = ${"importId"} AND ${isOfUser}
      UNION ALL SELECT ${f.line}, ${classOf} FROM ${f} WHERE ${f.importId} = ${"importId"}
        AND NOT (${isOfUser})) AS of_row
    LEFT JOIN ${g} ON ${g.importId} = ${"importId"} AND ${g.sourceId} = of_row.id,
      unnest(ARRAY[of_row.id, ${g.previousSourceId}]) AS one (id)
    WHERE one.id <> '' GROUP BY 1) AS named
  WHERE ${f.importId} = ${"importId"} AND ${f.line} = named.line`;

const ofRows = (importId: Part, what: Sql, where: Sql) =>
  sql`(SELECT ${what} FROM ${f} WHERE ${f.importId} = ${importId} AND ${where})`;
const users = (importId: Part) => ofRows(importId, userOf, sql`${isOfUser} AND ${userOf} <> ''`);
const groups = (importId: Part) => ofRows(importId, classOf, sql`${fileOf} = ${names.classes} AND ${classOf} <> ''`);
const lines = (importId: Part, file: Sql) => ofRows(importId, lineOf, sql`${fileOf} = ${file}`);

const deleteRows = [
  makeDeletion<OfImport>(m, ({ importId }) => sql`${m.line} IN ${lines(importId, enrollments)}`),
  makeDeletion<OfImport>(r, ({ importId }) => sql`${r.line} IN ${lines(importId, names.roles)}`),
  makeDeletion<OfImport>(p, ({ importId }) => sql`${p.line} IN ${lines(importId, names.users)}`),
  makeDeletion<OfImport>(g, ({ importId }) => sql`${g.line} IN ${lines(importId, names.classes)}`),
];

/** SQL: deletes rows and counts their lines; people of several schools have a row for each. */
const deleteAndCount = (from: Table<"importId" | "line">, where: (importId: Part) => Sql) =>
  makeFindOne<{ count: number }, OfImport>()`
    WITH gone AS (DELETE FROM ${from} WHERE ${from.importId} = ${"importId"} AND (${({ importId }) => where(importId)})
      RETURNING ${from.line} AS line)
    SELECT count(DISTINCT line)::int AS count FROM gone`;
const deleteDependent = [
  deleteAndCount(m, (id) => sql`${m.personSourceId} IN ${users(id)} OR ${m.groupSourceId} IN ${groups(id)}`),
  deleteAndCount(r, (id) => sql`${r.personSourceId} IN ${users(id)}`),
  deleteAndCount(p, (id) => sql`${p.sourceId} IN ${users(id)}`),
  deleteAndCount(g, (id) => sql`${g.sourceId} IN ${groups(id)}`),
];

/**
 * Takes the faulty rows of an archive out of the staged ones, and the rows that depend on them: a user with their roles
 * and enrollments, a class with its enrollments. Returns the number of those; null, and nothing done, if the faults are
 * not those of single rows.
 */
export async function setArchiveRowsAside(tx: Queryable, importId: string): Promise<number | null> {
  const values = { importId };
  if ((await findRows(tx, findOtherFaults, values)).length > 0) return null;
  for (const step of [numberRows, insertFaulty, nameGroups]) await run(tx, step, values);
  for (const remove of deleteRows) await remove(tx, values);
  let dependent = 0;
  for (const remove of deleteDependent) dependent += (await remove(tx, values)).count;
  return dependent;
}

export const countArchiveRows = (importId: Part) => sql`(
  SELECT count(DISTINCT (s.file, s.line))::int FROM ${staged(importId)})`;
