import { previewChange } from "../access/index.ts";
import type { SchoolId } from "../directory/index.ts";
import type { Origin, WrittenEvent } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import type { InterruptibleDb } from "../platform/database/interrupt.ts";
import { changePart, type ApplyRules } from "./apply-part.ts";
import type { ImportStatus } from "./find.ts";
import { chooseSchool } from "./listed.ts";
import { getImport, makePart } from "./record.ts";
import { checkEvent } from "./states.ts";

/** Applies an import to a school, passes the transaction and the events to `look`, and rolls back. Held imports too. */
export async function lookAhead<T>(
  db: InterruptibleDb,
  status: ImportStatus,
  { schoolId: requested, ...periods }: Omit<ApplyRules, "holdShare"> & { schoolId: SchoolId | undefined },
  origin: Origin,
  look: (tx: Transaction, events: WrittenEvent[]) => Promise<T>,
): Promise<T> {
  const schoolId = chooseSchool(status, requested);
  checkEvent("compare", status);
  const part = { ...makePart(await getImport(db, status.id), schoolId, origin.at), movedAway: 0, isShown: true };
  const rules = { holdShare: Infinity, ...periods };
  return previewChange(db, origin, (change) => changePart(change, part, rules, origin), look);
}
