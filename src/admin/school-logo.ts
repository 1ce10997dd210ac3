import {
  checkSchoolLogo,
  deleteSchoolLogo as remove,
  findSchoolLogo,
  putSchoolLogo as put,
} from "../directory/index.ts";
import { recordDifference } from "../events/index.ts";
import { withPrismaTransaction, type Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { differenceOf, refuseStale, tagOf } from "./change.ts";
import type { AdminHandler, AdminRequest } from "./handler.ts";
import { refuseUnknownSchool } from "./reached.ts";

export const getSchoolLogo: AdminHandler<"getSchoolLogo"> = async ({ db }, { schoolId, reach }) => {
  await refuseUnknownSchool(db, reach, schoolId);
  const logo = await findSchoolLogo(db, schoolId);
  if (logo === null) throw new AppError("not_found", "logo_not_found", "The school has no logo.");
  return {
    status: 200,
    body: Buffer.from(logo.bytes),
    headers: { "Content-Type": logo.type, ETag: tagOf(recordOf(logo.hash)) },
  };
};

const recordOf = (hash: string) => ({ logo: hash });

/** Records the difference of a logo. Errors: StaleRecord, which rolls the change back. */
async function recordChange(
  tx: Transaction,
  { headers, origin }: Pick<AdminRequest<"putSchoolLogo" | "deleteSchoolLogo">, "headers" | "origin">,
  { before, after }: Awaited<ReturnType<typeof put>>,
): Promise<void> {
  refuseStale(headers, before === null ? null : recordOf(before));
  await recordDifference(tx, origin, differenceOf({ logo: before }, { logo: after }));
}

export const putSchoolLogo: AdminHandler<"putSchoolLogo"> = async ({ db }, request) => {
  const { schoolId, reach, body, origin, connection } = request;
  await refuseUnknownSchool(db, reach, schoolId);
  const logo = await checkSchoolLogo(body, { by: origin.actorId, caller: connection });
  return withPrismaTransaction(db, async (tx) => {
    await recordChange(tx, request, await put(tx, { schoolId, logo }, origin));
    return { status: 204, headers: { ETag: tagOf(recordOf(logo.hash)) } };
  });
};

export const deleteSchoolLogo: AdminHandler<"deleteSchoolLogo"> = async ({ db }, request) => {
  const { schoolId, reach, origin } = request;
  await refuseUnknownSchool(db, reach, schoolId);
  return withPrismaTransaction(db, async (tx) => {
    await recordChange(tx, request, await remove(tx, schoolId, origin));
    return { status: 204 };
  });
};
