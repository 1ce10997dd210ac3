import type { SchoolId } from "../directory/index.ts";
import type { Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import type { Counts } from "./counts.ts";
import type { ImportFormat, ImportMode } from "./formats/format.ts";

export type ImportId = string & { readonly __importId: true };

/** READY and HELD wait; HELD needs somebody to confirm what it removes; EXPIRED waited too long. */
export type ImportState = "READING" | "BROKEN" | "READY" | "HELD" | "APPLIED" | "EXPIRED";

export type ImportRecord = {
  id: ImportId;
  format: ImportFormat;
  mode: ImportMode;
  state: ImportState;
  fileName: string;
  schoolYear: string;
  errorCount: number;
  /** What was passed over on purpose, by code. */
  notes: Record<string, number>;
  createdAt: Date;
  appliedAt: Date | null;
  schools: { id: SchoolId; state: "READY" | "HELD" | "APPLIED"; counts: Counts }[];
};

/** Units: line from 1; column is the number of the field in CSV and of the character in JSON; null where the whole line or file is meant. */
export type ImportFault = {
  file: string;
  line: number;
  column: number | null;
  field: string | null;
  code: string;
  message: string;
};

const selectImports = (where: string) => `
  SELECT i.id, i.format, i.mode, i.state, i.file_name AS "fileName", i.school_year AS "schoolYear", i.error_count AS "errorCount",
    i.notes, i.created_at AS "createdAt", i.applied_at AS "appliedAt",
    (SELECT coalesce(json_agg(json_build_object('id', s.school_id, 'state', s.state, 'counts', s.counts) ORDER BY s.school_id), '[]')
     FROM import_school s WHERE s.import_id = i.id) AS schools
  FROM import i WHERE ${where} ORDER BY i.created_at DESC, i.id DESC`;

export async function getImport(db: Queryable, id: ImportId): Promise<ImportRecord> {
  const { rows } = await db.query<ImportRecord>(selectImports("i.id = $1"), [id]);
  if (!rows[0]) throw new AppError("not_found", "import_not_found", "There is no such import.");
  return rows[0];
}

/** The latest imports, of one school if it is named. */
export async function listImports(
  db: Queryable,
  { schoolId, limit = 50 }: { schoolId?: SchoolId | undefined; limit?: number | undefined },
): Promise<ImportRecord[]> {
  const where =
    "$1::uuid IS NULL OR EXISTS (SELECT FROM import_school s WHERE s.import_id = i.id AND s.school_id = $1)";
  const { rows } = await db.query<ImportRecord>(`${selectImports(where)} LIMIT $2`, [schoolId ?? null, limit]);
  return rows;
}

/** The faults of a broken import in the order of its files, from the `skip`-th on. */
export async function listImportFaults(
  db: Queryable,
  id: ImportId,
  { limit = 1000, skip = 0 } = {},
): Promise<ImportFault[]> {
  const { rows } = await db.query<ImportFault>(
    `SELECT file, line, "column", field, code, message FROM import_error WHERE import_id = $1
     ORDER BY file, line, "column" NULLS FIRST, row LIMIT $2 OFFSET $3`,
    [id, limit, skip],
  );
  return rows;
}

export async function deleteStaged(tx: Queryable, importId: string): Promise<void> {
  for (const table of ["staged_person", "staged_role", "staged_group", "staged_membership"]) {
    await tx.query(`DELETE FROM ${table} WHERE import_id = $1`, [importId]);
  }
}

/** Lets PostgreSQL count the staged rows; outside of any transaction, where it makes no other import wait. */
export async function analyzeStaged(db: Queryable): Promise<void> {
  await db.query("ANALYZE staged_person, staged_role, staged_group, staged_membership");
}
