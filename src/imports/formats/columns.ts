import type { PersonRole } from "../../directory/index.ts";
import { AppError } from "../../platform/errors.ts";
import type { CsvRecord, Separator } from "../read/csv.ts";
import { refuseWide, type Head, type TableLayout } from "../read/table.ts";
import { chooseScope, roleOf, type AskedScope, type ImportMode, type ImportPeople } from "./format.ts";
import {
  findClassIn,
  findRoleIn,
  foldWord,
  isClassName,
  isParentRole,
  readDate,
  readHeading,
  readRole,
} from "./words.ts";
import type { ColumnUse } from "./words.ts";

/** What the columns of a table mean, and what is true of all its rows. */
export type Mapping = {
  uses: readonly (ColumnUse | null)[];
  /** The role of everybody, in a table without a column for it. */
  role: PersonRole | null;
  /** The class of all people of the file, if it has no column for it. */
  className: string | null;
  /** Ids are made of name and date of birth. */
  idFromName: boolean;
  mode: ImportMode;
  /** ALL if left out. */
  people?: ImportPeople | undefined;
};

export type TableGuess = {
  separator: Separator;
  /** 0 without headings. */
  headingLine: number;
  headings: readonly string[];
  samples: readonly (readonly string[])[];
  mapping: Mapping;
};

const template = ["id", "role", "first_name", "last_name"];

/** Whether the headings are those of our own template, which needs no question. */
export const isTemplate = ({ headings }: TableGuess): boolean => {
  const names = new Set(headings.map((heading) => heading.trim().toLowerCase()));
  return template.every((name) => names.has(name));
};

const sampleCount = 5;
const maxHeadingLines = 25;

/** Guesses the headings and the columns of a table. `name` is that of the file. Errors: invalid file_*. */
export function guessColumns(head: Head, { name, ...scope }: AskedScope & { name: string }): TableGuess {
  const { records, separator, width } = head;
  if (records.length === 0) throw new AppError("invalid", "file_empty", "The file is empty.");
  if (width < 2)
    throw new AppError(
      "invalid",
      "file_has_one_column",
      "The file has a single column. Save it as CSV with semicolons, commas or tabs between the columns.",
    );
  refuseWide(Math.max(...records.map(({ fields }) => trimmed(fields).length)));
  const heading = findHeadings(head);
  const rows = heading === undefined ? records : records.slice(records.indexOf(heading) + 1);
  const columns = Math.max(trimmed(heading?.fields ?? []).length, ...rows.map(({ fields }) => trimmed(fields).length));
  const headings = Array.from({ length: columns }, (_, index) => cleanCell(heading?.fields[index]?.trim() ?? ""));
  if (headings.some((text) => text === "sourcedId") && headings.some((text) => text.startsWith("orgSourcedId")))
    throw new AppError(
      "invalid",
      "oneroster_without_archive",
      "The file is a single file of a OneRoster export. Upload the whole zip archive.",
    );
  const samples = headings.map((_, index) => rows.map(({ fields }) => fields[index]?.trim() ?? ""));
  const titles = heading === undefined ? [] : records.slice(0, records.indexOf(heading));
  const about = [...titles.map(({ fields }) => fields.join(" ")), name.replace(/\.\w+$/, "")];
  return {
    separator,
    headingLine: heading?.line ?? 0,
    headings,
    samples: samples.map((values) =>
      values
        .filter((value) => value !== "")
        .slice(0, sampleCount)
        .map(cleanCell),
    ),
    mapping: guessMapping(headings, samples, { about, ...scope }),
  };
}

const longestCell = 200;

/** A heading or sample as it is stored and shown; PostgreSQL stores no NUL and no half of a character. */
export const cleanCell = (text: string): string =>
  text.slice(0, longestCell).replace(/\p{C}/gu, "\ufffd").toWellFormed();

const trimmed = (fields: readonly string[]): readonly string[] =>
  fields.slice(0, fields.findLastIndex((field) => field.trim() !== "") + 1);

/** The record with the most known headings; without any, the first full one unless it holds data. */
function findHeadings({ records, width }: Head): CsvRecord | undefined {
  const count = ({ fields }: CsvRecord) => fields.filter((field) => readHeading(field) !== undefined).length;
  const counts = records.slice(0, maxHeadingLines).map(count);
  const most = Math.max(...counts);
  if (most > 0) return records[counts.indexOf(most)];
  const first = records.find(({ fields }) => fields.length === width);
  const isData = (field: string) => /^\d+$/.test(field.trim()) || readDate(field) !== undefined || isClassName(field);
  return first === undefined || first.fields.some(isData) ? undefined : first;
}

function guessMapping(
  headings: readonly string[],
  samples: readonly string[][],
  { about, ...requested }: AskedScope & { about: readonly string[] },
): Mapping {
  const uses = guessUses(headings, samples);
  const has = (use: ColumnUse) => uses.includes(use);
  const named = [...about, ...headings.filter((_, index) => uses[index] === "FULL_NAME" || uses[index] === "ID")];
  const scope = chooseScope(requested, { mode: has("ROLE") ? "BULK" : "DELTA", people: "ALL" });
  const role = has("ROLE")
    ? null
    : (roleOf(scope.people) ??
      named.map(findRoleIn).find((role) => role !== undefined) ??
      (has("CLASSES") ? "STUDENT" : null));
  const className = has("CLASSES") || role === "TEACHER" ? undefined : about.map(findClassIn).find(Boolean);
  return {
    uses,
    role,
    className: className ?? null,
    idFromName: false,
    ...scope,
  };
}

const manyColumns: readonly ColumnUse[] = ["CLASSES", "COURSES", "GROUPS"];

const isRepeatable = (use: ColumnUse): boolean => manyColumns.includes(use);

function guessUses(headings: readonly string[], samples: readonly string[][]): Uses {
  const uses: Uses = headings.map(() => null);
  const columns = headings
    .flatMap((heading, index) => {
      const read = readHeading(heading);
      return read === undefined ? [] : [{ index, heading, ...read }];
    })
    .toSorted((a, b) => a.rank - b.rank);
  for (const { index, heading, use } of columns) {
    if (uses.includes(use) && !isRepeatable(use)) continue;
    if (fits(use, heading, samples[index]!)) uses[index] = use;
  }
  const nearly = columns.find(({ index, heading, use }) => use === "ID" && holdsIds(heading, samples[index]!, 0.8));
  if (nearly !== undefined && uses[nearly.index] === null && !uses.includes("ID")) uses[nearly.index] = "ID";
  settleNames(uses, columns, samples);
  // A group of every pupil that is named like a class is their class.
  const group = uses.findIndex((use, index) => use === "GROUPS" && mostly(samples[index]!, isClassName));
  if (group !== -1 && !uses.includes("CLASSES")) uses[group] = "CLASSES";
  for (const [use, test] of byContent) {
    if (uses.includes(use)) continue;
    const index = uses.findIndex((present, at) => present === null && mostly(samples[at]!, test));
    if (index !== -1) uses[index] = use;
  }
  return uses;
}

type Uses = (ColumnUse | null)[];
type FoundHeading = { index: number; use: ColumnUse; rank: number };

/** What the columns of names mean beside each other. */
function settleNames(uses: Uses, headings: readonly FoundHeading[], samples: readonly string[][]): void {
  const at = (use: ColumnUse) => uses.indexOf(use);
  // If a file has "alle Vornamen" and "Vorname", the column "Vorname" is used.
  const other = headings.find(({ index, use, rank }) => {
    const first = headings.find((one) => one.index === at("FIRST_NAME"));
    return (
      use === "FIRST_NAME" && uses[index] === null && first !== undefined && Math.floor(rank) > Math.floor(first.rank)
    );
  });
  if (other !== undefined && at("CALL_NAME") === -1) uses[other.index] = "CALL_NAME";
  const [full, first, last] = [at("FULL_NAME"), at("FIRST_NAME"), at("LAST_NAME")];
  const part = first === -1 ? at("CALL_NAME") : first;
  if (full !== -1 && last !== -1 && part !== -1) uses[full] = null;
  else if (full !== -1 && part !== -1) {
    const isWhole = samples[full]!.filter((name, row) => holdsName(name, samples[part]![row] ?? "")).length;
    if (isWhole > samples[full]!.length / 2) uses[part] = uses[part] === "CALL_NAME" ? "CALL_NAME" : null;
    else uses[full] = "LAST_NAME";
  }
  if (at("FULL_NAME") === -1 && at("FIRST_NAME") === -1 && part !== -1) uses[part] = "FIRST_NAME";
}

/** Whether a name is a whole one with this first name in it, such as `Aydın, Elif`. */
const holdsName = (name: string, first: string): boolean =>
  first !== "" && name.length > first.length && name.split(/[\s,]+/).includes(first.split(/\s+/)[0]!);

const isRole = (value: string): boolean => readRole(value) !== undefined || isParentRole(value);

/** Columns without a known heading that tell by their values what they are. */
const byContent: readonly [ColumnUse, (value: string) => boolean][] = [
  ["ROLE", (value) => value.length > 1 && isRole(value)],
  ["CLASSES", isClassName],
  ["BIRTH_DATE", (value) => !/^\d+$/.test(value) && readDate(value) !== undefined],
];

function mostly(values: readonly string[], test: (value: string) => boolean): boolean {
  const filled = values.filter((value) => value !== "");
  return filled.length > 0 && filled.filter(test).length >= 0.8 * filled.length;
}

function fits(use: ColumnUse, heading: string, values: readonly string[]): boolean {
  const filled = values.filter((value) => value !== "");
  if (use === "STATUS") return filled.every((value) => /^(active|deleted)$/i.test(value));
  if (use === "ROLE") return filled.length === 0 || mostly(values, isRole);
  return use !== "ID" || holdsIds(heading, values);
}

/** `distinct` is the share of values that must differ: a person who is in a file twice is a fault of a row. */
function holdsIds(heading: string, values: readonly string[], distinct = 1): boolean {
  const filled = values.filter((value) => value !== "");
  // A running number changes with each export, so it identifies nobody.
  const isRunning = /^(nr|nummer|no|number)$/.test(foldWord(heading)) && filled.every((v, n) => Number(v) === n + 1);
  // A column that many rows lack holds no ids; a few rows may be sums.
  const isFilled = filled.length > 0.8 * values.length - 1 && filled.length > 0;
  return isFilled && !isRunning && new Set(filled).size >= distinct * filled.length;
}

const problems = {
  column_used_twice: "Two columns have the same use. Only classes, courses and groups may have several.",
  id_column_missing:
    "The table has no column with a number of each person. Export it with one, or have ids made of name and date of birth.",
  name_column_missing: "The table needs columns for first and last name, or one for both.",
  role_column_missing: "Choose the column of the role, or one role for everybody.",
  role_of_others: "A list of all students holds students only, and one of all teachers teachers only.",
};

function findProblem({ uses, role, idFromName, people = "ALL" }: Mapping): keyof typeof problems | undefined {
  const has = (use: ColumnUse) => uses.includes(use);
  const single = uses.filter((use) => use !== null && !isRepeatable(use));
  if (new Set(single).size < single.length) return "column_used_twice";
  if (!has("FULL_NAME") && !(has("FIRST_NAME") && has("LAST_NAME"))) return "name_column_missing";
  if (idFromName ? !has("BIRTH_DATE") : !has("ID")) return "id_column_missing";
  if (!has("ROLE") && role === null) return "role_column_missing";
  return role === null || roleOf(people) === null || role === roleOf(people) ? undefined : "role_of_others";
}

/** Errors: invalid, if the table cannot be read with this mapping. */
export function checkMapping({ headings }: Pick<TableGuess, "headings">, mapping: Mapping): void {
  const [all, mapped] = [headings.length, mapping.uses.length];
  if (all !== mapped)
    throw new AppError("invalid", "column_count_differs", `The table has ${all} columns, the mapping ${mapped}.`);
  const problem = findProblem(mapping);
  if (problem !== undefined) throw new AppError("invalid", problem, problems[problem]);
}

/** The layout of a table for a reader that asks for columns by their use. */
export function layOut({ separator, headingLine, headings }: TableGuess, { uses }: Pick<Mapping, "uses">): TableLayout {
  const columns = new Map<string, number[]>();
  for (const [index, use] of uses.entries())
    if (use !== null) columns.set(use.toLowerCase(), [...(columns.get(use.toLowerCase()) ?? []), index]);
  return { separator, headingLine, headings, columns };
}
