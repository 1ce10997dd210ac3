import type { SchoolId } from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import { withTransaction, type Db, type Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/ids.ts";
import { checkStaged } from "./check.ts";
import { countDifference, isHeld, takeSamples, type Samples } from "./counts.ts";
import { findDifference, type Part } from "./difference.ts";
import type { ImportFormat, ImportMode, Read, Reading } from "./formats/format.ts";
import { readOneRoster } from "./formats/oneroster.ts";
import { readPlain } from "./formats/plain.ts";
import { readSchulconnex } from "./formats/schulconnex.ts";
import type { OnProgress } from "./progress.ts";
import { openSourceFile } from "./read/source.ts";
import { openArchive } from "./read/zip.ts";
import { analyzeStaged, deleteStaged, getImport, type ImportId, type ImportRecord } from "./record.ts";
import { loadSchools } from "./schools.ts";
import { makeStaging } from "./staging.ts";

export type NewImport = {
  path: string;
  /** Plain CSV needs it; the other formats name their schools, and then must name this one only. */
  schoolId?: SchoolId | undefined;
  /** BULK if neither the caller nor the files say: who is not in the files, leaves. */
  mode?: ImportMode | undefined;
  /** The group of last year by the source id of the one it goes on as; needs `schoolYear`. */
  carryOvers?: ReadonlyMap<string, string> | undefined;
  schoolYear?: string | undefined;
  holdShare: number;
  onProgress?: OnProgress | undefined;
};

/**
 * Reads a roster, checks it, and works out what it would do; the directory stays as it is.
 *
 * Shape:  memory does not grow with the file. A file with faults ends as a BROKEN import that lists all of them.
 * Errors: invalid when the file is no roster at all, or the call contradicts it; then nothing is recorded.
 */
export async function previewImport(db: Pick<Db, "pool">, wanted: NewImport, origin: Origin): Promise<ImportRecord> {
  if (wanted.carryOvers?.size && !wanted.schoolYear)
    throw new AppError(
      "invalid",
      "school_year_missing",
      "Carrying groups over needs the school year, so that the same file does it once.",
    );
  const id = makeUuid(origin.at) as ImportId;
  const read = await withTransaction(db, (tx) => stage(tx, id, wanted, origin));
  await analyzeStaged(db.pool);
  wanted.onProgress?.({ phase: "checking", done: 0, total: 1 });
  await withTransaction(db, (tx) => check(tx, id, wanted, read)).catch(async (error: unknown) => {
    await forget(db, id);
    throw error;
  });
  await analyzeStaged(db.pool);
  const { schools, state } = await getImport(db.pool, id);
  const waiting = state === "READY" ? schools.map((school) => school.id) : [];
  await foreseeImport(db, id, waiting, wanted.holdShare, origin.at, wanted.onProgress);
  return getImport(db.pool, id);
}

/** Works out what an import would do to each of the schools, and holds it where that is too much. */
export async function foreseeImport(
  db: Pick<Db, "pool">,
  id: ImportId,
  schools: readonly SchoolId[],
  holdShare: number,
  now: Date,
  onProgress?: OnProgress,
): Promise<void> {
  for (const [index, school] of schools.entries()) {
    onProgress?.({ phase: "comparing", done: index, total: schools.length });
    await withTransaction(db, (tx) => foresee(tx, id, school, holdShare, now));
  }
  await db.pool.query(
    "UPDATE import SET state = 'HELD' WHERE id = $1 AND EXISTS (SELECT FROM import_school WHERE import_id = $1 AND state = 'HELD')",
    [id],
  );
}

/** A few of what an import that waits would do to each school, as the directory is now. */
export async function sampleImport(db: Pick<Db, "pool">, id: ImportId, now: Date): Promise<Map<SchoolId, Samples>> {
  const { schools, state } = await getImport(db.pool, id);
  const samples = new Map<SchoolId, Samples>();
  if (state !== "READY" && state !== "HELD") return samples;
  for (const school of schools) {
    if (school.state === "APPLIED") continue;
    await withTransaction(db, async (tx) => {
      await findDifference(tx, await makePart(tx, id, school.id, now));
      samples.set(school.id, await takeSamples(tx));
    });
  }
  return samples;
}

export async function makePart(db: Queryable, importId: ImportId, schoolId: SchoolId, now: Date): Promise<Part> {
  const { format, mode, schoolYear, schools } = await getImport(db, importId);
  return { importId, schoolId, schools: schools.map(({ id }) => id), format, mode, schoolYear, now };
}

type Staged = { read: Read; faults: number; notes: Record<string, number> };

const longWork =
  "SET LOCAL statement_timeout = '60min'; SET LOCAL work_mem = '64MB'; SET LOCAL idle_in_transaction_session_timeout = '10min'";

async function stage(tx: Queryable, id: ImportId, wanted: NewImport, origin: Origin): Promise<Staged> {
  await tx.query(longWork);
  const file = await openSourceFile(wanted.path);
  const format = ({ zip: "ONEROSTER", json: "SCHULCONNEX", csv: "PLAIN" } as const)[file.kind];
  await tx.query(
    `INSERT INTO import (id, format, mode, state, file_name, school_year, actor_id, created_at) VALUES ($1, $2, 'BULK', 'READING', $3, $4, $5, $6)`,
    [id, format, file.name, wanted.schoolYear ?? "", origin.actorId, origin.at],
  );
  const staging = makeStaging(tx, id);
  const schools = await loadSchools(tx, wanted.schoolId);
  const read = await readFormat(format, wanted, {
    staging,
    schools,
    mode: wanted.mode,
    carryOvers: wanted.carryOvers ?? new Map<string, string>(),
  });
  await staging.flush();
  return { read, faults: staging.faults, notes: staging.notes };
}

async function check(
  tx: Queryable,
  id: ImportId,
  { carryOvers = new Map<string, string>() }: NewImport,
  { read, faults, notes }: Staged,
): Promise<void> {
  await tx.query(longWork);
  const all = await checkStaged(tx, id, read, faults);
  await tx.query("UPDATE import SET mode = $2, state = $3, error_count = $4, notes = $5 WHERE id = $1", [
    id,
    read.mode,
    all > 0 ? "BROKEN" : "READY",
    all,
    JSON.stringify(notes),
  ]);
  if (all > 0) return deleteStaged(tx, id);
  await checkCarryOvers(tx, id, carryOvers);
  await recordSchools(tx, id, read);
}

/** A call that contradicts its file leaves nothing behind. */
async function forget(db: Pick<Db, "pool">, id: ImportId): Promise<void> {
  await withTransaction(db, async (tx) => {
    await deleteStaged(tx, id);
    await tx.query("DELETE FROM import WHERE id = $1", [id]);
  });
}

async function readFormat(
  format: ImportFormat,
  { path, onProgress }: NewImport,
  rest: Omit<Reading, "onBytes">,
): Promise<Read> {
  let done = 0;
  const counting = (total: number): Reading => ({
    ...rest,
    onBytes: (bytes) => onProgress?.({ phase: "reading", done: (done += bytes), total }),
  });
  if (format !== "ONEROSTER") {
    const file = await openSourceFile(path);
    return (format === "PLAIN" ? readPlain : readSchulconnex)(file, counting(2 * file.size));
  }
  const archive = await openArchive(path);
  const ours = [...archive.files.values()].filter(({ name }) =>
    /^(manifest|orgs|users|roles|classes|enrollments)\.csv$/.test(name),
  );
  if (ours.length === 0) throw new AppError("invalid", "archive_refused", "The zip archive holds no OneRoster files.");
  return readOneRoster(archive, counting(2 * ours.reduce((sum, { size }) => sum + size, 0))).finally(() =>
    archive.close(),
  );
}

async function checkCarryOvers(tx: Queryable, id: string, carryOvers: ReadonlyMap<string, string>): Promise<void> {
  const { rows } = await tx.query(
    "SELECT FROM unnest($2::text[]) AS wanted (id) WHERE NOT EXISTS (SELECT FROM staged_group g WHERE g.import_id = $1 AND g.source_id = wanted.id)",
    [id, [...carryOvers.keys()]],
  );
  if (rows.length > 0)
    throw new AppError(
      "invalid",
      "carry_over_unknown",
      `${rows.length} of the groups that others are to go on as are not in the file.`,
    );
}

/**
 * A whole file speaks of its schools even where it names nobody; a delta of those where somebody is whom it names, and of those that
 * it puts them at: else it could not bring them from one to the other.
 */
async function recordSchools(tx: Queryable, id: string, { mode, schools }: Read): Promise<void> {
  await tx.query(
    `INSERT INTO import_school (import_id, school_id, state, counts)
     SELECT $1, id, 'READY', '{}' FROM (
       SELECT unnest($2::uuid[]) AS id UNION SELECT school_id FROM staged_person WHERE import_id = $1
       UNION SELECT school_id FROM staged_group WHERE import_id = $1 UNION SELECT school_id FROM staged_membership WHERE import_id = $1
       UNION SELECT a.school_id FROM staged_person s
         JOIN person p ON p.source_system_identifier = s.source_id AND p.source_id_is_shared AND p.home_school_id = ANY ($3)
         JOIN affiliation a ON a.person_id = p.id AND a.school_id = ANY ($3) WHERE s.import_id = $1 AND cardinality($3::uuid[]) > 1) AS school
     WHERE id IS NOT NULL`,
    [id, mode === "BULK" ? [...schools] : [], [...schools]],
  );
}

async function foresee(tx: Queryable, id: ImportId, schoolId: SchoolId, holdShare: number, now: Date): Promise<void> {
  await findDifference(tx, await makePart(tx, id, schoolId, now));
  const counts = await countDifference(tx, schoolId);
  const state = isHeld(counts, holdShare, { people: 0, groups: 0 }) ? "HELD" : "READY";
  await tx.query("UPDATE import_school SET counts = $3, state = $4 WHERE import_id = $1 AND school_id = $2", [
    id,
    schoolId,
    JSON.stringify(counts),
    state,
  ]);
}
