import type { SchoolId } from "../directory/index.ts";
import { recordDifference } from "../events/index.ts";
import { present } from "../platform/contract-types.ts";
import { withPrismaTransaction, type RecordStore } from "../platform/database/db.ts";
import { lockSchoolSettings, readCardSettings, writeCardSettings } from "../accounts/index.ts";
import { differenceOf, refuseStale, tagOf } from "./change.ts";
import type { AdminHandler, Schemas } from "./handler.ts";
import { refuseUnknownSchool } from "./reached.ts";

type CardSettings = Schemas["CardSettings"];

async function readSettings(db: RecordStore, schoolId: SchoolId): Promise<CardSettings> {
  return present<CardSettings>(await readCardSettings(db, schoolId));
}

export const getCardSettings: AdminHandler<"getCardSettings"> = async ({ db }, { schoolId, reach }) => {
  await refuseUnknownSchool(db, reach, schoolId);
  const body = await readSettings(db, schoolId);
  return { status: 200, body, headers: { ETag: tagOf(body) } };
};

export const putCardSettings: AdminHandler<"putCardSettings"> = ({ db }, { schoolId, reach, headers, body, origin }) =>
  withPrismaTransaction(db, async (tx) => {
    await refuseUnknownSchool(tx, reach, schoolId);
    await lockSchoolSettings(tx, schoolId);
    const before = await readSettings(tx, schoolId);
    refuseStale(headers, before);
    await writeCardSettings(tx, schoolId, body, origin);
    const after = await readSettings(tx, schoolId);
    await recordDifference(tx, origin, differenceOf(before, after));
    return { status: 204, headers: { ETag: tagOf(after) } };
  });
