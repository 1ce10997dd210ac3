import type { PersonName, PersonRole, SchoolId } from "../../directory/index.ts";
import { AppError } from "../../platform/errors.ts";
import type { SourceFile } from "../read/source.ts";
import { findTextProblem, readTable, type Row } from "../read/table.ts";
import type { StagedGroup, Staging } from "../staging.ts";
import type { Read, Reading } from "./format.ts";

const roles = new Map<string, PersonRole>([["student", "STUDENT"], ["teacher", "TEACHER"], ["other", "OTHER"]]);

const groupColumns = [
  ["classes", "class", "KLASSE"],
  ["courses", "course", "KURS"],
  ["groups", "group", "SONSTIG"],
] as const;

/** Reads the service's own format: one row for each person, with their groups by name. FORMATS.md describes it. */
export async function readPlain(file: SourceFile, reading: Reading): Promise<Read> {
  const { staging, onBytes, mode = "BULK" } = reading;
  const school = reading.schools.only;
  if (school === undefined) throw new AppError("invalid", "school_missing", "A plain CSV file says nothing of schools: name the one it is for.");
  const seen = new Set<string>();
  await readTable({ file, onBytes, required: ["id", "role", "first_name", "last_name"] }, staging, (row) => {
    const sourceId = row.need("id", 255);
    const role = readRole(row);
    const isDeleted = readStatus(row);
    staging.person({ line: row.line, column: row.column("id") }, { sourceId, schools: [school], role, name: readName(row), isDeleted });
    if (!isDeleted) readGroups(row, { staging, school, seen, sourceId, carryOvers: reading.carryOvers });
  });
  const places = { file: file.name, person: "id" };
  return { mode, schools: new Set([school]), places: { person: places, group: { file: file.name, group: "classes" }, membership: places, role: places } };
}

function readRole(row: Row): PersonRole | null {
  const text = row.need("role");
  const role = roles.get(text.toLowerCase());
  if (role === undefined && text !== "") row.fault("role", "unknown_role", "The role is not student, teacher or other.");
  return role ?? null;
}

function readStatus(row: Row): boolean {
  const status = row.get("status").toLowerCase();
  if (status !== "" && status !== "active" && status !== "deleted") row.fault("status", "unknown_status", "The status is not active or deleted.");
  return status === "deleted";
}

/** A person without a name has none of its parts. */
function readName(row: Row): PersonName | null {
  if (row.get("first_name") === "" && row.get("last_name") === "") return null;
  const firstFull = row.need("first_name");
  const last = row.need("last_name");
  const firstCall = row.get("call_name") === "" ? firstFull : row.need("call_name");
  return { firstFull, firstCall, last };
}

type Given = { staging: Staging; school: SchoolId; seen: Set<string>; sourceId: string; carryOvers: ReadonlyMap<string, string> };

function readGroups(row: Row, { staging, school, seen, sourceId, carryOvers }: Given): void {
  for (const [heading, kind, type] of groupColumns) {
    const column = row.column(heading);
    for (const name of new Set(row.get(heading).split("|").map((part) => part.trim().normalize("NFC")))) {
      if (name === "") continue;
      const problem = findTextProblem(name, 200);
      if (problem) {
        row.fault(heading, ...problem);
        continue;
      }
      const groupSourceId = `${kind}:${name}`;
      if (!seen.has(groupSourceId)) {
        seen.add(groupSourceId);
        const group: StagedGroup = { sourceId: groupSourceId, schoolId: school, name, type, previousSourceId: carryOvers.get(groupSourceId) ?? null, isDeleted: false };
        staging.group({ line: row.line, column }, group);
      }
      const membership = { schoolId: school, personSourceId: sourceId, groupSourceId, role: null, isDeleted: false };
      staging.membership({ line: row.line, column: row.column("id"), groupColumn: column }, membership);
    }
  }
}
