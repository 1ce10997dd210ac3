import type { Origin } from "../../events/index.ts";
import type { PrismaDb, Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { withInterruptibleTransaction } from "../../platform/database/interrupt.ts";
import { makeFindOne, table } from "../../platform/database/sql.ts";
import { checkStaged, dropSkipped } from "./check.ts";
import { setFaultyRowsAside } from "../rows/faulty-rows.ts";
import { longWork } from "../difference/difference.ts";
import { cleanCell } from "../formats/columns.ts";
import type { ReadResult, ReadContext } from "../formats/format.ts";
import { readOneRoster } from "../formats/oneroster.ts";
import { readPlain } from "../formats/plain.ts";
import { readSchulconnex } from "../formats/schulconnex.ts";
import type { PossibleEncoding } from "../read/text.ts";
import { openArchive } from "../read/zip.ts";
import { analyzeStaged, removeStaged, makeStaging, maxFaults } from "../formats/staging.ts";
import { getImport, type ImportId, type ImportRecord } from "../state/record.ts";
import { loadSchools, type OtherSchool } from "../formats/schools.ts";
import { tryEvent } from "../state/states.ts";
import { countWarnings } from "../rows/warnings.ts";
import { keepMapping, planTable, waitForColumns, type TablePlan, type Upload } from "./unmapped.ts";
import { openRoster, beginImport, withSheet, type NewImport } from "./begin.ts";
import { dropMadeHere } from "./made-here.ts";
import { compareImport, nameSchools } from "./compare.ts";
import { forgetImport } from "../state/end.ts";

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

/** Errors: as `previewImport`; the caller must then forget the import or record the failure. */
export async function readImport(db: PrismaDb, id: ImportId, request: NewImport, origin: Origin) {
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

const describe = ({ guess, found: encoding }: TablePlan, request: NewImport): Upload => ({
  table: { ...guess, encoding: encoding.encoding, possibleEncodings: encoding.possible.map(cleanSamples) },
  sheet: request.workbook?.name ?? null,
  sheets: request.workbook?.names ?? [],
  mode: request.mode ?? null,
  people: request.people ?? null,
  carryOvers: [...(request.carryOvers ?? [])],
});

const cleanSamples = ({ encoding, samples }: PossibleEncoding) => ({ encoding, samples: samples.map(cleanCell) });

type Staged = {
  read: ReadResult;
  faults: number;
  notes: Record<string, number>;
  otherSchool: OtherSchool | undefined;
};

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
  const madeHere = await dropMadeHere(tx, { importId: id, schools: [...read.schools] });
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
      ...(madeHere > 0 && { made_here: madeHere }),
      ...(dependent > 0 && { rows_of_faulty_rows: dependent }),
      ...(workbook && workbook.others > 0 && { sheets_not_read: workbook.others }),
    },
    ...(rows !== null && { rows, headings: (read.headings ?? []).map(cleanCell) }),
    ...(read.schools.size > 0 && { namedSchoolIds: [...read.schools] }),
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
const countMissing = makeFindOne<{ count: number }, { importId: string; sourceIds: readonly string[] }>()`
  SELECT count(*)::int AS count FROM unnest(${"sourceIds"}::text[]) AS request (id)
  WHERE NOT EXISTS (SELECT FROM ${stagedGroup}
    WHERE ${stagedGroup.importId} = ${"importId"} AND ${stagedGroup.sourceId} = request.id)`;

async function checkCarryOvers(tx: Transaction, importId: string, carryOvers: ReadonlyMap<string, string>) {
  const { count } = await countMissing(tx, { importId, sourceIds: [...carryOvers.keys()] });
  if (count > 0) throw carryOversUnknown(count);
}

export const carryOversUnknown = (count: number) =>
  new AppError(
    "invalid",
    "carry_over_unknown",
    `${count} of the groups that others are to go on as are not in the file.`,
  );
