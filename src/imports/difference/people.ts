import { allowsPersonStep } from "../../directory/index.ts";
import { findRows, literal, run, sql, statement, table, newId } from "../../platform/database/sql.ts";
import type { Queryable, Columns, Part, Sql } from "../../platform/database/sql.ts";
import { AppError } from "../../platform/errors.ts";
import { isOfFaultyRow } from "../rows/faulty-rows.ts";
import { roleOf, type Subject } from "../formats/format.ts";
import type { SchoolPart } from "../state/record.ts";
import { a, analyzePeople, isAmong, planned, importPerson, p } from "./tables.ts";

export const firstOf = (key: Sql, column: Sql): Sql => sql`DISTINCT ON (${key}) ${column}`;

const s = table("stagedPerson", "s");
const here = table("person", "here");
const there = table("person", "there");
const other = table("person", "other");

const isHere = sql`${here.homeSchoolId} = ${s.homeSchoolId} AND ${here.sourceSystemIdentifier} = ${s.sourceId}`;
const isElsewhere = (schools: Part) => sql`cardinality(${schools}::uuid[]) > 1 AND ${there.sourceIdIsShared}
  AND ${isAmong(there.homeSchoolId, schools)} AND ${there.homeSchoolId} <> ${s.homeSchoolId}
  AND ${there.sourceSystemIdentifier} = ${s.sourceId}`;

/** SQL: rows whose id fits two people: one at the home school, one with a shared id at another of the files'. */
export const selectAmbiguous = (values: { importId: Part; schools: Part }, where: Sql = sql`true`): Sql => sql`
  SELECT ${s.row}, ${s.line}, ${s.column} AS at
  FROM ${s} JOIN ${there} ON ${isElsewhere(values.schools)} LEFT JOIN ${here} ON ${isHere}
  WHERE ${s.importId} = ${values.importId} AND ${s.schoolId} = ${s.homeSchoolId}
    AND coalesce(${here.sourceIdIsShared}, false) = false AND ${where}
  GROUP BY ${s.row}, ${s.line}, ${s.column}, ${here.id}
  HAVING count(*) > CASE WHEN ${here.id} IS NULL THEN 1 ELSE 0 END`;

type Values = Pick<SchoolPart, "importId" | "schoolId" | "schools" | "speaksOf" | "now">;

/** SQL: whether the record speaks of it, or the person is new. */
const saysOf = (subject: Subject, speaksOf: Part) => sql`(${p.id} IS NULL
  OR ${literal(subject)} = ANY (${speaksOf}::text[]) AND NOT ${literal(subject)} = ANY (${s.silentAbout}))`;

const isNamedIn = (name: Part, names: Part) => sql`position(' ' || ${name} || ' ' IN ' ' || ${names} || ' ') > 0`;

/**
 * SQL: role and name as they will be. A call name that nothing is said of stays, unless it was one of the first names
 * and is none of the new ones.
 */
const selectSaid = (speaksOf: Part) => {
  const [name, role] = [saysOf("NAME", speaksOf), saysOf("ROLE", speaksOf)];
  const keepsFirst = sql`(NOT ${name}
    OR NOT ${saysOf("MIDDLE_NAME", speaksOf)} AND starts_with(${p.firstFull}, ${s.firstFull} || ' '))`;
  const keepsCall = sql`(${keepsFirst} OR NOT ${saysOf("CALL_NAME", speaksOf)} AND ${s.firstFull} IS NOT NULL
    AND (${p.firstFull} = ${s.firstFull} OR ${p.firstCall} <> ${p.firstFull}
      AND (${isNamedIn(p.firstCall, s.firstFull)} OR NOT ${isNamedIn(p.firstCall, p.firstFull)})))`;
  const keepOr = (keeps: Sql, of: "firstFull" | "firstCall" | "last") =>
    sql`CASE WHEN ${keeps} THEN ${p[of]} ELSE ${s[of]} END`;
  return sql`SELECT CASE WHEN ${role} THEN ${s.role}::person_role ELSE ${p.role} END AS role,
    ${keepOr(keepsFirst, "firstFull")} AS first_full, ${keepOr(keepsCall, "firstCall")} AS first_call,
    ${keepOr(sql`NOT ${name}`, "last")} AS last`;
};

const said = {
  role: sql`said.role`,
  firstFull: sql`said.first_full`,
  firstCall: sql`said.first_call`,
  last: sql`said.last`,
};

const differs = (schoolId: Part) => sql`(${p.role}, ${p.firstFull}, ${p.firstCall}, ${p.last}, ${p.homeSchoolId})
  IS DISTINCT FROM (${said.role}, ${said.firstFull}, ${said.firstCall}, ${said.last}, ${schoolId})`;

type Names = Columns<"firstFull" | "firstCall" | "last" | "sortKey">;
const namesOf = ({ firstFull, firstCall, last, sortKey }: Names): Names => ({ firstFull, firstCall, last, sortKey });

/** A person who moves between schools of the same files stays the same person if their id is shared. */
const insertStaged = statement<Values>(({ importId, schoolId, schools, speaksOf, now }) => {
  const match = sql`
    SELECT s.*, coalesce(${here.id}, ${there.id}) AS id
    FROM ${s} LEFT JOIN ${here} ON ${isHere} LEFT JOIN ${there} ON ${here.id} IS NULL AND ${isElsewhere(schools)}
    WHERE ${s.importId} = ${importId} AND ${s.schoolId} = ${schoolId}`;
  const isHome = sql`${s.homeSchoolId} = ${schoolId} AND NOT ${s.isDeleted}`;
  const row = {
    id: firstOf(s.row, sql`coalesce(${p.id}, CASE WHEN ${isHome} THEN ${newId(now)} END)`),
    sourceId: s.sourceId,
    ...said,
    formerRole: p.role,
    sortKey: sql`CASE WHEN (${said.firstFull}, ${said.last}) = (${p.firstFull}, ${p.last}) THEN ${p.sortKey}
      WHEN ${said.last} IS NULL THEN '~' ELSE ${s.sortKey} END`,
    change: sql`CASE WHEN ${s.homeSchoolId} <> ${schoolId} THEN NULL
      WHEN ${s.isDeleted} THEN CASE WHEN ${allowsPersonStep(p.status, "softDelete")} THEN 'removed' END
      WHEN ${p.id} IS NULL THEN 'created'
      WHEN ${allowsPersonStep(p.status, "restore")} OR ${p.leftAt} IS NOT NULL THEN 'restored'
      WHEN ${allowsPersonStep(p.status, "change")} AND ${differs(schoolId)} THEN 'changed' END`,
    joins: sql`NOT ${s.isDeleted} AND NOT EXISTS (
      SELECT FROM ${a} WHERE ${a.personId} = ${p.id} AND ${a.schoolId} = ${schoolId})`,
    leftHome: sql`CASE WHEN ${isHome} AND ${p.homeSchoolId} <> ${schoolId} THEN ${p.homeSchoolId} END`,
    isGone: s.isDeleted,
    isStaged: sql`true`,
    isSilent: sql`'MEMBERSHIP' = ANY (${s.silentAbout})`,
  };
  return importPerson.insert(
    row,
    sql`FROM (${match}) AS s LEFT JOIN ${p} ON ${p.id} = s.id
    CROSS JOIN LATERAL (${selectSaid(speaksOf)}) AS said ORDER BY ${s.row}`,
  );
});

export async function findPeople(tx: Queryable, part: SchoolPart): Promise<void> {
  if (part.schools.length > 1) await refuseAmbiguous(tx, part);
  await run(tx, insertStaged, part);
  await tx.query(analyzePeople);
  if (part.mode === "BULK") await run(tx, insertMissing, { ...part, role: roleOf(part.people) });
  await run(tx, setNextHomes, part);
  await run(tx, keepLeft, {});
  if (part.schools.length > 1) await run(tx, insertLeavers, part);
}

const findAmbiguous = statement<Omit<Values, "now" | "speaksOf">>()`
  ${(values) => selectAmbiguous(values, sql`${s.schoolId} = ${values.schoolId}`)} LIMIT 1`;

async function refuseAmbiguous(tx: Queryable, part: SchoolPart): Promise<void> {
  const [ambiguous] = await findRows(tx, findAmbiguous, part);
  if (ambiguous !== undefined)
    throw new AppError(
      "conflict",
      "import_outdated",
      "Since the preview, an id of the import has come to fit two people. Preview the file again.",
    );
}

export const ofDirectory = { id: p.id, sourceId: p.sourceSystemIdentifier, role: p.role, ...namesOf(p) };

export const isListed = (person: Pick<typeof p, "role">, role: Part): Sql =>
  sql`(${role}::text IS NULL OR ${person.role}::text = ${role})`;

// A bulk file removes people who are missing in it, unless their row was left out or another school's part takes them.
// `other` is compared with p and not with s, or it would be looked up for all rows of the file, once for each school.
type Missing = Omit<Values, "now" | "speaksOf"> & { role: string | null };
const insertMissing = statement<Missing>(({ importId, schoolId, schools, role }) =>
  importPerson.insert(
    { ...ofDirectory, change: sql`'removed'`, isGone: sql`true` },
    sql`FROM ${p}
     WHERE ${p.homeSchoolId} = ${schoolId} AND ${p.sourceSystemIdentifier} IS NOT NULL AND ${isListed(p, role)}
       AND ${allowsPersonStep(p.status, "softDelete")} AND NOT ${isOfFaultyRow(importId, p.sourceSystemIdentifier)}
       AND NOT EXISTS (SELECT FROM ${planned} WHERE ${planned.id} = ${p.id})
       AND ${p.sourceSystemIdentifier} NOT IN (
         SELECT ${s.sourceId} FROM ${s} WHERE ${s.importId} = ${importId} AND ${s.schoolId} IS NULL)
       AND NOT EXISTS (
         SELECT FROM ${s} WHERE cardinality(${schools}::uuid[]) > 1 AND ${p.sourceIdIsShared}
           AND ${s.importId} = ${importId} AND ${s.sourceId} = ${p.sourceSystemIdentifier}
           AND ${s.schoolId} = ${s.homeSchoolId} AND NOT ${s.isDeleted}
           AND NOT EXISTS (SELECT FROM ${other} WHERE ${other.homeSchoolId} = ${s.homeSchoolId}
             AND ${other.sourceSystemIdentifier} = ${p.sourceSystemIdentifier}))`,
  ),
);

const gone = importPerson.as("gone");

/** A removed person who is also at a school outside the files stays; their longest such school becomes the home. */
const setNextHomes = statement<Pick<Values, "schools">>()`
  UPDATE ${planned} SET change = NULL, leaves = true, next_home = other.school_id
  FROM (
    SELECT DISTINCT ON (${a.personId}) ${a.personId}, ${a.schoolId}
    FROM ${gone} JOIN ${a} ON ${a.personId} = ${gone.id}
    WHERE ${gone.change} = 'removed' AND ${a.schoolId} NOT IN (SELECT unnest(${"schools"}::uuid[]))
    ORDER BY ${a.personId}, ${a.id}) AS other
  WHERE ${planned.id} = other.person_id AND ${planned.change} = 'removed'`;

/** People who already left are not changed. */
const keepLeft = statement()`
  UPDATE ${planned} SET change = NULL FROM ${p} WHERE ${planned.change} = 'removed' AND ${p.id} = ${planned.id}
    AND ${p.leftAt} IS NOT NULL`;

/** Files list all schools of the people in them, so a guest who is missing here leaves. */
const insertLeavers = statement<Omit<Values, "now" | "speaksOf">>(({ importId, schoolId, schools }) =>
  importPerson.insert(
    { ...ofDirectory, leaves: sql`true`, isGone: sql`true` },
    sql`FROM ${a} JOIN ${p} ON ${p.id} = ${a.personId}
     WHERE ${a.schoolId} = ${schoolId} AND ${p.homeSchoolId} <> ${schoolId} AND ${isAmong(p.homeSchoolId, schools)}
       AND EXISTS (SELECT FROM ${s} WHERE ${s.importId} = ${importId} AND ${s.sourceId} = ${p.sourceSystemIdentifier}
         AND ${s.homeSchoolId} = ${p.homeSchoolId} AND ${s.schoolId} = ${s.homeSchoolId} AND NOT ${s.isDeleted})
       AND NOT ${isOfFaultyRow(importId, p.sourceSystemIdentifier)}
       AND NOT EXISTS (SELECT FROM ${planned} WHERE ${planned.id} = ${p.id})`,
  ),
);
