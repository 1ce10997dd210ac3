import { rm } from "node:fs/promises";
import { versionOfSchool } from "../access/index.ts";
import { isSandboxSchool, type SchoolId } from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import { withPrismaTransaction, type PrismaDb, type Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { withInterruptibleTransaction, type Interrupt } from "../platform/database/interrupt.ts";
import { analyzeSparse } from "../platform/database/statistics.ts";
import { findRows, insert, literal, makeFindOne, run, sql, statement, table } from "../platform/database/sql.ts";
import { checkStaged, dropSkipped } from "./check.ts";
import { setFaultyRowsAside } from "./faulty-rows.ts";
import { countDifference } from "./counts.ts";
import { findDifference, longWork } from "./difference.ts";
import { cleanCell, type Mapping } from "./formats/columns.ts";
import type { AskedScope, ImportFormat, ImportMode, ReadResult, ReadContext } from "./formats/format.ts";
import { readOneRoster } from "./formats/oneroster.ts";
import { readPlain, schoolMissing } from "./formats/plain.ts";
import { readSchulconnex } from "./formats/schulconnex.ts";
import { findHolds } from "./holds.ts";
import { countLists } from "./listed-people.ts";
import { moveClassesUp } from "./move-classes.ts";
import type { OnProgress } from "./progress.ts";
import { checkQueue, isSmallFile, joinQueue } from "./queue.ts";
import { writeSheet, type Sheet } from "./read/workbook.ts";
import { openSourceFile } from "./read/source.ts";
import type { Separator } from "./read/csv.ts";
import type { Encoding, PossibleEncoding } from "./read/text.ts";
import { openArchive } from "./read/zip.ts";
import { analyzeStaged, getImport, makePart, removeStaged, type ImportId, type ImportRecord } from "./record.ts";
import { describeDifference } from "./same-difference.ts";
import { loadSchools, type OtherSchool } from "./schools.ts";
import { makeStaging, maxFaults } from "./staging.ts";
import { importTransitions, schoolTransitions, sendSchoolEvent, tryEvent } from "./states.ts";
import { directoryTables } from "./tables.ts";
import { countWarnings } from "./warnings.ts";
import { keepMapping, planTable, waitForColumns, type TablePlan, type Upload } from "./unmapped.ts";

/** `mode` defaults to the files' own, then to BULK, in which people missing in the files leave. */
export type NewImport = AskedScope & {
  path: string;
  /** Required for plain CSV; files of other formats must not have another one. */
  schoolId?: SchoolId | undefined;
  /** Source id of last year's group by that of the new one; needs `schoolYear`. */
  carryOvers?: ReadonlyMap<string, string> | undefined;
  schoolYear?: string | undefined;
  fileName?: string | undefined;
  format?: ImportFormat | undefined;
  among?: ReadonlySet<SchoolId> | undefined;
  /** Of a table whose headings are not those of the template. */
  columns?: Mapping | undefined;
  /** Waits for the columns even if they are known. */
  choosesColumns?: boolean | undefined;
  sheet?: string | undefined;
  encoding?: Encoding | undefined;
  separator?: Separator | undefined;
  /** The workbook whose sheet `path` is. */
  workbook?: Sheet | undefined;
  holdShare: number;
  onProgress?: OnProgress | undefined;
  interrupt?: Interrupt | undefined;
};

/**
 * Faults make it a BROKEN import, unknown columns an UNMAPPED one.
 *
 * Errors: invalid, without an import, if it is no roster.
 */
export async function previewImport(db: PrismaDb, request: NewImport, origin: Origin): Promise<ImportRecord> {
  const id = await beginImport(db, request, origin);
  const read = (opened: NewImport) => readImport(db, id, opened, origin);
  return withSheet(request, read).catch(async (error: unknown) => {
    await forgetImport(db, id);
    throw error;
  });
}

/** Hands a workbook over as the CSV of one sheet, and any other file as it is. Errors: those of `writeSheet`. */
export async function withSheet<T>(request: NewImport, work: (request: NewImport) => Promise<T>): Promise<T> {
  const { name: fileName, kind } = await openSourceFile(request.path, request.fileName);
  if (kind !== "xlsx") return work(request);
  const sheet = await writeSheet(request.path, request.sheet, request.interrupt?.signal);
  try {
    return await work({ ...request, fileName, path: sheet.path, workbook: { ...sheet, path: request.path } });
  } finally {
    await rm(sheet.path, { force: true });
  }
}

/** `inQueue` gives it a turn. Errors: invalid; not_found school_not_found; those of `checkQueue`. */
export async function beginImport(
  db: PrismaDb,
  request: NewImport,
  origin: Origin,
  { inQueue } = { inQueue: false },
): Promise<ImportId> {
  if (request.carryOvers?.size && !request.schoolYear)
    throw new AppError(
      "invalid",
      "school_year_missing",
      "Carrying groups over needs the school year, so that the same file does it once.",
    );
  if (request.schoolId !== undefined && (await isSandboxSchool(db, request.schoolId)))
    throw new AppError("not_found", "school_not_found", "The school does not exist.");
  const id = makeUuid(origin.at) as ImportId;
  const { name, format, kind, size } = await openRoster(request);
  const actorId = origin.actorId ?? "";
  await withPrismaTransaction(db, async (tx) => {
    const joining = { actorId, schoolId: request.schoolId ?? null };
    if (inQueue) await checkQueue(tx, joining);
    await tx.prisma.import.create({
      data: {
        id,
        format,
        mode: request.mode ?? "BULK",
        people: request.people ?? "ALL",
        state: importTransitions.begin.to,
        fileName: name,
        schoolYear: request.schoolYear ?? "",
        createdAt: origin.at,
        actorId: origin.actorId ?? null,
        ...(inQueue && { progressPhase: "READING", progressPercent: 0, progressAt: origin.at }),
        namedSchoolIds: request.schoolId === undefined ? [] : [request.schoolId],
      },
    });
    if (inQueue) await joinQueue(tx, { ...joining, importId: id, isReading: true, isSmall: isSmallFile(kind, size) });
  });
  return id;
}

/** Errors: as `previewImport`; the caller must then forget the import or record the failure. */
export async function readImport(
  db: PrismaDb,
  id: ImportId,
  request: NewImport,
  origin: Origin,
): Promise<ImportRecord> {
  const { interrupt, onProgress, holdShare } = request;
  const file = await openRoster(request);
  const plan = file.format === "PLAIN" ? await planTable(db, file, request) : undefined;
  if (plan !== undefined && plan.mapping === undefined) {
    await waitForColumns(db, id, request.workbook?.path ?? request.path, describe(plan, request));
    return getImport(db, id);
  }
  const read = await stage(db, id, { ...request, plan });
  await analyzeStaged(db.pool);
  onProgress?.({ phase: "checking", done: 0, total: 1 });
  await withInterruptibleTransaction(db, interrupt, (tx) => check(tx, id, request, read));
  const { schools, state, rows } = await getImport(db, id);
  if (state !== "READY" && rows === null) await removeStaged(db, id);
  await analyzeStaged(db.pool);
  const waiting = state === "READY" ? schools.map((school) => school.id) : [];
  await compareImport(db, { id, schools: waiting, holdShare, now: origin.at }, { onProgress, interrupt });
  if ((state === "READY" || rows !== null) && typeof plan?.mapping === "object" && request.schoolId !== undefined)
    await keepMapping(db, request.schoolId, { guess: plan.guess, mapping: plan.mapping }, origin.at);
  return getImport(db, id);
}

const describe = ({ guess, found }: TablePlan, request: NewImport): Upload => ({
  table: { ...guess, encoding: found.encoding, possibleEncodings: found.possible.map(cleanSamples) },
  sheet: request.workbook?.name ?? null,
  sheets: request.workbook?.names ?? [],
  mode: request.mode ?? null,
  people: request.people ?? null,
  carryOvers: [...(request.carryOvers ?? [])],
});

const cleanSamples = ({ encoding, samples }: PossibleEncoding) => ({ encoding, samples: samples.map(cleanCell) });

type Comparison = { id: ImportId; schools: readonly SchoolId[]; holdShare: number; now: Date; isAgain?: boolean };

const findVersion = makeFindOne<{ version: string }, { schoolId: SchoolId }>(
  ({ schoolId }) => sql`SELECT ${versionOfSchool(schoolId)}::text AS version`,
);

export async function compareImport(
  db: PrismaDb,
  { id, schools, holdShare, now, isAgain = false }: Comparison,
  { onProgress, interrupt }: Pick<NewImport, "onProgress" | "interrupt"> = {},
): Promise<void> {
  const record = await getImport(db, id);
  await analyzeSparse(db, directoryTables);
  for (const [index, schoolId] of schools.entries()) {
    onProgress?.({ phase: "comparing", done: index, total: schools.length });
    const part = makePart(record, schoolId, now);
    await withInterruptibleTransaction(db, interrupt, async (tx) => {
      // Before the difference, so that a change in between counts as a later one.
      const { version } = await findVersion(tx, { schoolId });
      await findDifference(tx, part);
      if (!isAgain && (await moveClassesUp(tx, part))) await findDifference(tx, part);
      const counts = { ...(await countDifference(tx, { schoolId })), lists: await countLists(tx, part) };
      const holds = await findHolds(tx, part, counts, holdShare);
      const difference = await describeDifference(tx, part);
      const data = { counts, holds, difference, comparedAt: now, directoryVersion: BigInt(version) };
      await sendSchoolEvent(tx, part, holds.length > 0 ? "hold" : "release", data);
    });
  }
  await tryEvent(db, id, "hold");
  if (isAgain) await tryEvent(db, id, "release");
}

type Staged = {
  read: ReadResult;
  faults: number;
  notes: Record<string, number>;
  otherSchool: OtherSchool | undefined;
};

const formats = { xlsx: "PLAIN", zip: "ONEROSTER", json: "SCHULCONNEX", csv: "PLAIN" } as const;

async function openRoster({ path, fileName, format: request, schoolId, workbook, ...reading }: NewImport) {
  const file = await openSourceFile(path, fileName, workbook === undefined ? reading : {});
  const format = formats[file.kind];
  if (request !== undefined && request !== format)
    throw new AppError("invalid", "format_differs", "The file is a roster of another format.");
  if (format === "PLAIN" && schoolId === undefined) throw schoolMissing();
  return { ...file, format };
}

type Planned = NewImport & { plan: TablePlan | undefined };

async function stage(db: PrismaDb, id: ImportId, request: Planned): Promise<Staged> {
  const staging = makeStaging(db, id, request.interrupt);
  const { schoolId, among, mode, people, carryOvers = new Map<string, string>() } = request;
  const schools = await loadSchools(db, schoolId, among);
  schools.noteNames({ texts: [(await openRoster(request)).name, ...(request.plan?.titles ?? [])] });
  const read = await readFormat(request, { staging, schools, mode, people, carryOvers });
  await staging.flush();
  return { read, faults: staging.faults, notes: staging.notes, otherSchool: schools.other };
}

async function check(
  tx: Transaction,
  id: ImportId,
  { carryOvers = new Map<string, string>(), workbook }: NewImport,
  { read, faults, notes, otherSchool }: Staged,
): Promise<void> {
  await tx.query(longWork);
  const parents = await dropSkipped(tx, id);
  const all = await checkStaged(tx, id, read, faults);
  const { rows, dependent } =
    all > 0 && all <= maxFaults ? await setFaultyRowsAside(tx, id, read) : { rows: null, dependent: 0 };
  const isReading = await tryEvent(tx, id, all > 0 ? "findFaults" : "finishReading", {
    mode: read.mode,
    people: read.people,
    speaksOf: [...read.speaksOf],
    errorCount: rows === null ? all : await tx.prisma.importError.count({ where: { importId: id } }),
    notes: {
      ...notes,
      ...(parents > 0 && { parents_and_guardians: parents }),
      ...(dependent > 0 && { rows_of_faulty_rows: dependent }),
      ...(workbook && workbook.others > 0 && { sheets_not_read: workbook.others }),
    },
    ...(rows !== null && { rows, headings: (read.headings ?? []).map(cleanCell) }),
    namedSchoolIds: [...read.schools],
    ...(otherSchool && ("id" in otherSchool ? { otherSchoolId: otherSchool.id } : { otherSchool: otherSchool.name })),
  });
  if (!isReading) return void (await tx.prisma.importError.deleteMany({ where: { importId: id } }));
  if (all === 0 || rows !== null) {
    const warningCount = await countWarnings(tx, await getImport(tx, id));
    await tx.prisma.import.update({ where: { id }, data: { warningCount } });
  }
  if (all > 0) return;
  await checkCarryOvers(tx, id, carryOvers);
  await nameSchools(tx, id, read.mode, [...read.schools]);
}

/** A bulk file is about all its schools; a delta about the current and new schools of the people in it. */
export async function nameSchools(
  tx: Transaction,
  importId: ImportId,
  mode: ImportMode,
  named: readonly SchoolId[],
): Promise<void> {
  await run(tx, insertSchools, { importId, whole: mode === "BULK" ? named : [], named });
}

export async function forgetImport(db: PrismaDb, id: ImportId): Promise<void> {
  await removeStaged(db, id);
  await db.prisma.import.deleteMany({ where: { id } });
}

async function readFormat(request: Planned, rest: Omit<ReadContext, "onBytes">): Promise<ReadResult> {
  const { path, onProgress, interrupt, plan } = request;
  let done = 0;
  const counting = (total: number): ReadContext => ({
    ...rest,
    onBytes(bytes) {
      interrupt?.signal.throwIfAborted();
      onProgress?.({ phase: "reading", done: (done += bytes), total });
    },
  });
  const file = await openRoster(request);
  if (file.format === "PLAIN") return readPlain(file, counting(2 * file.size), plan);
  if (file.format === "SCHULCONNEX") return readSchulconnex(file, counting(2 * file.size));
  const archive = await openArchive(path);
  const ours = [...archive.files.values()].filter(({ name }) =>
    /^(manifest|orgs|users|roles|classes|enrollments)\.csv$/.test(name),
  );
  if (ours.length === 0) throw new AppError("invalid", "archive_refused", "The zip archive holds no OneRoster files.");
  return readOneRoster(archive, counting(2 * ours.reduce((sum, { size }) => sum + size, 0))).finally(() =>
    archive.close(),
  );
}

const stagedGroup = table("stagedGroup", "g");
const countMissing = statement<{ importId: string; sourceIds: readonly string[] }>(
  ({ importId, sourceIds }) => sql`
  SELECT count(*)::int AS count FROM unnest(${sourceIds}::text[]) AS request (id)
  WHERE NOT EXISTS (SELECT FROM ${stagedGroup}
    WHERE ${stagedGroup.importId} = ${importId} AND ${stagedGroup.sourceId} = request.id)`,
);

async function checkCarryOvers(
  tx: Transaction,
  importId: string,
  carryOvers: ReadonlyMap<string, string>,
): Promise<void> {
  const values = { importId, sourceIds: [...carryOvers.keys()] };
  const [missing] = await findRows<{ count: number }, typeof values>(tx, countMissing, values);
  if (missing!.count > 0) throw carryOversUnknown(missing!.count);
}

export const carryOversUnknown = (count: number) =>
  new AppError(
    "invalid",
    "carry_over_unknown",
    `${count} of the groups that others are to go on as are not in the file.`,
  );

const s = table("stagedPerson", "s");
const m = table("stagedMembership", "m");
const p = table("person", "p");
const a = table("affiliation", "a");

const insertSchools = statement<{ importId: string; whole: readonly SchoolId[]; named: readonly SchoolId[] }>(
  ({ importId, whole, named }) =>
    insert(
      "importSchool",
      { importId, schoolId: sql`id`, state: literal(schoolTransitions.name.to), counts: sql`'{}'::jsonb` },
      sql`FROM (
       SELECT unnest(${whole}::uuid[]) AS id
       UNION SELECT ${s.schoolId} FROM ${s} WHERE ${s.importId} = ${importId}
       UNION SELECT ${stagedGroup.schoolId} FROM ${stagedGroup} WHERE ${stagedGroup.importId} = ${importId}
       UNION SELECT ${m.schoolId} FROM ${m} WHERE ${m.importId} = ${importId}
       UNION SELECT ${a.schoolId} FROM ${s}
         JOIN ${p} ON ${p.sourceSystemIdentifier} = ${s.sourceId} AND ${p.sourceIdIsShared}
           AND ${p.homeSchoolId} = ANY (${named}::uuid[])
         JOIN ${a} ON ${a.personId} = ${p.id} AND ${a.schoolId} = ANY (${named}::uuid[])
         WHERE ${s.importId} = ${importId} AND cardinality(${named}::uuid[]) > 1) AS school
     WHERE id IS NOT NULL`,
    ),
);
