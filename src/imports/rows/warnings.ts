import { literal, makeFind, makeFindOne, sql, table } from "../../platform/database/sql.ts";
import type { Parameters, Part, Queryable, Sql } from "../../platform/database/sql.ts";
import type { ImportFormat, ImportMode } from "../formats/format.ts";
import type { ImportId } from "../state/record.ts";
import { isPerson, staged } from "../formats/staging.ts";

type WarningKind =
  | "CLASS_MISSING"
  | "NAME_TWICE"
  | "GROUP_SPELLING"
  | "CLASS_UNCERTAIN"
  | "DATE_IN_PLACE"
  | "CHARACTERS_LOST"
  | "NO_PERSON";

type ImportWarning = {
  file: string;
  line: number;
  kind: WarningKind;
  name: string;
  detail: string | null;
};

type Subject = { id: ImportId; format: ImportFormat; mode: ImportMode; fileName: string };
type Values = { importId: ImportId; listsClasses: boolean; personFile: string; groupFile: string };

const { p, g, m } = staged;

// What spreadsheets make of 5-1 or 1.5., also abbreviated and as a number of days.
const date = String.raw`^(\d{1,4}[./-]\d{1,2}[./-]\d{2,4}|\d{1,2}[. -]+(jan|feb|m[aä]r|mrz|apr|ma[iy]|jun|jul|aug|sep|o[kc]t|nov|de[zc])[a-zé]*\.?([ -]\d{2,4})?|(jan|feb|m[aä]r|mrz|apr|ma[iy]|jun|jul|aug|sep|o[kc]t|nov|de[zc])[a-zé]*\.?[ -]+\d{2,4})$`;
const daysSince1900 = "^[34]\\d{4}$";

/** A character that was replaced, or UTF-8 that a program took for Windows-1252, such as `MÃ¼ller`. */
const lost = "[?\ufffd]|[ÃÅÄ][\u00a1-\u00bf„–Ÿœžš‚ˆ]|â€";

const printedName = sql`(${p.firstFull} || ' ' || ${p.last})`;
const isHere = (importId: Part) => sql`${p.importId} = ${importId} AND NOT ${p.isDeleted}
  AND ${p.schoolId} IS NOT DISTINCT FROM ${p.homeSchoolId} AND ${p.firstFull} IS NOT NULL`;
const isGroup = (importId: Part) => sql`${g.importId} = ${importId} AND NOT ${g.isDeleted} AND ${g.name} IS NOT NULL`;
const isClass = sql`${g.type} = 'KLASSE'`;
const ofPerson = (importId: Part) => sql`${m} JOIN ${g} ON ${isGroup(importId)} AND ${isClass}
  AND ${g.sourceId} = ${m.groupSourceId}`;

const other = table("stagedGroup", "other");
const known = table("group", "known");
/** SQL: a name of a class as `findClassesIn` writes them. */
const spelled = (name: Sql) => sql`regexp_replace(regexp_replace(lower(${name}), '[\\s./-]', '', 'g'), '^0+', '')`;

type Search = { kind: WarningKind; of: "person" | "group"; row: Sql; from: Sql };

/** SQL: a sort key without what distinguishes no names: case, accents, spaces, full stops and leading zeros. */
const spelling = sql`regexp_replace(regexp_replace(split_part(${g.sortKey}, ' ', 1), '#[0>]', '', 'g'),
  '(?<![0-9])0+(?=[0-9])', '', 'g')`;

/** What is searched for, in the order of the list. */
const makeSearches = ({ importId, listsClasses }: { importId: Part; listsClasses: Part }): readonly Search[] => [
  {
    kind: "CLASS_MISSING",
    of: "person",
    row: sql`${p.line}, ${printedName} AS name, NULL AS detail`,
    from: sql`${p} WHERE ${isHere(importId)} AND ${listsClasses} AND ${p.role} = 'STUDENT'
      AND EXISTS (SELECT FROM ${g} WHERE ${isGroup(importId)} AND ${isClass})
      AND NOT EXISTS (SELECT FROM ${ofPerson(importId)}
        WHERE ${m.importId} = ${importId} AND NOT ${m.isDeleted} AND ${m.personSourceId} = ${p.sourceId})`,
  },
  {
    kind: "NAME_TWICE",
    of: "person",
    row: sql`twins.line, twins.name, twins.detail`,
    // Somebody may be enrolled in a class several times, for one term each.
    from: sql`(
      SELECT member.line, member.name, member.detail,
        count(*) OVER (PARTITION BY member.group_id, lower(member.name)) AS many
      FROM (SELECT DISTINCT ${p.line}, ${p.sourceId}, ${printedName} AS name, ${g.name} AS detail, ${g.sourceId} AS group_id
        FROM ${ofPerson(importId)} JOIN ${p} ON ${isHere(importId)} AND ${p.sourceId} = ${m.personSourceId}
        WHERE ${m.importId} = ${importId} AND NOT ${m.isDeleted}) AS member) AS twins
    WHERE twins.many > 1`,
  },
  {
    kind: "GROUP_SPELLING",
    of: "group",
    row: sql`alike.line, alike.name, array_to_string(array_remove(alike.names, alike.name), ', ') AS detail`,
    from: sql`(
      SELECT ${g.line}, ${g.name}, array_agg(${g.name}) OVER (PARTITION BY ${g.schoolId}, ${g.type}, ${spelling}) AS names
      FROM ${g} WHERE ${isGroup(importId)}) AS alike
    WHERE cardinality(array_remove(alike.names, alike.name)) > 0`,
  },
  {
    kind: "CLASS_UNCERTAIN",
    of: "group",
    row: sql`uncertain.line, uncertain.name, uncertain.detail`,
    from: sql`(
      SELECT ${g.line}, ${g.name}, string_agg(DISTINCT there.name, ', ') AS detail
      FROM ${g} CROSS JOIN unnest(${g.mayMean}) AS meant (name) JOIN (
        SELECT ${other.schoolId}, ${other.name} FROM ${other}
        WHERE ${other.importId} = ${importId} AND NOT ${other.isDeleted} AND ${other.type} = 'KLASSE'
          AND cardinality(${other.mayMean}) = 0
        UNION SELECT ${known.schoolId}, ${known.name} FROM ${known}
        WHERE ${known.type} = 'KLASSE' AND ${known.status} = 'ACTIVE') AS there
        ON there.school_id = ${g.schoolId} AND there.name <> ${g.name}
          AND (${spelled(sql`there.name`)} = meant.name
            OR meant.name ~ '^[0-9]+$' AND ${spelled(sql`there.name`)} ~ ('^' || meant.name || '[a-z]{1,2}$'))
      WHERE ${isGroup(importId)} GROUP BY ${g.line}, ${g.name}, ${g.sourceId}) AS uncertain`,
  },
  {
    kind: "DATE_IN_PLACE",
    of: "person",
    row: sql`${p.line}, ${printedName} AS name, ${p.sourceId} AS detail`,
    from: sql`${p} WHERE ${isHere(importId)} AND ${p.sourceId} ~* ${literal(date)}`,
  },
  {
    kind: "DATE_IN_PLACE",
    of: "group",
    row: sql`${g.line}, ${g.name}, NULL AS detail`,
    from: sql`${g} WHERE ${isGroup(importId)}
      AND (${g.name} ~* ${literal(date)} OR ${isClass} AND ${g.name} ~ ${literal(daysSince1900)})`,
  },
  {
    kind: "CHARACTERS_LOST",
    of: "person",
    row: sql`${p.line}, ${printedName} AS name, NULL AS detail`,
    from: sql`${p} WHERE ${isHere(importId)}
      AND concat(${p.firstFull}, ${p.firstCall}, ${p.last}) ~ ${literal(lost)}`,
  },
  {
    kind: "CHARACTERS_LOST",
    of: "group",
    row: sql`${g.line}, ${g.name}, NULL AS detail`,
    from: sql`${g} WHERE ${isGroup(importId)} AND ${g.name} ~ ${literal(lost)}`,
  },
  {
    kind: "NO_PERSON",
    of: "person",
    row: sql`${p.line}, ${p.fields} ->> 0 AS name, NULL AS detail`,
    from: sql`${p} WHERE ${p.importId} = ${importId} AND NOT ${isPerson(p)}`,
  },
];

const all = (values: Parameters<Values>): Sql =>
  makeSearches(values)
    .map(({ kind, of, row, from }, _, searches) => {
      const first = searches.findIndex((search) => search.kind === kind);
      return sql`SELECT ${literal(kind)} AS kind, ${first} AS place,
        ${of === "person" ? values.personFile : values.groupFile}::text AS file, ${row} FROM ${from}`;
    })
    .reduce((left, right) => sql`${left} UNION ALL ${right}`);

type Page = { skip: number; limit: number };

const select = makeFind<ImportWarning, Values & Page>()`
  SELECT kind, file, line, name, detail FROM (${all}) AS warning
  ORDER BY place, line, name COLLATE "C", detail COLLATE "C" LIMIT ${"limit"} OFFSET ${"skip"}`;
const count = makeFindOne<{ count: number }, Values>()`
  SELECT count(*)::int AS count FROM (${all}) AS warning`;

function valuesOf({ id: importId, format, mode, fileName }: Subject): Values {
  const [personFile, groupFile] = format === "ONEROSTER" ? ["users.csv", "classes.csv"] : [fileName, fileName];
  return { importId, personFile, groupFile, listsClasses: format !== "ONEROSTER" || mode === "BULK" };
}

/** What looks like a mistake in the staged rows. */
export const listWarnings = (tx: Queryable, subject: Subject, page: Page): Promise<ImportWarning[]> =>
  select(tx, { ...valuesOf(subject), ...page });

export const countWarnings = async (tx: Queryable, subject: Subject): Promise<number> =>
  (await count(tx, valuesOf(subject))).count;
