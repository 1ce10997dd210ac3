import { Prisma } from "../../../generated/prisma/client.ts";
import type { SchoolId } from "../../directory/index.ts";
import type { RecordStore } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import type { ImportId } from "./record.ts";

export const noProgress = { progressPhase: null, progressPercent: null, progressAt: null };

type ImportColumns = Prisma.ImportUpdateManyMutationInput;
type Transition<State> = { from: readonly State[]; to: State | null; effect?: ImportColumns; only?: object };

/**
 * The states of an import, and what moves it from one to another. READY and HELD wait; HELD needs a confirmation;
 * UNMAPPED needs its columns; EXPIRED waited too long.
 *
 * Shape: `to` is null for an event that leaves the state as it is; `effect` is written together with the state; `only`
 *        is a further condition.
 */
export const importTransitions = {
  begin: { from: [], to: "READING" },
  askForColumns: { from: ["READING"], to: "UNMAPPED" },
  mapColumns: { from: ["UNMAPPED"], to: "READING", effect: { progressPhase: "READING", progressPercent: 0 } },
  returnToColumns: { from: ["READING"], to: "UNMAPPED", effect: noProgress },
  findFaults: { from: ["READING"], to: "BROKEN" },
  finishReading: { from: ["READING"], to: "READY" },
  fail: { from: ["READING", "READY", "HELD"], to: "BROKEN", effect: { ...noProgress, errorCount: 1 } },
  leaveOutRows: { from: ["BROKEN"], to: "READY", effect: { errorCount: 0 }, only: { rows: { not: Prisma.DbNull } } },
  compare: { from: ["READY", "HELD"], to: null },
  hold: { from: ["READY"], to: "HELD", only: { schools: { some: { state: "HELD" } } } },
  release: { from: ["HELD"], to: "READY", only: { schools: { none: { state: "HELD" } } } },
  confirm: { from: ["HELD"], to: "READY" },
  apply: { from: ["READY"], to: "APPLIED" },
  undo: { from: ["APPLIED"], to: "UNDONE" },
  cancel: { from: ["READING", "UNMAPPED", "BROKEN", "READY", "HELD"], to: "CANCELLED", effect: noProgress },
  expire: { from: ["READING", "UNMAPPED", "READY", "HELD"], to: "EXPIRED", effect: { upload: Prisma.DbNull } },
} as const satisfies Record<string, Transition<string>>;

/** The states of an import at one of its schools. A school may be applied twice within one application. */
export const schoolTransitions = {
  name: { from: [], to: "READY" },
  hold: { from: ["READY", "HELD"], to: "HELD" },
  release: { from: ["READY", "HELD"], to: "READY" },
  confirm: { from: ["HELD"], to: "READY" },
  apply: { from: ["READY", "HELD", "APPLIED"], to: "APPLIED" },
  undo: { from: ["APPLIED"], to: "UNDONE" },
} as const satisfies Record<string, Transition<string>>;

export type ImportEvent = keyof typeof importTransitions;
export type ImportState = NonNullable<(typeof importTransitions)[ImportEvent]["to"]>;
export type SchoolEvent = keyof typeof schoolTransitions;
export type SchoolState = (typeof schoolTransitions)[SchoolEvent]["to"];

type Move = Exclude<ImportEvent, "begin" | "compare">;

/** Moves an import as an event says; false, and nothing is written, if its state has no such transition. */
export async function tryEvent({ prisma }: RecordStore, id: ImportId, event: Move, data: ImportColumns = {}) {
  const { from, to, effect, only }: Transition<ImportState> = importTransitions[event];
  const where = { id, state: { in: [...from] }, ...only };
  return (await prisma.import.updateMany({ where, data: { ...effect, ...data, state: to! } })).count === 1;
}

/** As `tryEvent`. Errors: those of `checkEvent`; not_found import_not_found. */
export async function sendEvent(db: RecordStore, id: ImportId, event: Move, data?: ImportColumns): Promise<void> {
  if (!(await tryEvent(db, id, event, data))) throw refuse(event, await getState(db, id));
}

/** Moves an import at one of its schools; nothing is written if its state there has no such transition. */
export async function sendSchoolEvent(
  { prisma }: RecordStore,
  { importId, schoolId }: { importId: string; schoolId: SchoolId },
  event: SchoolEvent,
  data: Prisma.ImportSchoolUpdateManyMutationInput,
): Promise<void> {
  const { from, to } = schoolTransitions[event];
  await prisma.importSchool.updateMany({
    where: { importId, schoolId, state: { in: [...from] } },
    data: { ...data, state: to },
  });
}

/** Errors: not_found import_not_found. */
export async function getState({ prisma }: RecordStore, id: ImportId): Promise<ImportState> {
  const current = await prisma.import.findUnique({ where: { id }, select: { state: true } });
  if (current === null) throw importNotFound();
  return current.state as ImportState;
}

export const importNotFound = () => new AppError("not_found", "import_not_found", "There is no such import.");

/** Errors: conflict import_*, faults_remain, if the state has no such transition. */
export function checkEvent(event: ImportEvent, { state }: { state: ImportState }): void {
  const { from }: Transition<ImportState> = importTransitions[event];
  if (!from.includes(state)) throw refuse(event, state);
}

function refuse(event: ImportEvent, state: ImportState): AppError {
  const [code, message] = refusals[event]?.(state) ?? [`import_${state.toLowerCase()}`, refusalsOfStates[state]];
  return new AppError("conflict", code, message);
}

const refusals: { readonly [Event in ImportEvent]?: (state: ImportState) => [code: string, message: string] } = {
  mapColumns: () => ["import_mapped", "The import does not wait for its columns."],
  leaveOutRows: () => ["faults_remain", "The file has no rows that can be left out. Correct it and hand it in again."],
  confirm: () => ["import_not_held", "The import is not held, so there is nothing to confirm."],
  undo: (state) =>
    state === "UNDONE"
      ? ["import_undone", "The import has been undone already."]
      : ["import_not_applied", "The import has not been applied; nothing can be undone."],
};

const refusalsOfStates: Readonly<Record<ImportState, string>> = {
  READING: "The file is still being read.",
  UNMAPPED: "The columns of the file are not mapped yet.",
  BROKEN: "The file has faults. Repair it and preview it again.",
  READY: "The import waits to be applied.",
  HELD: "The import would change something unusual at a school. Look at its preview and confirm it.",
  APPLIED: "The import has been applied already.",
  CANCELLED: "The import was cancelled. Preview the file again.",
  UNDONE: "The import has been undone. Preview the file again.",
  EXPIRED: "The import waited too long. Preview the file again.",
};
