import type { SchoolId } from "../directory/index.ts";
import { recordDifference } from "../events/index.ts";
import { present } from "../platform/contract-types.ts";
import { withPrismaTransaction, type RecordStore } from "../platform/database/db.ts";
import { findSignInSettings, lockSchoolSettings, putSignInSettings as put } from "../accounts/index.ts";
import { differenceOf, refuseStale, tagOf } from "./change.ts";
import type { AdminHandler, Schemas } from "./handler.ts";
import { refuseOtherSchool, schoolUnknown } from "./reached.ts";

type Settings = Schemas["SignInSettings"];

async function readSettings(db: Pick<RecordStore, "prisma">, schoolId: SchoolId): Promise<Settings> {
  const found = await findSignInSettings(db, schoolId);
  if (found === null) throw schoolUnknown();
  return present<Settings>(found);
}

export const getSignInSettings: AdminHandler<"getSignInSettings"> = async ({ db }, { schoolId, reach }) => {
  refuseOtherSchool(reach, schoolId);
  const body = await readSettings(db, schoolId);
  return { status: 200, body, headers: { ETag: tagOf(body) } };
};

export const putSignInSettings: AdminHandler<"putSignInSettings"> = async (
  { db },
  { schoolId, reach, body, headers, origin },
) => {
  refuseOtherSchool(reach, schoolId);
  return withPrismaTransaction(db, async (tx) => {
    await lockSchoolSettings(tx, schoolId);
    const before = await readSettings(tx, schoolId);
    refuseStale(headers, before);
    await put(tx, { schoolId, ...body }, origin);
    const after = await readSettings(tx, schoolId);
    await recordDifference(tx, origin, differenceOf(before, after));
    return { status: 204, headers: { ETag: tagOf(after) } };
  });
};
