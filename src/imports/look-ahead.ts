import { previewChange } from "../access/index.ts";
import type { SchoolId } from "../directory/index.ts";
import type { Origin, WrittenEvent } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import type { InterruptibleDb } from "../platform/database/interrupt.ts";
import { changePart, type ApplyRules } from "./apply-part.ts";
import { checkWaiting } from "./apply.ts";
import type { ImportStatus } from "./find.ts";
import { chooseSchool } from "./listed.ts";
import { getImport, makePart } from "./record.ts";

/**
 * Brings a school to what an import says, looks at what apps would be told, and takes all of it back.
 *
 * Shape:  `look` gets the transaction and the events; an import that is held is looked at like any other.
 * Errors: as withDifference.
 */
export async function lookAhead<T>(
  db: InterruptibleDb,
  status: ImportStatus,
  { schoolId: given, restoreWindowDays }: Omit<ApplyRules, "holdShare"> & { schoolId: SchoolId | undefined },
  origin: Origin,
  look: (tx: Transaction, events: WrittenEvent[]) => Promise<T>,
): Promise<T> {
  const schoolId = chooseSchool(status, given);
  checkWaiting(status);
  const part = { ...makePart(await getImport(db, status.id), schoolId, origin.at), movedAway: 0, isShown: true };
  const rules = { holdShare: Infinity, restoreWindowDays };
  return previewChange(db, origin, (change) => changePart(change, part, rules, origin), look);
}
