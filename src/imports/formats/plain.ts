import { readFileSync } from "node:fs";
import type { PersonName, SchoolId } from "../../directory/index.ts";
import { AppError } from "../../platform/errors.ts";
import type { SourceFile } from "../read/source.ts";
import { readHead } from "../read/head.ts";
import { readTable, type Row, type TableLayout } from "../read/table.ts";
import { findValueFault, idLength, nameLength, readUsername, toName } from "../read/value.ts";
import { guessColumns, isTemplate } from "./columns.ts";
import { maxGroups, tooManyGroups, type ReadContext, type ReadResult } from "./format.ts";
import { readRole } from "./words.ts";

const groupColumns = [
  ["classes", "class", "KLASSE"],
  ["courses", "course", "KURS"],
  ["groups", "group", "SONSTIG"],
] as const;

export const plainTemplate = (): string => readFileSync(new URL("../template.csv", import.meta.url), "utf8");

export const schoolMissing = () =>
  new AppError("invalid", "school_missing", "A plain CSV file says nothing of schools: name the one it is for.");

/**
 * Reads a table of people: one row per person, with groups by name. FORMATS.md describes it.
 *
 * Errors: those of `guessColumns`.
 */
export async function readPlain(file: SourceFile, input: ReadContext): Promise<ReadResult> {
  const { staging, onBytes, mode = "BULK" } = input;
  const school = input.schools.only;
  if (school === undefined) throw schoolMissing();
  const seen = new Set<string>();
  const layout = await findTemplate(file, input);
  await readTable({ file, onBytes, layout, required: ["id", "role", "first_name", "last_name"] }, staging, (row) => {
    const sourceId = row.need("id", idLength);
    const role = row.choose("role", readRole, "unknown_role", "The role is not student, teacher or other.");
    const isDeleted = readStatus(row);
    staging.person(
      { line: row.line, column: row.column("id") },
      { sourceId, schools: [school], role, name: readName(row), username: readUsername(row), isDeleted },
    );
    if (!isDeleted) readGroups(row, { staging, school, seen, sourceId, carryOvers: input.carryOvers });
  });
  const columns = { file: file.name, person: "id" };
  return {
    mode,
    schools: new Set([school]),
    keyColumns: { person: columns, group: { file: file.name, group: "classes" }, membership: columns, role: columns },
  };
}

/** Where the template's table begins and which separator it has; columns are found by their headings. */
async function findTemplate(file: SourceFile, { mode }: ReadContext): Promise<TableLayout | undefined> {
  const head = await readHead(file);
  if (head.records.length === 0) return undefined;
  const guess = guessColumns(head, { name: file.name, mode });
  return isTemplate(guess) ? { ...guess, columns: undefined } : undefined;
}

function readStatus(row: Row): boolean {
  const status = row.get("status").toLowerCase();
  if (status !== "" && status !== "active" && status !== "deleted")
    row.fault("status", "unknown_status", "The status is not active or deleted.");
  return status === "deleted";
}

function readName(row: Row): PersonName | null {
  if (row.get("first_name") === "" && row.get("last_name") === "") return null;
  const [firstFull, last] = [toName(row.need("first_name")), toName(row.need("last_name"))];
  const firstCall = toName(row.take("call_name")) || firstFull;
  return { firstFull, firstCall, last };
}

const maxNames = 20_000;

type PersonContext = Pick<ReadContext, "staging" | "carryOvers"> & {
  school: SchoolId;
  seen: Set<string>;
  sourceId: string;
};

function readGroups(row: Row, { staging, school, seen, sourceId, carryOvers }: PersonContext): void {
  for (const [heading, kind, type] of groupColumns) {
    const column = row.column(heading);
    const names = row.get(heading);
    if (names.length > maxNames) {
      row.fault(heading, "value_too_long", `The value is longer than ${maxNames} characters.`);
      continue;
    }
    for (const name of new Set(names.split("|").map(toName))) {
      if (name === "") continue;
      const problem = findValueFault(name, nameLength);
      if (problem) {
        row.fault(heading, ...problem);
        continue;
      }
      const groupSourceId = `${kind}:${name}`;
      if (!seen.has(groupSourceId)) {
        if (seen.size >= maxGroups) {
          row.fault(heading, "too_many_groups", tooManyGroups);
          return;
        }
        seen.add(groupSourceId);
        const previousSourceId = carryOvers.get(groupSourceId) ?? null;
        const group = { sourceId: groupSourceId, schoolId: school, name, type, previousSourceId, isDeleted: false };
        staging.group({ line: row.line, column }, group);
      }
      const membership = { schoolId: school, personSourceId: sourceId, groupSourceId, role: null, isDeleted: false };
      staging.membership({ line: row.line, column: row.column("id"), groupColumn: column }, membership);
    }
  }
}
