import type { SchoolId } from "../../directory/index.ts";
import { findImport, remedyOf, sumHolds } from "../../imports/index.ts";
import type { Counts, ImportFault, ImportReach, ImportStatus } from "../../imports/index.ts";
import type { Same } from "../../platform/contract-types.ts";
import { storeOf } from "../../platform/database/db.ts";
import { present, type AdminDeps, type AdminRequest, type Schemas } from "../handler.ts";
import { refuseOtherSchool } from "../reached.ts";
import { makeGate, leavingSignal } from "../../platform/http/index.ts";
import type { InterruptibleDb } from "../../platform/database/interrupt.ts";
import { AppError } from "../../platform/errors.ts";

/** The imports that a caller sees; undefined for all. */
export const importReach = ({
  reach,
  origin,
}: Pick<AdminRequest<"getImport">, "reach" | "origin">): ImportReach | undefined =>
  reach.all ? undefined : { schoolIds: [...reach.schoolIds], actorId: origin.actorId ?? "" };

/** Finds the import of a request. Errors: not_found for an import or a school out of reach. */
export async function findOfSchool(
  { db }: Pick<AdminDeps, "db">,
  request: Pick<AdminRequest<"previewImport">, "importId" | "query" | "reach" | "origin">,
): Promise<{ status: ImportStatus; schoolId: SchoolId | undefined }> {
  const { importId, query, reach } = request;
  const schoolId = query.school;
  const status = await findImport(storeOf(db), importId, importReach(request));
  if (schoolId !== undefined) refuseOtherSchool(reach, schoolId);
  return { status, schoolId };
}

/** Counts of earlier versions may lack `leftHome`. */
const leaversOf = ({ people }: Counts): number => people.removed + people.left + (people.leftHome ?? 0);

const noLists = { renamed: 0, classesChanged: 0, groupsChanged: 0, withoutClass: 0, losingClasses: 0 };

function describeSchool({ counts, ...school }: ImportStatus["schools"][number]) {
  const { people, kept = 0, lists = noLists, ...others } = counts;
  const leavers = leaversOf(counts);
  return { ...school, leavers, kept, people: { ...people, leftHome: people.leftHome ?? 0 }, ...others, lists };
}

export const countLeavers = ({ schools }: Pick<ImportStatus, "schools">): number =>
  schools.reduce((sum, { counts }) => sum + leaversOf(counts), 0);

/** Does not compile if an import has a property that the contract lacks. */
export const importProperties: Same<
  Exclude<keyof Schemas["Import"], "leavers" | "undoUntil" | "holds"> | "namedSchoolIds" | "headings" | "speaksOf",
  keyof ImportStatus
> = true;

export function presentImport(status: ImportStatus): Schemas["Import"] {
  const { schools } = status;
  const undoable = schools.flatMap(({ undoUntil }) => undoUntil ?? []);
  return present("Import", {
    ...status,
    leavers: countLeavers(status),
    holds: sumHolds(schools),
    schoolYear: status.schoolYear || null,
    undoUntil: undoable.reduce<Date | null>((first, at) => (first === null || at < first ? at : first), null),
    schools: schools.map(describeSchool),
  });
}

export const presentFault = (fault: ImportFault) => present("ImportFault", { ...fault, remedy: remedyOf(fault.code) });

type ImportCall = Pick<AdminRequest<"previewImport">, "connection" | "origin">;

// One at a time in a process: the other connections of the imports are for the rosters that are read and applied.
const gate = makeGate(
  { places: 1, placesPerClient: 1, open: 40, openPerClient: 12, waitMs: 30_000 },
  () =>
    new AppError(
      "rate_limited",
      "too_many_requests",
      "You already have requests of this kind in progress. Wait until they have finished.",
    ),
);

/**
 * Runs `work`, which may take minutes, on a connection of the imports. Errors: rate_limited too_many_requests for a
 * caller with twelve requests in progress; unavailable after a long wait; CallerLeft.
 */
export async function changeByDifference<T>(
  { imports }: Pick<AdminDeps, "imports">,
  { connection, origin }: ImportCall,
  work: (db: InterruptibleDb) => Promise<T>,
): Promise<T> {
  const leave = gate.admit(origin.actorId);
  try {
    const end = await gate.enter(origin.actorId, connection);
    return await work(imports.connections.db).finally(end);
  } finally {
    leave();
  }
}

/** The same for a read, which ends when the caller leaves. */
export function showDifference<T>(
  deps: Pick<AdminDeps, "imports">,
  call: ImportCall,
  work: (db: InterruptibleDb) => Promise<T>,
): Promise<T> {
  const { canceller } = deps.imports.connections;
  return changeByDifference(deps, call, (db) =>
    work({ pool: db.pool, prisma: db.prisma, interrupt: { signal: leavingSignal(call.connection), canceller } }),
  );
}
