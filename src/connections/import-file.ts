import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import type { SchoolId } from "../directory/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import {
  getImport,
  listImportFaults,
  sumHolds,
  type ImportId,
  type ImportRecord,
  type ImportRequests,
} from "../imports/index.ts";
import { withPrismaTransaction, type PrismaDb, type Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import type { RosterApplies } from "./connection.ts";
import type { RunFailure } from "./schedule.ts";
import type { Ended } from "./finish.ts";
import type { RunCounts } from "./runs.ts";
import type { RosterFile } from "./sources/source.ts";

export type ImportDeps = {
  db: PrismaDb;
  imports: Pick<ImportRequests, "read" | "apply" | "cancel" | "forget">;
};

export async function digestOf(path: string, signal: AbortSignal): Promise<Buffer<ArrayBuffer>> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash, { signal });
  return Buffer.from(hash.digest());
}

function countDifference({ schools, errorCount, warningCount }: ImportRecord): RunCounts {
  const sum = (read: (counts: ImportRecord["schools"][number]["counts"]) => number) =>
    schools.reduce((total, { counts }) => total + ("people" in counts ? read(counts) : 0), 0);
  return {
    peopleNow: sum(({ before }) => before.people),
    peopleCreated: sum(({ people }) => people.created + people.restored + people.joined),
    peopleChanged: sum(({ people }) => people.changed),
    leavers: sum(({ people }) => people.removed + people.left + people.leftHome),
    groupsNow: sum(({ before }) => before.groups),
    groupsCreated: sum(({ groups }) => groups.created + groups.restored),
    groupsRemoved: sum(({ groups }) => groups.removed),
    faults: errorCount,
    warnings: warningCount,
    holds: sumHolds(schools),
  };
}

const changesNothing = ({ schools }: ImportRecord): boolean =>
  schools.every(({ counts: { people, groups, memberships } }) =>
    [people, groups, memberships].every((numbers) => Object.values<number>(numbers).every((number) => number === 0)),
  );

/** Codes of faults that say that the roster is of somebody else. */
const ofOthers = new Set(["other_school", "unknown_school", "unknown_org", "school_out_of_reach"]);

const refusals: Readonly<Record<string, RunFailure>> = {
  school_out_of_reach: "OTHER_SCHOOL",
  file_empty: "EMPTY",
  too_many_imports: "QUEUE_FULL",
  unavailable: "QUEUE_FULL",
};

export type RosterImport = {
  file: RosterFile;
  schoolIds: readonly SchoolId[];
  applies: RosterApplies;
  isTest: boolean;
  origin: Origin;
  /** Last in each transaction. Errors: if another run has taken the place of this one. */
  holdLease: (tx: Transaction) => Promise<void>;
};

/** Imports a fetched file like an upload, as far as the connection goes by itself; a test is forgotten again. */
export async function importFile(deps: ImportDeps, run: RosterImport): Promise<Ended> {
  const { file, schoolIds, isTest, origin } = run;
  const { db, imports } = deps;
  const upload = {
    path: file.path,
    fileName: file.fileName,
    format: file.format,
    mode: file.mode,
    people: file.people,
    schoolId: schoolIds.length === 1 ? schoolIds[0] : undefined,
    among: new Set(schoolIds),
    namedSchoolIds: schoolIds,
  };
  let id: ImportId;
  try {
    id = await imports.read(upload, origin, { inBackground: false, toEnd: true });
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === "bug") throw error;
    return { outcome: "FAILED", failure: refusals[error.code] ?? "FILE_REFUSED", detail: error.code };
  }
  const record = await getImport(db, id);
  const counts = countDifference(record);
  const forget = async (ended: Ended): Promise<Ended> => {
    await imports.forget(id);
    return { ...ended, counts };
  };
  const fault = await findFault(deps, record, { counts, schoolIds });
  if (fault !== null && (isTest || fault.failure === "EMPTY" || fault.failure === "HALF"))
    return forget({ outcome: "FAILED", ...fault });
  if (isTest) return forget({ outcome: "TESTED" });
  if (fault === null && changesNothing(record)) return forget({ outcome: "UNCHANGED" });
  await withPrismaTransaction(db, async (tx) => {
    await recordAudit(tx, {
      ...origin,
      action: "import_handed_in",
      schoolId: schoolIds.length === 1 ? schoolIds[0] : undefined,
      detail: { importId: id },
    });
    await run.holdLease(tx);
  }).catch(async (error: unknown) => {
    await imports.forget(id);
    throw error;
  });
  if (fault !== null) return { outcome: "FAILED", ...fault, counts, importId: id };
  return { ...(await goOn(deps, id, run)), counts, importId: id };
}

async function findFault(
  { db }: ImportDeps,
  { id, state, schools }: ImportRecord,
  { counts, schoolIds }: { counts: RunCounts; schoolIds: readonly SchoolId[] },
): Promise<{ failure: RunFailure; detail?: string } | null> {
  if (state === "UNMAPPED") return { failure: "COLUMNS_UNKNOWN" };
  if (state === "BROKEN") {
    const codes = (await listImportFaults(db, id, { limit: 100 })).map(({ code }) => code);
    const failure = codes.every((code) => ofOthers.has(code)) ? "OTHER_SCHOOL" : "FAULTS";
    return { failure, ...(codes[0] !== undefined && { detail: codes[0] }) };
  }
  const isEmpty = counts.leavers >= counts.peopleNow && counts.peopleCreated === 0 && counts.peopleChanged === 0;
  if (isEmpty) return { failure: "EMPTY" };
  const missing = schoolIds.filter((school) => schools.every((one) => one.id !== school));
  const where = { homeSchoolId: { in: missing }, status: "ACTIVE" } as const;
  if (missing.length === 0 || (await db.prisma.person.findFirst({ where, select: { id: true } })) === null) return null;
  return { failure: "HALF", detail: `${missing.length} of ${schoolIds.length} schools are missing` };
}

async function goOn({ db, imports }: ImportDeps, id: ImportId, run: RosterImport): Promise<Ended> {
  const { applies, origin, holdLease } = run;
  const { state } = await getImport(db, id);
  if (state === "HELD") return { outcome: "HELD" };
  if (applies === "PREVIEW") return { outcome: "WAITING" };
  try {
    await imports.apply(id, origin, { inBackground: false, toEnd: true, beforeCommit: holdLease });
    return { outcome: "APPLIED" };
  } catch (error) {
    // The school has changed since, or is changed by another import: the preview waits for somebody.
    if (!(error instanceof AppError) || error.kind === "bug") {
      // An import that has already changed a school cannot be cancelled and stays.
      await imports.cancel(id, origin).catch(() => undefined);
      throw error;
    }
    return { outcome: (await getImport(db, id)).state === "HELD" ? "HELD" : "WAITING", detail: error.code };
  }
}
