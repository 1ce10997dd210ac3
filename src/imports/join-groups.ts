import { changeDirectory } from "../access/index.ts";
import { setGroupSourceId, type GroupId, type SchoolId } from "../directory/index.ts";
import { recordDifference, type Origin } from "../events/index.ts";
import type { PrismaDb } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { findDifference } from "./difference.ts";
import type { ImportStatus } from "./find.ts";
import { holdImport } from "./lease.ts";
import { chooseSchool } from "./listed.ts";
import { listLookAlikes } from "./look-alikes.ts";
import { compareImport } from "./preview.ts";
import { getImport, makePart } from "./record.ts";
import { checkEvent } from "./states.ts";

type Join = { schoolId: SchoolId | undefined; groupId: GroupId; sourceSystemIdentifier: string; holdShare: number };

/** Errors: conflict not_look_alike, import_running; those of `withDifference`. */
export async function joinGroups(
  db: PrismaDb,
  status: ImportStatus,
  { schoolId: requested, groupId, sourceSystemIdentifier, holdShare }: Join,
  origin: Origin & { requestId: string },
): Promise<void> {
  const schoolId = chooseSchool(status, requested);
  checkEvent("compare", status);
  await changeDirectory(db, origin, async (change) => {
    const { tx } = change;
    await change.touch({ groups: [groupId] });
    await holdImport(tx, status.id);
    const record = await getImport(tx, status.id);
    checkEvent("compare", record);
    await findDifference(tx, makePart(record, schoolId, origin.at));
    const pair = (await listLookAlikes(tx, schoolId)).find(
      ({ inRoster, existing }) =>
        existing.groupId === groupId && inRoster.sourceSystemIdentifier === sourceSystemIdentifier,
    );
    if (pair === undefined)
      throw new AppError(
        "conflict",
        "not_look_alike",
        "These two are not among the look-alikes of the import. Look at the list again.",
      );
    await setGroupSourceId(change, { groupId, sourceSystemIdentifier });
    const before = { sourceSystemIdentifier: pair.existing.sourceSystemIdentifier };
    await recordDifference(tx, origin, { before, after: { sourceSystemIdentifier } });
  });
  await compareImport(db, { id: status.id, schools: [schoolId], holdShare, now: origin.at, isAgain: true });
}
