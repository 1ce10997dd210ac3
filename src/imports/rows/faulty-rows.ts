import type { RecordStore } from "../../platform/database/db.ts";
import {
  findRows,
  insert,
  makeFindOne,
  makeRun,
  run,
  sql,
  statement,
  table,
  update,
} from "../../platform/database/sql.ts";
import type { Columns, Part, Sql, Queryable } from "../../platform/database/sql.ts";
import { countArchiveRows, setArchiveRowsAside } from "./faulty-archive-rows.ts";
import type { ImportFault, ImportId, RowCounts } from "../state/record.ts";
import { isPerson, makeDeletion, staged } from "../formats/staging.ts";

export type FaultyRow = { line: number; fields: string[]; sourceId: string | null; faults: ImportFault[] };

type OfImport = { importId: string };

const { e, p, m, g, f } = staged;
const twin = table("stagedPerson", "twin");

/** SQL: the key of rows that are left out together, which is a line or a record of a JSON file. */
const numberOf = ({ record, line }: Columns<"record" | "line">) => sql`coalesce(${record}, ${line})`;
const isAt = sql`${numberOf(e)} = ${numberOf(p)}`;
const isMemberAt = sql`(${m.line}, ${m.personColumn}) = (${p.line}, ${p.column})`;

const errorsAt = (importId: Part) => sql`SELECT FROM ${e} WHERE ${e.importId} = ${importId} AND ${isAt}`;
const isTwin = sql`${twin.sourceId} = ${p.sourceId} AND ${p.sourceId} <> '' AND ${isPerson(p)} AND ${isPerson(twin)}
  AND (${twin.fields} <> ${p.fields} OR ${twin.record} <> ${p.record})`;
const twins = (importId: Part) => sql`SELECT FROM ${twin} WHERE ${twin.importId} = ${importId} AND ${isTwin}`;

// Faults that show in all records together have the place of the record.
const numberErrors = statement<OfImport>()`
  ${update("importError", "e", { record: p.record })} FROM ${p}
  WHERE ${e.importId} = ${"importId"} AND ${e.record} IS NULL AND ${p.importId} = ${"importId"}
    AND ${p.record} IS NOT NULL
    AND (${p.line}, ${p.column}) = (${e.line}, ${e.column})`;

/** Faults that leave nothing to leave out: of the whole file, of a row that cannot be cut out, or of every row. */
const findOtherFaults = statement<OfImport>()`
  SELECT FROM ${e} WHERE ${e.importId} = ${"importId"} AND (${e.code} IN ('too_many_groups', 'carried_over_twice')
    OR NOT EXISTS (SELECT FROM ${p}
      WHERE ${p.importId} = ${"importId"} AND ${isAt} AND ${p.fields} IS NOT NULL))
  UNION ALL SELECT WHERE NOT EXISTS (SELECT FROM ${p}
    WHERE ${p.importId} = ${"importId"} AND ${isPerson(p)}
      AND NOT EXISTS (${({ importId }) => errorsAt(importId)}) AND NOT EXISTS (${({ importId }) => twins(importId)}))
  LIMIT 1`;

// If two different rows have the same id, either may be the wrong one.
const insertTwins = statement<OfImport>(({ importId }) =>
  insert(
    "importError",
    {
      importId,
      row: sql`(SELECT max(${e.row}) FROM ${e} WHERE ${e.importId} = ${importId})
        + row_number() OVER (ORDER BY ${p.row})`,
      file: sql`first.file`,
      line: p.line,
      column: p.column,
      record: p.record,
      field: sql`first.field`,
      code: sql`'id_twice'`,
      message: sql`'Duplicate id: also used in line ' || first.line || '.'`,
    },
    sql`FROM ${p} JOIN LATERAL (
        SELECT ${e.file}, ${e.field}, ${e.line} FROM ${twin} JOIN ${e} ON ${e.importId} = ${importId}
          AND ${numberOf(e)} = ${numberOf(twin)} AND ${e.code} = 'id_twice'
        WHERE ${twin.importId} = ${importId} AND ${isTwin}
        ORDER BY ${twin.row} LIMIT 1) AS first ON true
      WHERE ${p.importId} = ${importId} AND ${p.sourceId} <> ''
        AND NOT EXISTS (${errorsAt(importId)} AND ${e.code} = 'id_twice')`,
  ),
);

const groupsOfRow = (importId: Part) => sql`ARRAY(
  SELECT named.id FROM ${m} JOIN ${g} ON ${g.importId} = ${importId} AND ${g.sourceId} = ${m.groupSourceId},
    unnest(ARRAY[${g.sourceId}, ${g.previousSourceId}]) AS named (id)
  WHERE ${m.importId} = ${importId} AND ${isMemberAt} AND named.id IS NOT NULL)`;

const usualLength = (importId: Part) => sql`(
  SELECT mode() WITHIN GROUP (ORDER BY jsonb_array_length(${p.fields})) FROM ${p}
  WHERE ${p.importId} = ${importId} AND NOT EXISTS (${errorsAt(importId)}))`;

// A row of another length than the correct ones may have slipped: its id may be another value.
const insertFaulty = statement<OfImport>(({ importId }) =>
  insert(
    "importFaultyRow",
    {
      importId: sql`DISTINCT ON (${numberOf(p)}) ${importId}::uuid`,
      line: numberOf(p),
      fields: p.fields,
      sourceId: sql`CASE WHEN ${p.sourceId} <> '' AND jsonb_array_length(${p.fields}) = ${usualLength(importId)}
        AND NOT EXISTS (${twins(importId)}) THEN ${p.sourceId} END`,
      groupSourceIds: groupsOfRow(importId),
    },
    sql`FROM ${p} WHERE ${p.importId} = ${importId} AND EXISTS (${errorsAt(importId)}) ORDER BY ${numberOf(p)}`,
  ),
);

const faultyLines = (importId: Part) => sql`(SELECT ${f.line} FROM ${f} WHERE ${f.importId} = ${importId})`;

const deleteMembers = makeRun<OfImport>()`
  DELETE FROM ${m} USING ${p} WHERE ${m.importId} = ${"importId"} AND ${p.importId} = ${"importId"}
    AND ${isMemberAt} AND ${numberOf(p)} IN ${({ importId }) => faultyLines(importId)}`;
const removals = [
  deleteMembers,
  makeDeletion<OfImport>(p, ({ importId }) => sql`${numberOf(p)} IN ${faultyLines(importId)}`),
  makeDeletion<OfImport>(
    g,
    ({ importId }) => sql`${g.sourceId} NOT IN (SELECT ${m.groupSourceId} FROM ${m} WHERE ${m.importId} = ${importId})`,
  ),
];

const makeCount = (countReadable: (importId: Part) => Sql) =>
  makeFindOne<RowCounts, OfImport>()`
    SELECT ${({ importId }) => countReadable(importId)} AS readable,
      count(*)::int AS faulty, (count(*) FILTER (WHERE ${f.sourceId} IS NULL))::int AS "withoutId"
    FROM ${f} WHERE ${f.importId} = ${"importId"}`;
const count = makeCount(
  (importId) => sql`(SELECT count(DISTINCT ${numberOf(p)})::int FROM ${p}
    WHERE ${p.importId} = ${importId} AND ${isPerson(p)})`,
);
const countOfArchive = makeCount(countArchiveRows);

/** Takes the faulty rows out of the staged ones; null, and nothing done, if the faults are not those of single rows. */
export async function setFaultyRowsAside(
  tx: Queryable,
  importId: ImportId,
  { isArchive }: { isArchive: boolean },
): Promise<{ rows: RowCounts | null; dependent: number }> {
  if (!isArchive) return { rows: await setTableRowsAside(tx, importId), dependent: 0 };
  const dependent = await setArchiveRowsAside(tx, importId);
  if (dependent === null) return { rows: null, dependent: 0 };
  return { rows: await countOfArchive(tx, { importId }), dependent };
}

async function setTableRowsAside(tx: Queryable, importId: ImportId): Promise<RowCounts | null> {
  const values = { importId };
  await run(tx, numberErrors, values);
  if ((await findRows(tx, findOtherFaults, values)).length > 0) return null;
  await run(tx, insertTwins, values);
  await run(tx, insertFaulty, values);
  for (const remove of removals) await remove(tx, values);
  return count(tx, values);
}

/** SQL: the import left out a row that is this person's, or may be anybody's. */
export const isOfFaultyRow = (importId: Part, sourceId: Part) => sql`(
  EXISTS (SELECT FROM ${f} WHERE ${f.importId} = ${importId} AND ${f.sourceId} IS NULL)
  OR ${sourceId} IN (SELECT ${f.sourceId} FROM ${f} WHERE ${f.importId} = ${importId} AND ${f.sourceId} IS NOT NULL))`;

/** SQL: the import left out a row that names this group, or may name any. */
export const isNamedInFaultyRow = (importId: Part, sourceId: Part) => sql`(
  EXISTS (SELECT FROM ${f} WHERE ${f.importId} = ${importId} AND ${f.sourceId} IS NULL)
  OR ${sourceId} IN (SELECT id FROM ${f}, unnest(${f.groupSourceIds}) AS id
    WHERE ${f.importId} = ${importId}))`;

/** SQL: pairs of a person and a group, people, or groups, whose membership an import left out or may have left out. */
const leftOut = (importId: Part, what: Sql, where: Sql, from: Sql = sql`${f}, unnest(${f.groupSourceIds}) AS id`) =>
  sql`(SELECT ${what} FROM ${from} WHERE ${f.importId} = ${importId} AND ${where})`;

/** SQL: the import left out a row that says, or may say, that this person is in this group. */
export const isMembershipOfFaultyRow = (importId: Part, { person, group }: Record<"person" | "group", Sql>) => sql`(
  (${person}, ${group}) IN ${leftOut(importId, sql`${f.sourceId}, id`, sql`${f.sourceId} IS NOT NULL`)}
  OR ${person} IN ${leftOut(
    importId,
    f.sourceId,
    sql`${f.sourceId} IS NOT NULL AND cardinality(${f.groupSourceIds}) = 0`,
    sql`${f}`,
  )}
  OR ${group} IN ${leftOut(importId, sql`id`, sql`${f.sourceId} IS NULL`)})`;

export async function listFaultyRows(
  { prisma }: RecordStore,
  importId: ImportId,
  { after, limit }: { after?: number | undefined; limit: number },
): Promise<FaultyRow[]> {
  const rows = await prisma.importFaultyRow.findMany({
    where: { importId, ...(after !== undefined && { line: { gt: after } }) },
    orderBy: { line: "asc" },
    take: limit,
  });
  const numbers = { in: rows.map(({ line }) => line) };
  const faults = await prisma.importError.findMany({
    where: { importId, OR: [{ record: numbers }, { record: null, line: numbers }] },
    orderBy: [{ line: "asc" }, { column: { sort: "asc", nulls: "first" } }, { row: "asc" }],
    omit: { importId: true, row: true },
  });
  const byLine = Map.groupBy(faults, ({ record, line }) => record ?? line);
  return rows.map(({ line, fields, sourceId }) => ({
    line,
    fields: fields as string[],
    sourceId,
    faults: (byLine.get(line) ?? []).map(({ lineText, record: _, ...fault }) => ({ ...fault, text: lineText })),
  }));
}
