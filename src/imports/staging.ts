import { finished } from "node:stream/promises";
import { from as copyFrom } from "pg-copy-streams";
import type { PersonName, PersonRole, SchoolId } from "../directory/index.ts";
import { makePersonSortKey, makeSortKey } from "../directory/index.ts";
import type { Queryable } from "../platform/db.ts";

/** Where in the files something stands. Units: line from 1; column is the number of the field in CSV, of the character in JSON. */
export type Place = { file: string; line: number; column: number | null; field: string | null };

export type StagedPerson = {
  sourceId: string;
  /** The first one is the home school; empty where a file of its own says it, or where it could not be read. */
  schools: readonly SchoolId[];
  role: PersonRole | null;
  name: PersonName | null;
  isDeleted: boolean;
};
/** Without a school it is a role at some other organisation. */
export type StagedRole = {
  personSourceId: string;
  schoolId: SchoolId | null;
  role: PersonRole;
  isPrimary: boolean;
  isDeleted: boolean;
};
export type StagedGroup = {
  sourceId: string;
  schoolId: SchoolId | null;
  name: string;
  type: "KLASSE" | "KURS" | "SONSTIG" | null;
  previousSourceId: string | null;
  isDeleted: boolean;
};
export type StagedMembership = {
  schoolId: SchoolId | null;
  personSourceId: string;
  groupSourceId: string;
  role: PersonRole | null;
  isDeleted: boolean;
};

type At = { line: number; column: number };

export type Staging = {
  person(at: At, person: StagedPerson): void;
  role(at: At, role: StagedRole): void;
  group(at: At, group: StagedGroup): void;
  membership(at: At & { groupColumn: number }, membership: StagedMembership): void;
  /** Counts a fault; the first `maxFaults` are kept, and from then on no other row, for the file is broken anyway. */
  fault(place: Place, code: string, message: string): void;
  /** Counts something that is passed over on purpose. */
  note(code: string): void;
  /** Writes what has gathered once it is worth a COPY; readers call it between pieces of a file. */
  flushIfFull(): Promise<void>;
  flush(): Promise<void>;
  readonly faults: number;
  readonly notes: Record<string, number>;
};

const columns = {
  person:
    'staged_person (import_id, row, line, "column", source_id, school_id, home_school_id, role, first_full, first_call, last, sort_key, is_deleted)',
  role: 'staged_role (import_id, row, line, "column", person_source_id, school_id, role, is_primary, is_deleted)',
  group:
    'staged_group (import_id, row, line, "column", source_id, school_id, name, sort_key, type, previous_source_id, is_deleted)',
  membership:
    "staged_membership (import_id, row, line, person_column, group_column, school_id, person_source_id, group_source_id, role, is_deleted)",
  fault: 'import_error (import_id, row, file, line, "column", field, code, message)',
};

const fullBytes = 1_000_000;

/** How many faults of an import are kept with their places; the others are only counted. */
export const maxFaults = 10_000;

/** Gathers rows of all tables and hands them to PostgreSQL by COPY, a megabyte at a time on one connection. */
export function makeStaging(tx: Queryable, importId: string): Staging {
  const gathered = { person: "", role: "", group: "", membership: "", fault: "" };
  const notes: Record<string, number> = {};
  let row = 0;
  let faults = 0;
  let size = 0;
  const add = (table: keyof typeof gathered, values: readonly Value[]) => {
    if (faults > maxFaults) return;
    const line = `${importId}\t${++row}\t${values.map(encode).join("\t")}\n`;
    gathered[table] += line;
    size += line.length;
  };

  const flush = async () => {
    for (const table of Object.keys(columns) as (keyof typeof columns)[]) {
      if (gathered[table] === "") continue;
      const copy = tx.query(copyFrom(`COPY ${columns[table]} FROM STDIN`));
      copy.end(gathered[table]);
      gathered[table] = "";
      await finished(copy);
    }
    size = 0;
  };

  return {
    person({ line, column }, { sourceId, schools, role, name, isDeleted }) {
      const [home = null] = schools;
      const rest = [role, name?.firstFull, name?.firstCall, name?.last, makePersonSortKey(name), isDeleted];
      for (const school of schools.length === 0 ? [null] : schools)
        add("person", [line, column, sourceId, school, home, ...rest]);
    },
    role({ line, column }, { personSourceId, schoolId, role, isPrimary, isDeleted }) {
      add("role", [line, column, personSourceId, schoolId, role, isPrimary, isDeleted]);
    },
    group({ line, column }, { sourceId, schoolId, name, type, previousSourceId, isDeleted }) {
      add("group", [line, column, sourceId, schoolId, name, makeSortKey(name), type, previousSourceId, isDeleted]);
    },
    membership({ line, column, groupColumn }, { schoolId, personSourceId, groupSourceId, role, isDeleted }) {
      add("membership", [line, column, groupColumn, schoolId, personSourceId, groupSourceId, role, isDeleted]);
    },
    fault({ file, line, column, field }, code, message) {
      faults += 1;
      add("fault", [file, line, column, field, code, message]);
    },
    note(code) {
      notes[code] = (notes[code] ?? 0) + 1;
    },
    flushIfFull: async () => (size > fullBytes ? flush() : undefined),
    flush,
    get faults() {
      return faults;
    },
    notes,
  };
}

type Value = string | number | boolean | null | undefined;

const escapes: Record<string, string> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

function encode(value: Value): string {
  if (value === null || value === undefined) return "\\N";
  if (typeof value !== "string") return String(value);
  return /[\\\t\n\r]/.test(value) ? value.replace(/[\\\t\n\r]/g, (sign) => escapes[sign]!) : value;
}
